package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/// A form in which clients of another API ask a task on texts, on any path. [TextHandler] asks it on the
/// request's thread for hooks, the first on the class path first. A new one has a line in
/// `META-INF/services/dev.berth.handler.text.TextForm`. Safe for use by many threads.
public interface TextForm {

    List<TextForm> ALL = ServiceLoader.load(TextForm.class, TextForm.class.getClassLoader()).stream()
            .map(ServiceLoader.Provider::get)
            .toList();

    /// What a body asks for; nothing where it has another form.
    ///
    /// @param task of the model
    /// @throws dev.berth.hooks.BadInputException when it has this form, and asks for what can't be done
    Optional<Asked> read(InvocationRequest request, JsonNode body, String task);

    /// What one request asks for.
    interface Asked {

        /// The same as the task itself reads it.
        ObjectNode body();

        /// A message about that, for those who have sent this.
        String named(String message);

        /// @param answers one for each input, as the task has them, such as a `float[]` of an embedding
        /// @param tokens of all inputs
        InvocationResponse answer(List<?> answers, int tokens);
    }

    /// A body of the task's own form.
    static ObjectNode body(List<? extends JsonNode> inputs, ObjectNode parameters) {
        var body = JsonNodeFactory.instance.objectNode();
        body.putArray("inputs").addAll(inputs);
        return body.set("parameters", parameters);
    }

    /// A message about an input, by what the caller calls the list of them, or the only one.
    static String named(String message, String inputs, boolean isOne) {
        return message.startsWith("inputs[")
                ? inputs + message.substring(isOne ? "inputs[0]".length() : "inputs".length())
                : message;
    }
}
