package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import java.util.List;

/// A payload as JSON-like documents of any content type.
public sealed interface Documents {

    record Body(JsonNode json) implements Documents {}

    record Records(List<? extends Document> documents) implements Documents {}

    /// A document that is read when it is asked for, so that a bad one can fail alone.
    interface Document {

        /// What messages call it, such as `line 3`.
        String name();

        /// @throws BadInputException when it is broken
        JsonNode json();
    }
}
