package dev.berth.http;

import io.javalin.http.Context;
import java.util.Optional;
import java.util.regex.Pattern;

/// Whose trace a request belongs to, in the form of the W3C's `traceparent`.
public final class TraceParents {

    static final String HEADER = "traceparent";

    /// What AWS's load balancers and X-Ray send.
    static final String AMAZON_HEADER = "X-Amzn-Trace-Id";

    /// W3C Trace Context §3.2, version 00, which is the only one: the trace, its caller's span,
    /// flags.
    private static final Pattern TRACE =
            Pattern.compile("00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}");

    /// The time and the rest of a trace's number, the caller's span, and whether it is sampled, in
    /// any order.
    private static final Pattern ROOT = Pattern.compile("(?:^|;) *Root=1-([0-9a-f]{8})-([0-9a-f]{24})(?:;|$)");

    private static final Pattern PARENT = Pattern.compile("(?:^|;) *Parent=([0-9a-f]{16})(?:;|$)");
    private static final Pattern SAMPLED = Pattern.compile("(?:^|;) *Sampled=1(?:;|$)");

    private TraceParents() {}

    /// The caller's `traceparent` where it is valid.
    static Optional<String> w3c(Context ctx) {
        return Optional.ofNullable(ctx.header(HEADER)).filter(TRACE.asMatchPredicate());
    }

    /// The same, else what `X-Amzn-Trace-Id` says. A load balancer that begins a trace names no
    /// parent, and a trace without a parent can't be said in this form.
    public static Optional<String> of(Context ctx) {
        return w3c(ctx).or(() -> Optional.ofNullable(ctx.header(AMAZON_HEADER)).flatMap(TraceParents::ofAmazon));
    }

    /// A header of a request as propagators read it.
    static String header(Context ctx, String name) {
        return name.equalsIgnoreCase(HEADER) ? of(ctx).orElse(null) : ctx.header(name);
    }

    static String traceId(String parent) {
        return parent.split("-")[1];
    }

    static Optional<String> ofAmazon(String text) {
        var root = ROOT.matcher(text);
        var parent = PARENT.matcher(text);
        if (!root.find() || !parent.find()) {
            return Optional.empty();
        }
        return Optional.of("00-%s%s-%s-%s"
                        .formatted(
                                root.group(1),
                                root.group(2),
                                parent.group(1),
                                SAMPLED.matcher(text).find() ? "01" : "00"))
                .filter(TRACE.asMatchPredicate());
    }
}
