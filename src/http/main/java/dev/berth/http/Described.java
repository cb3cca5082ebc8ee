package dev.berth.http;

import io.javalin.http.HandlerType;
import java.util.function.UnaryOperator;

/// A route, as OpenAPI's document shows it.
public interface Described {
    HandlerType method();

    String path();

    /// What the document says of it.
    UnaryOperator<Operation> says();
}
