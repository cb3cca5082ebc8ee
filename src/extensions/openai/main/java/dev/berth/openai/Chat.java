package dev.berth.openai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import java.util.Collection;
import java.util.List;
import java.util.Optional;

/// A request of chat completions.
public record Chat(List<Message> messages, Options options, Reply reply) {

    public static final String PATH = Api.CHAT;

    /// Nothing where the request asks for something else.
    ///
    /// @param does fields besides that the handler reads itself, such as `n` or `response_format`;
    ///   with `tools` those of messages too, and types of parts of a message, such as `image_url`
    /// @throws BadInputException naming a field that is wrong or unknown, or that the model can't do
    public static Optional<Chat> of(InvocationRequest request, JsonNode body, Collection<String> does) {
        return Api.fields(request, body, PATH, "messages", Options.FIELDS, does)
                .map(fields -> new Chat(
                        Message.all(fields.json("messages"), does),
                        Options.of(fields),
                        Reply.to(request, fields, true)));
    }
}
