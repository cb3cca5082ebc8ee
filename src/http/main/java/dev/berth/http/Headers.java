package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import io.javalin.http.Context;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// What a request's headers say to the hooks.
public final class Headers {

    public static final String CUSTOM_ATTRIBUTES = "X-Amzn-SageMaker-Custom-Attributes";

    private static final Set<String> LET_THROUGH = Set.of("accept", "content-type", "traceparent", "x-amzn-trace-id");

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
    public static MediaType contentType(Optional<String> value, List<MediaType> readable) {
        var header = value.filter(text -> !text.isBlank());
        if (header.isEmpty()) {
            return MediaType.JSON;
        }
        return header.flatMap(MediaType::parse)
                .filter(type -> !type.isRange())
                .filter(type -> readable.isEmpty() || readable.contains(type.withoutParameters()))
                .orElseThrow(() -> ErrorType.UNSUPPORTED_MEDIA_TYPE.found(
                        "Content-Type",
                        CallerText.quoted(header.get()),
                        readable.isEmpty() ? "a media type" : "one of " + readable));
    }
}
