package dev.berth.dialects;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.MediaType;
import dev.berth.serving.Dialect;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Supplier;

/// A path at which clients of another server for ready tasks ask, mostly by POST.
///
/// @param inputs what the body calls the inputs of the task
/// @param dialects makes the dialect of a request, by the tasks that answer it
record ClientPath(String path, String inputs, Map<String, Supplier<Dialect>> dialects) {

    static final String EMBEDDINGS = "sentence-embeddings";
    static final String SPARSE_EMBEDDINGS = "sparse-embeddings";
    static final String CLASSIFICATION = "text-classification";

    /// One that a task answers, in this protocol.
    static ClientPath of(String path, String inputs, String task, Function<JsonNode, JsonDialect.Asked> protocol) {
        return new ClientPath(path, inputs, Map.of(task, () -> new JsonDialect(MediaType.JSON, protocol)));
    }

    /// The dialect of one request; nothing where a model of this task can't answer it.
    Optional<Dialect> dialect(Optional<String> task) {
        return task.map(dialects::get).map(Supplier::get);
    }

    /// Why a model has no answer here.
    String refusal(Optional<String> task) {
        return "%s: found %s, expected %s; POST /invocations asks this model"
                .formatted(
                        path,
                        task.map("a model whose task is "::concat).orElse("a model of hooks that name no task()"),
                        dialects.isEmpty()
                                ? "another server, as no task of this one answers it"
                                : "the task "
                                        + String.join(
                                                " or ",
                                                dialects.keySet().stream()
                                                        .sorted()
                                                        .toList()));
    }

    /// A message about an input of the task, for those who call it something else.
    String named(String message) {
        return message.startsWith("inputs[") ? inputs + message.substring("inputs".length()) : message;
    }
}
