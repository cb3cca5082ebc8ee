package dev.berth.http;

import dev.berth.content.Slips;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.hooks.BadInputException;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import io.javalin.http.HttpResponseException;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The one error mapper: whatever a route throws becomes a short JSON body. The stack stays in the
/// log.
///
/// @param forms the form that a request's protocol has for errors
record Failures(Paths paths, Function<Context, ErrorForm> forms) {

    private static final Logger log = LoggerFactory.getLogger(Failures.class);

    private static final String FAILED = "the server failed; its log says why";

    /// How many wrong characters a path may have for the nearest one to be named.
    private static final int SLIP = 3;

    void map(RoutesConfig routes) {
        routes.exception(ServingException.class, (e, ctx) -> respond(ctx, e));
        routes.exception(
                BadInputException.class, (e, ctx) -> respond(ctx, ErrorType.BAD_INPUT.because(e.getMessage(), e)));
        routes.exception(HttpResponseException.class, (e, ctx) -> respond(ctx, routing(e, ctx)));
        routes.exception(Exception.class, (e, ctx) -> respond(ctx, ErrorType.INTERNAL.because(FAILED, e)));
    }

    /// An error of the JVM outside of the hooks. Javalin gives it no context, only the response.
    static void fatal(HttpServletResponse response, Error error) {
        log.error("{}", ErrorType.INTERNAL, Unsaid.of(error));
        if (response.isCommitted()) {
            return;
        }
        var type = error instanceof OutOfMemoryError ? ErrorType.INSUFFICIENT_MEMORY : ErrorType.INTERNAL;
        // Also of an earlier one of this kind.
        response.resetBuffer();
        response.setStatus(type.status());
        response.setContentType(ErrorForm.CONTENT_TYPE);
        try {
            response.getOutputStream().write(ErrorForm.PLAIN.body(type, FAILED));
        } catch (IOException e) {
            log.debug("the client has gone", e);
        }
    }

    private void respond(Context ctx, ServingException e) {
        RequestLog.of(ctx).failed(e);
        forms.apply(ctx).answer(ctx, e);
    }

    private ServingException routing(HttpResponseException e, Context ctx) {
        return switch (e.getStatus()) {
            case 404 -> forms.apply(ctx).noSuchPath(ctx, notFound(ctx));
            case 405 -> {
                // Javalin has them under one of two names.
                var allowed = e.getDetails().values().stream()
                        .flatMap(methods -> Stream.of(methods.split(", ")))
                        .sorted()
                        .collect(Collectors.joining(", "));
                ctx.header("Allow", allowed);
                yield ErrorType.METHOD_NOT_ALLOWED.because(
                        "%s %s: expected %s".formatted(ctx.method(), ctx.path(), allowed));
            }
            default -> ErrorType.INTERNAL.because(e.getMessage(), e);
        };
    }

    private ServingException notFound(Context ctx) {
        return ErrorType.NOT_FOUND.because("%s: no such path%s"
                .formatted(
                        CallerText.quoted(ctx.path()),
                        paths.advice(ctx.path())
                                .or(() -> nearest(ctx.path()).map("did you mean %s?"::formatted))
                                .map("; "::concat)
                                .orElse("")));
    }

    /// The path that was probably meant. Not all that there are: strangers need not know them.
    private Optional<String> nearest(String path) {
        // Of a short path such as / or /docs, three characters are no slip.
        return Slips.nearest(path, paths.all().stream(), Math.min(SLIP, (path.length() - 1) / 2));
    }
}
