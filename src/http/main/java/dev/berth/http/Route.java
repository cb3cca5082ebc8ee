package dev.berth.http;

import dev.berth.error.ErrorType;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.util.function.Function;

/// A route of a protocol. What is registered, `Allow`, the advice of a 404, the paths that no
/// setting can take, and OpenAPI's document follow from it.
///
/// @param path may have parameters: `/models/{name}`
/// @param says what OpenAPI's document says of it; the function has null where it is not shown
/// @param handler asked once for each server that has the route
public record Route(
        HandlerType method,
        String path,
        ModelCount models,
        boolean isForHealth,
        Function<Operations, Operation> says,
        Function<ServerParts, Handler> handler)
        implements Described {

    /// How many models a server has that has the route.
    public enum ModelCount {
        ANY,
        ONE,
        MANY
    }

    public static Route get(String path, Function<Operations, Operation> says, Function<ServerParts, Handler> handler) {
        return at(HandlerType.GET, path, says, handler);
    }

    public static Route post(
            String path, Function<Operations, Operation> says, Function<ServerParts, Handler> handler) {
        return at(HandlerType.POST, path, says, handler);
    }

    /// One that OpenAPI's document does not show.
    public static Route post(String path, Function<ServerParts, Handler> handler) {
        return post(path, _ -> null, handler);
    }

    public static Route at(
            HandlerType method,
            String path,
            Function<Operations, Operation> says,
            Function<ServerParts, Handler> handler) {
        return new Route(method, path, ModelCount.ANY, false, says, handler);
    }

    /// The same where there is one model.
    public Route ofOne() {
        return new Route(method, path, ModelCount.ONE, isForHealth, says, handler);
    }

    /// The same where there are many models.
    public Route ofMany() {
        return new Route(method, path, ModelCount.MANY, isForHealth, says, handler);
    }

    /// The same for a route that says whether the server can answer, and so is answered where
    /// connections are refused.
    public Route forHealth() {
        return new Route(method, path, models, true, says, handler);
    }

    /// The same with failures said in this form, whatever the path.
    public Route failing(ErrorForm form) {
        return new Route(
                method, path, models, isForHealth, says, parts -> ErrorForm.chosen(form, handler.apply(parts)));
    }

    /// The same for a route that changes what is served: no page from elsewhere may have a browser
    /// ask it.
    public Route noPageOfOthers() {
        return new Route(
                method,
                path,
                models,
                isForHealth,
                operations -> {
                    var operation = says.apply(operations);
                    return operation == null ? null : operation.fails(ErrorType.FORBIDDEN);
                },
                parts -> {
                    var own = handler.apply(parts);
                    return ctx -> {
                        parts.origins().requireOwn(ctx);
                        own.handle(ctx);
                    };
                });
    }

    boolean isAt(Route other) {
        return method.equals(other.method) && path.equals(other.path);
    }

    boolean isHere(boolean hasMany) {
        return models != (hasMany ? ModelCount.ONE : ModelCount.MANY);
    }
}
