package dev.berth.dialects;

import dev.berth.config.ServerConfig;
import dev.berth.http.Invocations;
import dev.berth.http.NamedModels;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.stream.Stream;

/// What clients of TorchServe's inference API meet at its paths. Requests go the way of `POST
/// /invocations`; only names differ.
///
/// Source: TorchServe 0.12, `docs/inference_api.md`.
public final class TorchServe implements Protocol {

    private static final String PATH = "/predictions/{name}";

    /// That of a model that nobody gave another.
    private static final String FIRST_VERSION = "1.0";

    /// `curl -T` sends a PUT.
    @Override
    public List<Route> routes() {
        return Stream.of(PATH, PATH + "/{version}")
                .flatMap(path -> Stream.of(HandlerType.POST, HandlerType.PUT)
                        .map(method -> Route.at(method, path, TorchServe::ask)))
                .toList();
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return config.get(DialectsConfig.TORCH_SERVE);
    }

    private static Handler ask(ServerParts parts) {
        var invocations = parts.invocations();
        return ctx -> {
            var path = ctx.pathParamMap();
            var version = path.getOrDefault("version", "");
            invocations.ask(
                    ctx,
                    () -> parts.models()
                            .target(path.get("name"), version.equals(FIRST_VERSION) ? NamedModels.VERSION : version),
                    Invocations.Asked::answer);
        };
    }
}
