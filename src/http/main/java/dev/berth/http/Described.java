package dev.berth.http;

import dev.berth.serving.ModelFacts;
import io.javalin.http.HandlerType;
import java.util.function.Predicate;
import java.util.stream.Stream;

/// A route, as OpenAPI's document shows it. What the document says stands in `openapi.json` beside the
/// class of its [Protocol], under its method and path. A route that has nothing there is not shown.
public interface Described {
    HandlerType method();

    String path();

    Documented documented();

    /// @param path that `openapi.json` has for it
    /// @param where whether it is shown, by what is known of the models that are loaded
    record Documented(String path, Predicate<Stream<ModelFacts>> where) {}
}
