package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.util.Optional;

/// How a failure is said to a caller: the form that its protocol has for errors. [Failures] asks
/// for it on the request's thread.
@FunctionalInterface
public interface ErrorForm {

    /// `{"message": …, "type": …, "code": …}`.
    ErrorForm PLAIN = (type, message, _) -> Errors.body(type, message);

    /// @param path of the request
    byte[] body(ErrorType type, String message, String path);

    default String contentType() {
        return Errors.CONTENT_TYPE;
    }

    default int status(ErrorType type) {
        return type.status();
    }

    /// The body for a request that reaches no route because it is no HTTP.
    default byte[] malformed(int status, String message) {
        return Errors.body(status, message);
    }

    /// What a request for a path fails with that there is not.
    default ServingException noSuchPath(Context ctx, ServingException notFound) {
        return notFound;
    }

    /// Answers a request that has failed.
    default void answer(Context ctx, ServingException e) {
        ctx.status(status(e.type())).contentType(contentType());
        if (e.type().isRefusal()) {
            ctx.header("Retry-After", Integer.toString(e.type().retryAfter()));
        }
        Sending.send(ctx, body(e.type(), e.getMessage(), ctx.path()));
    }

    /// The form that a route has chosen for a request.
    static Optional<ErrorForm> chosen(Context ctx) {
        return Optional.ofNullable(ctx.attribute(ErrorForm.class.getName()));
    }

    /// Has the failures of a handler's requests said in a form, whatever their path.
    static Handler chosen(ErrorForm form, Handler handler) {
        return ctx -> {
            ctx.attribute(ErrorForm.class.getName(), form);
            handler.handle(ctx);
        };
    }
}
