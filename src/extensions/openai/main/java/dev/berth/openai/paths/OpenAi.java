package dev.berth.openai.paths;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.hooks.MediaType;
import dev.berth.http.ErrorForm;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import dev.berth.openai.Chat;
import dev.berth.openai.Completion;
import dev.berth.openai.Embeddings;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Optional;

/// OpenAI's paths: those that ask the model, with the types that they take and give, and the list
/// of models. SageMaker's OpenAI-compatible path forwards to them.
public final class OpenAi implements Protocol {

    private static final String MODELS = "/v1/models";

    @Override
    public List<Route> routes() {
        return List.of(
                asking(Chat.PATH, true),
                asking(Completion.PATH, true),
                asking(Embeddings.PATH, false),
                Route.get(MODELS, parts -> ctx -> list(ctx, parts)),
                Route.get(MODELS + "/{name}", parts -> ctx -> describe(ctx, parts)));
    }

    /// Some of its clients show nothing of an error that is not inside an `error`.
    @Override
    public Optional<ErrorForm> errors(String path, ServerConfig config) {
        return path.startsWith("/v1/") ? Optional.of(ErrorForm.NESTED) : Optional.empty();
    }

    /// @param writes whether it asks for a text, which may come in parts
    private static Route asking(String path, boolean writes) {
        return Route.post(path, parts -> ask(parts, path, writes))
                .ofOne()
                .shownFor(facts -> facts.openAiPaths().contains(path));
    }

    /// Hooks that do not answer a path would only say that the body is wrong.
    private static Handler ask(ServerParts parts, String path, boolean writes) {
        var invocations = parts.invocations();
        return ctx -> invocations.ask(ctx, asked -> {
            var facts = asked.visit().facts();
            if (!facts.openAiPaths().contains(path)) {
                throw ErrorType.NOT_FOUND.because(
                        "%s: this model %s, or its hooks do not say so in openAiPaths(); POST /invocations asks it"
                                .formatted(path, writes ? "writes no text" : "makes no embeddings"));
            }
            asked.answer(List.of(MediaType.JSON), given(facts.responseTypes(), writes));
        });
    }

    /// The content types that a path gives: JSON, and events of a text while it is written.
    private static List<MediaType> given(List<MediaType> writable, boolean writes) {
        return writes && (writable.isEmpty() || writable.contains(MediaType.EVENT_STREAM))
                ? List.of(MediaType.JSON, MediaType.EVENT_STREAM)
                : List.of(MediaType.JSON);
    }

    private static void list(Context ctx, ServerParts parts) {
        var list = JsonNodeFactory.instance.objectNode().put("object", "list");
        list.putArray("data")
                .addAll(parts.models().ready().stream().map(OpenAi::model).toList());
        ctx.contentType(MediaType.JSON.toString()).result(list.toString());
    }

    private static void describe(Context ctx, ServerParts parts) {
        var name = parts.models().target(ctx);
        parts.models().requireReady(name);
        ctx.contentType(MediaType.JSON.toString()).result(model(name).toString());
    }

    /// A model that can be asked, for OpenAI's clients and for those of KServe's version 1.
    private static ObjectNode model(String name) {
        return JsonNodeFactory.instance
                .objectNode()
                .put("id", name)
                .put("object", "model")
                .put("created", ManagementFactory.getRuntimeMXBean().getStartTime() / 1000)
                .put("owned_by", "berth")
                .put("name", name)
                .put("ready", true);
    }
}
