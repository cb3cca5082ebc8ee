package dev.berth.openai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/// A request of completions.
///
/// @param prompts at least one
/// @param echo whether a text begins with its prompt
public record Completion(List<Input> prompts, boolean echo, Options options, Reply reply) {

    public static final String PATH = Api.COMPLETIONS;

    /// Nothing where the request asks for something else.
    ///
    /// @param does fields besides that the handler reads itself, such as `n` or `echo`
    /// @throws BadInputException naming a field that is wrong or unknown, or that the model can't do
    public static Optional<Completion> of(InvocationRequest request, JsonNode body, Collection<String> does) {
        return Api.fields(request, body, PATH, "prompt", Options.FIELDS, does)
                .map(fields -> new Completion(
                        Input.all(fields.json("prompt"), "prompt"),
                        fields.bool("echo", false),
                        Options.of(fields),
                        Reply.to(request, fields, false)));
    }
}
