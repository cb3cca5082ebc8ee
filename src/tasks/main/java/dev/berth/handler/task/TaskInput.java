package dev.berth.handler.task;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import java.util.Map;

/// One input of a request, before the task has read it.
///
/// @param name what messages call it
/// @param parameters those of the request, or of its line
/// @param alone whether it is the only input of a body
public record TaskInput<P>(JsonNode json, String name, P parameters, boolean alone) {

    /// What to throw for an object that has none of the fields of an input.
    ///
    /// @param fields for people
    public BadInputException without(String fields) {
        // An element of a list, and what is named inputs already, have no inputs of their own.
        var inputs = name.endsWith("]") || name.endsWith("inputs") ? "" : "inputs, or with ";
        var found = json.propertyStream().map(Map.Entry::getKey).toList();
        return new BadInputException("%s: found an object with %s, expected one with %s%s"
                .formatted(name, Excerpt.list(found), inputs, fields));
    }
}
