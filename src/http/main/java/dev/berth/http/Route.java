package dev.berth.http;

import dev.berth.serving.ModelFacts;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// A route of a protocol. What is registered, `Allow`, the advice of a 404, the paths that no
/// setting can take, and OpenAPI's document follow from it.
///
/// @param path may have parameters: `/models/{name}`
/// @param handler asked once for each server that has the route
public record Route(
        HandlerType method,
        String path,
        ModelCount models,
        boolean isForHealth,
        Documented documented,
        Function<ServerParts, Handler> handler) {

    /// The attribute of a request that has the [ErrorForm] of its route.
    static final String ERRORS = "berth.errors";

    /// How OpenAPI's document shows a route. What it says stands in `openapi.json` beside the class of
    /// the route's [Protocol], under its method and path. A route that has nothing there is not shown.
    ///
    /// @param path that `openapi.json` has for it
    /// @param where whether it is shown, by what is known of the models that are loaded
    public record Documented(String path, Predicate<Stream<ModelFacts>> where) {}

    /// How many models a server has that has the route.
    public enum ModelCount {
        ANY,
        ONE,
        MANY
    }

    public static Route get(String path, Function<ServerParts, Handler> handler) {
        return at(HandlerType.GET, path, handler);
    }

    public static Route post(String path, Function<ServerParts, Handler> handler) {
        return at(HandlerType.POST, path, handler);
    }

    public static Route at(HandlerType method, String path, Function<ServerParts, Handler> handler) {
        return new Route(method, path, ModelCount.ANY, false, new Documented(path, _ -> true), handler);
    }

    /// The same where OpenAPI's document says of it what it says of another path.
    public Route as(String other) {
        return new Route(method, path, models, isForHealth, new Documented(other, documented.where()), handler);
    }

    /// The same where OpenAPI's document shows it only if a model that is loaded answers it.
    public Route shownFor(Predicate<ModelFacts> answers) {
        var shown = new Documented(documented.path(), models -> models.anyMatch(answers));
        return new Route(method, path, models, isForHealth, shown, handler);
    }

    /// The same where there is one model.
    public Route ofOne() {
        return new Route(method, path, ModelCount.ONE, isForHealth, documented, handler);
    }

    /// The same where there are many models.
    public Route ofMany() {
        return new Route(method, path, ModelCount.MANY, isForHealth, documented, handler);
    }

    /// The same for a route that says whether the server can answer, and so is answered where
    /// connections are refused.
    public Route forHealth() {
        return new Route(method, path, models, true, documented, handler);
    }

    /// The same with failures said in this form, whatever the path.
    public Route failing(ErrorForm form) {
        return behind(_ -> ctx -> ctx.attribute(ERRORS, form));
    }

    /// The same for a route that changes what is served: no page from elsewhere may have a browser
    /// ask it.
    public Route noPageOfOthers() {
        return behind(parts -> parts.origins()::requireOwn);
    }

    private Route behind(Function<ServerParts, Handler> gate) {
        return new Route(method, path, models, isForHealth, documented, parts -> {
            var first = gate.apply(parts);
            var own = handler.apply(parts);
            return ctx -> {
                first.handle(ctx);
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
