package dev.berth.dialects;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.http.ContainerContract;
import dev.berth.http.ErrorForm;
import dev.berth.http.Invocations;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Dialect;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.io.IOException;
import java.util.List;
import java.util.stream.Stream;

/// Clients of other servers for ready tasks, at the paths that they have there.
public final class TaskClients implements Protocol {

    @Override
    public List<Route> routes() {
        return Stream.of(
                        // MLflow's, and those of Text Embeddings Inference.
                        Stream.of(
                                Route.get("/health", ContainerContract::ping)
                                        .as("/ping")
                                        .ofOne(),
                                Route.get("/version", _ -> ctx -> ctx.result(ServingMetrics.version()))
                                        .ofOne()),
                        TextEmbeddings.PATHS.stream().map(path -> at(path, TextEmbeddings.ERRORS)),
                        Stream.of(at(HuggingFace.ROOT, ErrorForm.TEXT)),
                        Cohere.PATHS.stream().map(path -> at(path, ErrorForm.PLAIN)))
                .flatMap(routes -> routes)
                .toList();
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return config.get(DialectsConfig.TASK_CLIENTS);
    }

    @Override
    public Claim claim() {
        return Claim.NONE;
    }

    private static Route at(ClientPath path, ErrorForm errors) {
        var method = path.path().equals(TextEmbeddings.INFO) ? HandlerType.GET : HandlerType.POST;
        return Route.at(method, path.path(), parts -> handler(path, parts))
                .ofOne()
                .failing(errors)
                .shownFor(facts ->
                        facts.task().filter(path.dialects()::containsKey).isPresent());
    }

    private static Handler handler(ClientPath path, ServerParts parts) {
        var invocations = parts.invocations();
        return ctx -> invocations.ask(ctx, asked -> answer(path, asked));
    }

    private static void answer(ClientPath path, Invocations.Asked asked) throws IOException {
        var task = asked.visit().facts().task();
        var dialect = path.dialect(task).orElseThrow(() -> ErrorType.NOT_FOUND.because(path.refusal(task)));
        if (dialect.equals(Dialect.NONE)) {
            asked.answer();
        } else {
            asked.answer(dialect, path::named);
        }
    }
}
