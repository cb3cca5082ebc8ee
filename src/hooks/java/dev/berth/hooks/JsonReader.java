package dev.berth.hooks;

import com.fasterxml.jackson.databind.JsonNode;

/// Reads JSON for [InvocationRequest#json]. The server brings its own, which [java.util.ServiceLoader] finds.
public interface JsonReader {

    /// Reads the one value that a body holds.
    ///
    /// @throws BadInputException with the place where the text stops to be JSON
    JsonNode readBody(String text);
}
