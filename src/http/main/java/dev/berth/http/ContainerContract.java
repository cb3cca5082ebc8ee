package dev.berth.http;

import static dev.berth.http.Route.at;
import static dev.berth.http.Route.get;
import static dev.berth.http.Route.post;

import dev.berth.config.HttpConfig;
import dev.berth.config.MonitoringConfig;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// SageMaker's contract for containers: health, one model or many, and the metrics beside it.
public final class ContainerContract implements Protocol {

    private static final String PING = "/ping";

    @Override
    public List<Route> routes() {
        return List.of(
                get(PING, ContainerContract::ping).forHealth(),
                post(PING, ContainerContract::ping).forHealth(),
                post("/invocations", ContainerContract::ask).ofOne(),
                post("/inferences", ContainerContract::ask).ofOne(),
                get("/execution-parameters", ExecutionParameters::new).ofOne(),
                post("/models", parts -> models(parts)::load).ofMany().noPageOfOthers(),
                get("/models", parts -> models(parts)::list).ofMany(),
                get("/models/{name}", parts -> models(parts)::describe).ofMany(),
                at(HandlerType.DELETE, "/models/{name}", parts -> models(parts)::unload)
                        .ofMany()
                        .noPageOfOthers(),
                post("/models/{name}/invoke", ContainerContract::ask).ofMany());
    }

    @Override
    public List<Route> named(ServerConfig config) {
        var metrics = get(config.get(MonitoringConfig.METRICS_PATH), parts -> new Scrapes(parts.metrics()))
                .as("/metrics");
        var health = config.find(HttpConfig.HEALTH_ROUTE)
                .map(path -> get(path, ContainerContract::ping).as(PING).forHealth());
        return Stream.of(Optional.of(metrics), health).flatMap(Optional::stream).toList();
    }

    /// Says whether the server can answer, at once and whatever the workers do. A busy server is a
    /// healthy one.
    public static Handler ping(ServerParts parts) {
        return ctx -> parts.health()
                .problem()
                .ifPresentOrElse(
                        problem -> ctx.status(ErrorType.NOT_READY.status())
                                .contentType(ErrorForm.CONTENT_TYPE)
                                .result(ErrorForm.PLAIN.body(ErrorType.NOT_READY, problem)),
                        () -> ctx.status(200));
    }

    /// Asks the model that the path names, or the only one.
    private static Handler ask(ServerParts parts) {
        var invocations = parts.invocations();
        return ctx -> invocations.ask(ctx, Invocations.Asked::answer);
    }

    private static Models models(ServerParts parts) {
        return new Models(parts.models().served().many().orElseThrow(), parts.invocations());
    }
}
