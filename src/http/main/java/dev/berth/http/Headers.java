package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import io.javalin.http.Context;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.server.Request;

/// What a request's headers say: their text, the type of the body, what hooks may see, and whose trace
/// the request belongs to.
public final class Headers {

    public static final String CUSTOM_ATTRIBUTES = "X-Amzn-SageMaker-Custom-Attributes";

    /// The W3C's. All traces are said in its form.
    static final String TRACE_PARENT = "traceparent";

    private static final Set<String> LET_THROUGH = Set.of("accept", "content-type", TRACE_PARENT, "x-amzn-trace-id");

    /// W3C Trace Context §3.2, version 00, which is the only one: the trace, its caller's span,
    /// flags.
    private static final Pattern W3C = Pattern.compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");

    /// What AWS's load balancers and X-Ray send, in any order: the time and the rest of a trace's
    /// number, and the caller's span.
    private static final Pattern AMAZON = Pattern.compile("(?=(?:.*;)? *Root=1-([0-9a-f]{8})-([0-9a-f]{24})(?:;|$))"
            + "(?=(?:.*;)? *Parent=([0-9a-f]{16})(?:;|$)).*");

    private static final Pattern SAMPLED = Pattern.compile("(?:.*;)? *Sampled=1(?:;.*)?");

    private Headers() {}

    /// All fields of a name, joined by commas.
    public static Optional<String> of(Context ctx, String name) {
        var values = Collections.list(ctx.req().getHeaders(name));
        return values.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", values));
    }

    /// Those that SageMaker lets through.
    public static Map<String, String> letThrough(Context ctx) {
        var headers = new HashMap<String, String>();
        for (var name : Collections.list(ctx.req().getHeaderNames())) {
            var lowered = name.toLowerCase(Locale.ROOT);
            if (LET_THROUGH.contains(lowered) || lowered.startsWith("x-amzn-sagemaker-")) {
                headers.put(lowered, of(ctx, name).orElse(""));
            }
        }
        return headers;
    }

    /// The type of a body. None means JSON, as in AWS's older toolkit.
    ///
    /// @param readable what may be read; empty: anything
    /// @throws ServingException `UNSUPPORTED_MEDIA_TYPE`
    public static MediaType contentType(Context ctx, List<MediaType> readable) {
        var header = of(ctx, "Content-Type").filter(text -> !text.isBlank());
        if (header.isEmpty()) {
            return MediaType.JSON;
        }
        return header.flatMap(MediaType::parse)
                .filter(type -> !type.isRange())
                .filter(type -> readable.isEmpty() || readable.contains(type.withoutParameters()))
                .orElseThrow(() -> ErrorType.UNSUPPORTED_MEDIA_TYPE.found(
                        "Content-Type",
                        CallerText.quoted(header.get()),
                        readable.isEmpty() ? "a media type" : "one of " + readable + typing(header.get(), readable)));
    }

    /// What to do about the type that curl sends unasked.
    private static String typing(String header, List<MediaType> readable) {
        return header.startsWith("application/x-www-form-urlencoded")
                ? "; curl sends it where no -H \"Content-Type: %s\" is given".formatted(readable.getFirst())
                : "";
    }

    /// The caller's `traceparent` where it is valid.
    static Optional<String> w3cTraceParent(Context ctx) {
        return Optional.ofNullable(ctx.header(TRACE_PARENT)).filter(W3C.asMatchPredicate());
    }

    /// The same, else what `X-Amzn-Trace-Id` says. A load balancer that begins a trace names no
    /// parent, and a trace without a parent can't be said in this form.
    static Optional<String> traceParent(Context ctx) {
        return w3cTraceParent(ctx)
                .or(() -> Optional.ofNullable(ctx.header("X-Amzn-Trace-Id")).flatMap(Headers::ofAmazon));
    }

    private static Optional<String> ofAmazon(String text) {
        return Optional.of(AMAZON.matcher(text))
                .filter(parts -> parts.matches())
                .map(parts -> "00-%s%s-%s-%s"
                        .formatted(
                                parts.group(1),
                                parts.group(2),
                                parts.group(3),
                                SAMPLED.matcher(text).matches() ? "01" : "00"))
                .filter(W3C.asMatchPredicate());
    }

    /// A request whose headers are in UTF-8, as boto3 and others send the names of objects and models.
    /// Jetty takes each byte for a character of ISO-8859-1.
    static Request inUtf8(Request request, HttpFields.Mutable ofResponse) {
        if (request.getHeaders().stream().map(HttpField::getValue).allMatch(Headers::isPlain)) {
            return request;
        }
        var headers = HttpFields.build();
        for (var field : request.getHeaders()) {
            headers.add(new HttpField(field.getHeader(), field.getName(), read(field.getValue())));
        }
        return new Request.Wrapper(request) {
            @Override
            public HttpFields getHeaders() {
                return headers;
            }
        };
    }

    private static boolean isPlain(String value) {
        return value == null || value.chars().allMatch(character -> character < 0x80);
    }

    /// @return the value itself where its bytes are not UTF-8
    private static String read(String value) {
        return isPlain(value)
                ? value
                : CallerText.ofUtf8(value.getBytes(StandardCharsets.ISO_8859_1)).orElse(value);
    }

    /// A value as Jetty is to be given it, which writes characters of ISO-8859-1 alone.
    public static String written(String value) {
        return new String(value.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }
}
