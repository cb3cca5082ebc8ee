package dev.berth.handler.task;

import com.fasterxml.jackson.databind.JsonNode;

/// One input of a request, before the task has read it.
///
/// @param name what messages call it
/// @param parameters those of the request, or of its line
/// @param alone whether it is the only input of a body
public record TaskInput<P>(JsonNode json, String name, P parameters, boolean alone) {}
