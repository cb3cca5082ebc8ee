package dev.berth.dialects;

import dev.berth.config.ServerConfig;
import dev.berth.http.ErrorForm;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import io.javalin.http.Handler;
import java.util.List;
import java.util.Optional;

/// Vertex AI's protocol, which is KServe's version 1 under another path. Google's own errors stand
/// inside an `error` too.
public final class VertexAndKserve implements Protocol {

    private static final String MODELS = "/v1/models";
    private static final String PREDICT = MODELS + "/{name}:predict";

    @Override
    public List<Route> routes() {
        return List.of(Route.post(PREDICT, VertexAndKserve::predict));
    }

    @Override
    public List<Route> named(ServerConfig config) {
        return config.find(DialectsConfig.PREDICT_ROUTE).stream()
                .map(path ->
                        Route.post(path, VertexAndKserve::predict).as(PREDICT).ofOne())
                .toList();
    }

    @Override
    public Optional<ErrorForm> errors(String path, ServerConfig config) {
        return path.startsWith(MODELS + "/")
                        || config.find(DialectsConfig.PREDICT_ROUTE).equals(Optional.of(path))
                ? Optional.of(ErrorForm.NESTED)
                : Optional.empty();
    }

    private static Handler predict(ServerParts parts) {
        var invocations = parts.invocations();
        return ctx -> invocations.ask(ctx, asked -> {
            var facts = asked.visit().facts();
            asked.answer(VertexDialect.of(facts.requestTypes(), facts.responseTypes()), VertexDialect::named);
        });
    }
}
