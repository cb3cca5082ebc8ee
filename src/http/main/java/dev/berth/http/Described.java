package dev.berth.http;

import io.javalin.http.HandlerType;
import java.util.function.Function;

/// A route, as OpenAPI's document shows it.
public interface Described {
    HandlerType method();

    String path();

    /// What the document says of it; the function has null for a route that is not shown.
    Function<Operations, Operation> says();
}
