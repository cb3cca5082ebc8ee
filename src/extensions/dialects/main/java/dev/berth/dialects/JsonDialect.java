package dev.berth.dialects;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.berth.content.Json;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.Dialect;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.function.Function;

/// A dialect of one request whose body and answer are JSON, for hooks that read and write JSON too, or
/// JSON Lines.
final class JsonDialect implements Dialect {

    /// What a body costs in memory for each of its characters: a text and its bytes.
    private static final long CHARACTER = 3;

    /// A request as the hooks read it.
    ///
    /// @param answer makes what the client reads of what the hooks answer
    record Asked(Object body, Function<Answer, Object> answer) {

        /// @param inputs a list, which is answered by a list
        static Asked of(Collection<? extends JsonNode> inputs, ObjectNode parameters, Function<Answer, Object> answer) {
            var body = JsonNodeFactory.instance.objectNode();
            body.putArray("inputs").addAll(inputs);
            return new Asked(body.set("parameters", parameters), answer);
        }
    }

    /// What the hooks answer to a request.
    record Answer(String text, InvocationRequest request) {

        JsonNode json() {
            return Json.parse(text, "answer");
        }

        /// The whole of it, not to be read.
        RawValue raw() {
            return new RawValue(text);
        }

        /// Of all inputs; 0 where the hooks do not count them.
        int tokens() {
            return request.attributes().getOrDefault(InvocationRequest.TOKENS, 0) instanceof Integer count ? count : 0;
        }

        String id() {
            return request.inferenceId();
        }
    }

    private final MediaType type;
    private final Function<JsonNode, Asked> protocol;
    private InvocationRequest request;
    private Function<Answer, Object> answer;

    /// @param type what the hooks read and write
    /// @param protocol reads a body
    JsonDialect(MediaType type, Function<JsonNode, Asked> protocol) {
        this.type = type;
        this.protocol = protocol;
    }

    @Override
    public InvocationRequest request(InvocationRequest sent) throws IOException {
        var asked = protocol.apply(Json.read(sent));
        var body = Json.write(asked.body);
        RequestMemory.charge(CHARACTER * body.length());
        answer = asked.answer;
        request = sent.withBody(new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8)))
                .withTypes(type, type);
        return request;
    }

    @Override
    public InvocationResponse response(InvocationResponse answered) {
        var text = new String(answered.body(), StandardCharsets.UTF_8);
        var body = Json.write(answer.apply(new Answer(text, request)));
        return new InvocationResponse(
                body.getBytes(StandardCharsets.UTF_8), MediaType.JSON, answered.customAttributes());
    }
}
