package dev.berth.http;

import static dev.berth.http.Route.Of.CLIENT;
import static dev.berth.http.Route.Of.DESK;
import static dev.berth.http.Route.Of.GRPC;
import static dev.berth.http.Route.Of.HEALTH;
import static dev.berth.http.Route.Of.MANY;
import static dev.berth.http.Route.Of.ONE;
import static dev.berth.http.Route.Of.PAGE;
import static dev.berth.http.Route.Of.SERVER;
import static dev.berth.http.Route.Of.TRITON;
import static io.javalin.http.HandlerType.DELETE;
import static io.javalin.http.HandlerType.GET;
import static io.javalin.http.HandlerType.POST;
import static io.javalin.http.HandlerType.PUT;

import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import dev.berth.error.ErrorType;
import dev.berth.http.Triton.Asked;
import dev.berth.http.clients.ClientPath;
import dev.berth.http.clients.Cohere;
import dev.berth.http.clients.HuggingFace;
import dev.berth.http.clients.TextEmbeddings;
import dev.berth.http.openinference.Inference.ModelConfigRequest;
import dev.berth.http.openinference.Inference.ModelStatisticsRequest;
import dev.berth.http.openinference.Inference.RepositoryIndexRequest;
import dev.berth.http.openinference.Inference.RepositoryModelLoadRequest;
import dev.berth.http.openinference.Inference.RepositoryModelUnloadRequest;
import dev.berth.http.page.Described;
import dev.berth.http.page.Operation;
import dev.berth.http.page.Operations;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;

/// A route. **A new one is an entry of [#ALL]**: what is registered, `Allow`, the advice of a 404,
/// the paths that no setting can take, and OpenAPI's document follow from it.
///
/// @param handler asked once, where the route is there
record Route(
    Of of,
    HandlerType method,
    String path,
    Function<Operations, Operation> says,
    Function<Routes, Handler> handler)
    implements Described {

  /// Which server has the route.
  enum Of {
    SERVER,
    /// Says whether the server can answer, and so is answered where connections are refused.
    HEALTH,
    /// One with one model.
    ONE,
    /// One with many models.
    MANY,
    GRPC,
    /// Any but those of SageMaker, where the routes are what they always were.
    TRITON,
    /// One with one model, where clients of other servers may ask it.
    CLIENT,
    /// One that answers the clients of others, which no platform has.
    DESK,
    PAGE
  }

  private static final String V2_MODEL = "/v2/models/{name}";
  private static final String V2_VERSION = V2_MODEL + "/versions/{version}";
  private static final String REPOSITORY = "/v2/repository/models/{name}";
  private static final String MODEL = "{modelName: '', modelUrl: ''}";

  private static final String TORCHSERVE_VERSION = TorchServe.PREDICTIONS + TorchServe.VERSION;
  static final List<Route> ALL =
      List.of(
          at(HEALTH, GET, "/ping", Operations::ping, s -> s::ping),
          at(HEALTH, POST, "/ping", Operations::ping, s -> s::ping),

          // One model. SageMaker's OpenAI-compatible path forwards to the paths of OpenAI.
          at(ONE, POST, "/invocations", o -> o.ask("Ask the model"), Routes::ask),
          at(
              ONE,
              POST,
              "/inferences",
              o -> o.ask("Ask the model, by another name of /invocations"),
              Routes::ask),
          at(ONE, POST, "/v1/chat/completions", Operations::chat, Routes::ask),
          at(ONE, POST, "/v1/completions", Operations::completions, Routes::ask),
          at(ONE, POST, OpenAi.EMBEDDINGS, Operations::embeddings, Routes::ask),
          at(SERVER, GET, OpenAi.MODELS, Operations::openAiModels, s -> s.openAi::models),
          at(ONE, GET, Sockets.PATH, Operations::socket, _ -> Sockets::requireHandshake),
          at(
              ONE,
              GET,
              "/execution-parameters",
              o ->
                  o.server("How a batch transform job should call this container")
                      .answers("{MaxConcurrentTransforms: 1, BatchStrategy: '', MaxPayloadInMB: 1}")
                      .fails(ErrorType.NOT_FOUND),
              Routes::executionParameters),

          // Many models.
          at(MANY, POST, "/models", Operations::load, s -> s.models()::load).noPageOfOthers(),
          at(
              MANY,
              GET,
              "/models",
              o ->
                  o.models("List the models", "{models: [%s]}".formatted(MODEL))
                      .query("limit", "integer", "how many at most, up to 100")
                      .query("next_page_token", "string", "nextPageToken of the page before")
                      .fails(ErrorType.BAD_INPUT),
              s -> s.models()::list),
          at(
              MANY,
              GET,
              "/models/{name}",
              o -> o.models("Describe a model", MODEL),
              s -> s.models()::describe),
          at(
                  MANY,
                  DELETE,
                  "/models/{name}",
                  o ->
                      o.models("Unload a model", MODEL)
                          .fails(
                              ErrorType.CONFLICT, ErrorType.INTERNAL, ErrorType.DEADLINE_EXCEEDED),
                  s -> s.models()::unload)
              .noPageOfOthers(),
          at(MANY, GET, Sockets.PATH_OF_MODEL, Operations::socket, _ -> Sockets::requireHandshake),
          at(MANY, POST, "/models/{name}/invoke", o -> o.ask("Ask one of the models"), Routes::ask),

          // The Open Inference Protocol, and its version 1, which is KServe's.
          at(
              SERVER,
              GET,
              "/v2",
              o ->
                  o.protocol(
                      "What this server is and speaks",
                      "{name: '', version: '', extensions: ['']}"),
              s -> s.v2::server),
          at(
              HEALTH,
              GET,
              "/v2/health/live",
              o -> o.protocol("Whether the server is up", "{live: true}"),
              s -> s.v2::live),
          at(
              HEALTH,
              GET,
              "/v2/health/ready",
              o ->
                  o.protocol("Whether the server can answer", "{ready: true}")
                      .fails(ErrorType.NOT_READY),
              s -> s.v2::ready),
          triton(GET, "/v2/models/stats", "Statistics of all models", Triton::allStatistics),
          at(SERVER, GET, V2_MODEL, Operations::signature, s -> s.v2::describe),
          at(SERVER, GET, V2_VERSION, Operations::signature, s -> s.v2::describe),
          at(SERVER, GET, V2_MODEL + "/ready", Operations::modelReady, s -> s.v2::modelReady),
          at(SERVER, GET, V2_VERSION + "/ready", Operations::modelReady, s -> s.v2::modelReady),
          at(SERVER, POST, V2_MODEL + "/infer", Operations::infer, s -> s.v2::infer),
          at(SERVER, POST, V2_VERSION + "/infer", Operations::infer, s -> s.v2::infer),
          triton(GET, V2_MODEL + "/config", "The configuration of a model", Triton::config),
          triton(GET, V2_VERSION + "/config", "The configuration of a model", Triton::config),
          triton(GET, V2_MODEL + "/stats", "Statistics of a model", Triton::statistics),
          triton(GET, V2_VERSION + "/stats", "Statistics of a model", Triton::statistics),
          triton(POST, "/v2/repository/index", "List the models", Triton::index),
          triton(POST, REPOSITORY + "/load", "Load a model of --models", Triton::load)
              .noPageOfOthers(),
          triton(POST, REPOSITORY + "/unload", "Unload a model of --models", Triton::unload)
              .noPageOfOthers(),
          at(SERVER, GET, OpenAi.MODEL, Operations::version1, s -> s.v2::describeInVersion1),
          at(SERVER, POST, OpenAi.MODEL + ":predict", Operations::predict, Routes::predict),
          at(GRPC, POST, Grpc.SERVICE + "ServerLive", _ -> null, s -> s.v2::serverLive),
          at(GRPC, POST, Grpc.SERVICE + "ServerReady", _ -> null, s -> s.v2::serverReady),
          at(GRPC, POST, Grpc.SERVICE + "ServerMetadata", _ -> null, s -> s.v2::serverMetadata),
          at(GRPC, POST, Grpc.SERVICE + "ModelReady", _ -> null, s -> s.v2::isModelReady),
          at(GRPC, POST, Grpc.SERVICE + "ModelMetadata", _ -> null, s -> s.v2::describeByGrpc),
          at(GRPC, POST, Grpc.SERVICE + "ModelInfer", _ -> null, s -> s.v2::inferByGrpc),
          at(GRPC, POST, Grpc.SERVICE + "ModelStreamInfer", _ -> null, s -> s.v2::inferInStream),
          at(GRPC, POST, GrpcHealth.CHECK, _ -> null, s -> s.grpcHealth::check),
          at(GRPC, POST, GrpcHealth.WATCH, _ -> null, s -> s.grpcHealth::watch),
          at(GRPC, POST, GrpcReflection.PATH, _ -> null, s -> s.grpcReflection::answerAll),
          at(GRPC, POST, GrpcReflection.PATH_BEFORE, _ -> null, s -> s.grpcReflection::answerAll),
          grpc("ModelConfig", ModelConfigRequest.parser(), Triton::config),
          grpc("ModelStatistics", ModelStatisticsRequest.parser(), Triton::statistics),
          grpc("RepositoryIndex", RepositoryIndexRequest.parser(), Triton::index),
          grpc("RepositoryModelLoad", RepositoryModelLoadRequest.parser(), Triton::load)
              .noPageOfOthers(),
          grpc("RepositoryModelUnload", RepositoryModelUnloadRequest.parser(), Triton::unload)
              .noPageOfOthers(),

          // Clients of MLflow, and of Text Embeddings Inference.
          at(CLIENT, GET, "/health", Operations::ping, s -> s::ping),
          at(CLIENT, GET, "/version", Operations::version, s -> Routes::version),

          // Clients of other servers for ready tasks.
          client(TextEmbeddings.EMBED, ErrorForm.TEXT_EMBEDDINGS),
          client(TextEmbeddings.EMBED_ALL, ErrorForm.TEXT_EMBEDDINGS),
          client(TextEmbeddings.EMBED_SPARSE, ErrorForm.TEXT_EMBEDDINGS),
          client(TextEmbeddings.SIMILARITY, ErrorForm.TEXT_EMBEDDINGS),
          client(TextEmbeddings.RERANK, ErrorForm.TEXT_EMBEDDINGS),
          client(TextEmbeddings.PREDICT, ErrorForm.TEXT_EMBEDDINGS),
          client(GET, TextEmbeddings.INFO, ErrorForm.TEXT_EMBEDDINGS),
          client(TextEmbeddings.TOKENIZE, ErrorForm.TEXT_EMBEDDINGS),
          client(TextEmbeddings.DECODE, ErrorForm.TEXT_EMBEDDINGS),
          client(HuggingFace.ROOT, ErrorForm.TEXT),
          client(Cohere.RERANK_1, ErrorForm.PLAIN),
          client(Cohere.RERANK_2, ErrorForm.PLAIN),
          client(Cohere.EMBED_1, ErrorForm.PLAIN),
          client(Cohere.EMBED_2, ErrorForm.PLAIN),
          // TorchServe's. curl -T sends a PUT.
          at(DESK, POST, TorchServe.PREDICTIONS, Route::torchServe, Routes::predictions),
          at(DESK, PUT, TorchServe.PREDICTIONS, Route::torchServe, Routes::predictions),
          at(DESK, POST, TORCHSERVE_VERSION, Route::torchServe, Routes::predictions),
          at(DESK, PUT, TORCHSERVE_VERSION, Route::torchServe, Routes::predictions),

          // The page.
          page("/", o -> o.page("The page to try the model", "text/html"), s -> s.page::home),
          page("/docs", o -> o.page("This document in Swagger UI", "text/html"), s -> s.page::docs),
          page("/openapi.json", o -> o.page("This document").answers("{}"), Routes::document),
          page(
              "/page/models",
              o ->
                  o.page("What the page shows of the models")
                      .answers(
                          "{many: true, metrics: '', models: [{name: '', path: '', state: ''}]}"),
              s -> s.page::models),
          page(
              "/page/sample",
              o ->
                  o.page("The sample of an artifact", "*/*")
                      .query("model", "string", "the name of one of many models")
                      .fails(ErrorType.NOT_FOUND, ErrorType.PAYLOAD_TOO_LARGE),
              s -> s.page::sample),
          page("/page/{file}", o -> o.page("A file of the page", "*/*"), s -> s.page::file));

  private static Operation torchServe(Operations operations) {
    return operations.ask("Ask a model as clients of TorchServe do");
  }

  /// An extension of Triton's over HTTP.
  private static Route triton(
      HandlerType method, String path, String says, BiFunction<Triton, Asked, Message> answer) {
    return at(TRITON, method, path, o -> o.protocol(says, "{}"), s -> s.triton.http(answer));
  }

  /// The same over gRPC.
  private static Route grpc(
      String method, Parser<?> request, BiFunction<Triton, Asked, Message> answer) {
    return at(GRPC, POST, Grpc.SERVICE + method, _ -> null, s -> s.triton.grpc(request, answer));
  }

  private static Route page(
      String path, Function<Operations, Operation> says, Function<Routes, Handler> handler) {
    return at(PAGE, GET, path, says, handler);
  }

  private static Route client(ClientPath path, ErrorForm errors) {
    return client(POST, path, errors);
  }

  private static Route client(HandlerType method, ClientPath path, ErrorForm errors) {
    return at(
        CLIENT,
        method,
        path.path(),
        o -> o.client(path.says(), path.example(), path.dialects().keySet()),
        s -> s.client(path, errors));
  }

  /// The same for a route that changes what is served.
  private Route noPageOfOthers() {
    return at(
        of,
        method,
        path,
        operations -> {
          var operation = says.apply(operations);
          return operation == null ? null : operation.fails(ErrorType.FORBIDDEN);
        },
        routes -> {
          var own = handler.apply(routes);
          return ctx -> {
            routes.origins.requireOwn(ctx);
            own.handle(ctx);
          };
        });
  }

  boolean isAt(Route other) {
    return method.equals(other.method) && path.equals(other.path);
  }

  static Route at(
      Of of,
      HandlerType method,
      String path,
      Function<Operations, Operation> says,
      Function<Routes, Handler> handler) {
    return new Route(of, method, path, says, handler);
  }
}
