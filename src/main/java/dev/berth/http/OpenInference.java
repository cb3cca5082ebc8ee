package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.protocol.GrpcFrame;
import dev.berth.http.protocol.GrpcMessages;
import dev.berth.http.protocol.InferDialect;
import dev.berth.http.protocol.InferTarget;
import dev.berth.http.protocol.ModelMetadata;
import dev.berth.serving.Answer;
import dev.berth.serving.Deadline;
import dev.berth.serving.Health;
import dev.berth.serving.ServedModel;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;

/// The Open Inference Protocol: `/v2` of HTTP, and `inference.GRPCInferenceService` where there is
/// a port for gRPC. Requests go the way of `POST /invocations`. Runs on the request's virtual
/// thread.
final class OpenInference {

  static final String ROOT = "/v2";

  /// Where platforms ask whether the server is well.
  static final List<String> HEALTH = List.of(ROOT + "/health/live", ROOT + "/health/ready");

  private static final String HEADER_LENGTH = "Inference-Header-Content-Length";
  private static final String MODEL = ROOT + "/models/{name}";
  private static final String VERSION = MODEL + "/versions/{version}";
  private static final String NAME = "berth";
  private static final List<String> EXTENSIONS = List.of("binary_tensor_data");

  private final NamedModels models;
  private final Health health;
  private final Invocations invocations;
  private final boolean hasGrpc;

  /// @param invocations whose way requests go
  OpenInference(NamedModels models, Health health, Invocations invocations, boolean hasGrpc) {
    this.models = models;
    this.health = health;
    this.invocations = invocations;
    this.hasGrpc = hasGrpc;
  }

  static boolean has(String path) {
    return path.equals(ROOT) || path.startsWith(ROOT + "/");
  }

  void register(RoutesConfig routes) {
    routes.get(ROOT, ctx -> json(ctx, ModelMetadata.serverJson(NAME, version(), EXTENSIONS)));
    routes.get(HEALTH.getFirst(), ctx -> json(ctx, ModelMetadata.yes("live")));
    routes.get(HEALTH.getLast(), this::ready);
    for (var model : List.of(MODEL, VERSION)) {
      routes.get(model, this::describe);
      routes.get(model + "/ready", this::modelReady);
      routes.post(model + "/infer", this::infer);
    }
    if (hasGrpc) {
      call(routes, "ServerLive", _ -> GrpcMessages.yesOrNo(true));
      call(routes, "ServerReady", _ -> GrpcMessages.yesOrNo(health.problem().isEmpty()));
      call(routes, "ServerMetadata", _ -> GrpcMessages.server(NAME, version(), EXTENSIONS));
      call(
          routes,
          "ModelReady",
          asked -> GrpcMessages.yesOrNo(models.problem(target(asked)).isEmpty()));
      routes.post(Grpc.SERVICE + "ModelMetadata", this::describeByGrpc);
      routes.post(Grpc.SERVICE + "ModelInfer", this::inferByGrpc);
    }
  }

  private void ready(Context ctx) {
    health
        .problem()
        .ifPresent(
            problem -> {
              throw new ServingException(ErrorType.NOT_READY, problem);
            });
    json(ctx, ModelMetadata.yes("ready"));
  }

  private void modelReady(Context ctx) {
    var target = target(ctx);
    models
        .problem(target)
        .ifPresent(
            problem -> {
              throw new ServingException(ErrorType.NOT_READY, problem);
            });
    json(ctx, ModelMetadata.ready(target));
  }

  private void describe(Context ctx) throws IOException {
    var target = target(ctx);
    invocations.take(
        ctx,
        new ModelCall(target) {
          @Override
          public void answer(ServedModel.Visit visit, RequestBody body, Deadline deadline) {
            json(ctx, ModelMetadata.json(target, visit.signature()));
          }
        });
  }

  private void infer(Context ctx) throws IOException {
    var target = target(ctx);
    var headerLength = headerLength(ctx);
    invocations.take(
        ctx,
        new ModelCall(target) {
          @Override
          public void answer(ServedModel.Visit visit, RequestBody body, Deadline deadline)
              throws IOException {
            var dialect =
                InferDialect.ofJson(
                    target,
                    headerLength,
                    visit.requestTypes(),
                    visit.responseTypes(),
                    visit::signature);
            var type = headerLength.isPresent() ? InferDialect.BINARY : MediaType.JSON;
            var response = ask(ctx, visit, body, type, dialect, deadline);
            ctx.contentType(response.contentType().toString());
            dialect
                .headerLength()
                .ifPresent(length -> ctx.header(HEADER_LENGTH, Integer.toString(length)));
            Invocations.send(ctx, response.body());
          }
        });
  }

  private void describeByGrpc(Context ctx) throws IOException {
    askByGrpc(
        ctx,
        body -> target(message(body)),
        (target, visit, _, _) -> GrpcMessages.model(target, visit.signature()));
  }

  private void inferByGrpc(Context ctx) throws IOException {
    askByGrpc(
        ctx,
        body -> target(asked(body)),
        (target, visit, body, deadline) -> {
          var dialect =
              InferDialect.ofGrpc(
                  target, visit.requestTypes(), visit.responseTypes(), visit::signature);
          return ask(ctx, visit, body, GrpcFrame.TYPE, dialect, deadline).body();
        });
  }

  /// Finds whom a message is for.
  private interface Naming {
    InferTarget of(RequestBody body) throws IOException;
  }

  /// Makes the message of an answer.
  private interface Answering {
    byte[] of(InferTarget target, ServedModel.Visit visit, RequestBody body, Deadline deadline)
        throws IOException;
  }

  private void askByGrpc(Context ctx, Naming naming, Answering answering) throws IOException {
    Grpc.require(ctx);
    invocations.take(
        ctx,
        Grpc.timeout(ctx),
        new Invocations.Call() {
          private InferTarget target;

          @Override
          public ServedModel.Visit enter(RequestBody body, Deadline deadline) throws IOException {
            target = naming.of(body);
            return models.enter(target, deadline);
          }

          @Override
          public void answer(ServedModel.Visit visit, RequestBody body, Deadline deadline)
              throws IOException {
            Grpc.answer(ctx, answering.of(target, visit, body, deadline));
          }
        });
  }

  /// A call of gRPC whose request names a model at most.
  private void call(RoutesConfig routes, String method, Function<byte[], byte[]> answer) {
    routes.post(
        Grpc.SERVICE + method,
        ctx -> {
          Grpc.require(ctx);
          invocations.read(
              ctx, Grpc.timeout(ctx), body -> Grpc.answer(ctx, answer.apply(message(body))));
        });
  }

  private InvocationResponse ask(
      Context ctx,
      ServedModel.Visit visit,
      RequestBody body,
      MediaType type,
      InferDialect dialect,
      Deadline deadline)
      throws IOException {
    var request = invocations.request(ctx, visit, body, type, type, deadline);
    var answer =
        visit.invokeIn(
            dialect,
            request,
            deadline,
            body.memory(),
            Invocations.peerHasGone(ctx),
            Invocations.logContext(),
            RequestLog.trace(ctx));
    return switch (answer) {
      case Answer.Whole(var response, var invocation) -> {
        RequestLog.served(ctx, invocation);
        yield response;
      }
      case Answer.Streamed _ ->
          throw new IllegalStateException("found an answer in parts, expected a whole one");
    };
  }

  private abstract class ModelCall implements Invocations.Call {

    private final InferTarget target;

    ModelCall(InferTarget target) {
      this.target = target;
    }

    @Override
    public ServedModel.Visit enter(RequestBody body, Deadline deadline) {
      return models.enter(target, deadline);
    }
  }

  private InferTarget target(Context ctx) {
    var version = ctx.pathParamMap().getOrDefault("version", "");
    return models.target(Models.name(ctx), version);
  }

  private InferTarget target(byte[] message) {
    try {
      return target(GrpcMessages.asked(message));
    } catch (BadInputException e) {
      throw new ServingException(ErrorType.BAD_INPUT, e.getMessage(), e);
    }
  }

  private InferTarget target(GrpcMessages.Asked asked) {
    return models.target(asked.model(), asked.version());
  }

  /// All of a short message.
  private static byte[] message(RequestBody body) throws IOException {
    while (body.readFirst()) {
      // Until the end.
    }
    return body.first();
  }

  /// Who is asked stands at the beginning of a message that may be long.
  private static GrpcMessages.Asked asked(RequestBody body) throws IOException {
    boolean hasMore = true;
    while (hasMore) {
      hasMore = body.readFirst();
      var asked = GrpcMessages.askedFirst(body.first(), !hasMore && body.isWhole());
      if (asked.isPresent()) {
        return asked.get();
      }
    }
    throw new ServingException(
        ErrorType.BAD_INPUT,
        "message: found no model_name, expected a ModelInferRequest that begins with it");
  }

  private static OptionalInt headerLength(Context ctx) {
    var header = ctx.header(HEADER_LENGTH);
    if (header == null) {
      return OptionalInt.empty();
    }
    if (!header.matches("\\d{1,9}")) {
      throw new ServingException(
          ErrorType.BAD_INPUT,
          "%s: found %s, expected a number of bytes".formatted(HEADER_LENGTH, Text.quoted(header)));
    }
    return OptionalInt.of(Integer.parseInt(header));
  }

  private static String version() {
    return Optional.ofNullable(OpenInference.class.getPackage().getImplementationVersion())
        .orElse("(unpackaged)");
  }

  private static void json(Context ctx, byte[] body) {
    ctx.contentType(MediaType.JSON.toString()).result(body);
  }
}
