package dev.berth.http;

import static dev.berth.http.Route.at;
import static dev.berth.http.Route.get;
import static dev.berth.http.Route.post;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// SageMaker's contract for containers: health, one model or many, and the metrics beside it.
public final class ContainerContract implements Protocol {

    private static final String MODEL = "{modelName: '', modelUrl: ''}";

    @Override
    public List<Route> routes() {
        return List.of(
                get("/ping", ContainerContract::aPing, ContainerContract::ping).forHealth(),
                post("/ping", ContainerContract::aPing, ContainerContract::ping).forHealth(),
                post("/invocations", o -> o.ask("Ask the model"), ContainerContract::ask)
                        .ofOne(),
                post(
                                "/inferences",
                                o -> o.ask("Ask the model, by another name of /invocations"),
                                ContainerContract::ask)
                        .ofOne(),
                get(
                                "/execution-parameters",
                                o -> o.server("How a batch transform job should call this container")
                                        .answers("{MaxConcurrentTransforms: 1, BatchStrategy: '', MaxPayloadInMB: 1}")
                                        .fails(ErrorType.NOT_FOUND),
                                ExecutionParameters::new)
                        .ofOne(),
                post(
                                "/models",
                                o -> o.models("Load a model", MODEL)
                                        .says("The url is the directory of its artifact.")
                                        .takes("{model_name: '', url: ''}")
                                        .failsInWork()
                                        .fails(ErrorType.NOT_FOUND, ErrorType.CONFLICT),
                                parts -> models(parts)::load)
                        .ofMany()
                        .noPageOfOthers(),
                get(
                                "/models",
                                o -> o.models("List the models", "{models: [%s]}".formatted(MODEL))
                                        .query("limit", "integer", "how many at most, up to 100")
                                        .query("next_page_token", "string", "nextPageToken of the page before")
                                        .fails(ErrorType.BAD_INPUT),
                                parts -> models(parts)::list)
                        .ofMany(),
                get("/models/{name}", o -> o.models("Describe a model", MODEL), parts -> models(parts)::describe)
                        .ofMany(),
                at(
                                HandlerType.DELETE,
                                "/models/{name}",
                                o -> o.models("Unload a model", MODEL)
                                        .fails(ErrorType.CONFLICT, ErrorType.INTERNAL, ErrorType.DEADLINE_EXCEEDED),
                                parts -> models(parts)::unload)
                        .ofMany()
                        .noPageOfOthers(),
                post("/models/{name}/invoke", o -> o.ask("Ask one of the models"), ContainerContract::ask)
                        .ofMany());
    }

    @Override
    public List<Route> named(ServerConfig config) {
        var metrics = get(
                config.http().metricsPath(),
                o -> o.server("Metrics in the format of Prometheus").answersIn("text/plain"),
                parts -> new Scrapes(parts.metrics()));
        var health = config.http()
                .healthRoute()
                .map(path -> get(path, ContainerContract::aPing, ContainerContract::ping)
                        .forHealth());
        return Stream.of(Optional.of(metrics), health).flatMap(Optional::stream).toList();
    }

    /// What OpenAPI's document says of a path that is answered as `/ping` is.
    public static Operation aPing(Operation operation) {
        return operation
                .server("Whether the server can answer")
                .fails(ErrorType.NOT_READY)
                .responds(200, "The model can be asked. The body is empty");
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
        return ctx -> invocations.ask(ctx, invocations::answer);
    }

    private static Models models(ServerParts parts) {
        return new Models(parts.serving().models().many().orElseThrow(), parts.invocations());
    }
}
