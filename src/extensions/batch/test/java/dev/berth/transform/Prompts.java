package dev.berth.transform;

import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.util.List;

/// Reads the `prompt` of a request.
class Prompts extends TextHandler {

    @Override
    public final List<String> inputFn(InvocationRequest request) throws IOException {
        var prompt = Json.read(request).path("prompt");
        if (!prompt.isTextual()) {
            throw new BadInputException("prompt: expected a text");
        }
        return List.of(prompt.textValue());
    }
}
