package dev.berth.http;

import com.google.protobuf.MessageLite;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.body.GrpcMessage;
import dev.berth.http.body.RequestBody;
import dev.berth.http.openinference.GrpcFrame;
import dev.berth.http.openinference.GrpcMessages;
import dev.berth.http.openinference.InferDialect;
import dev.berth.http.openinference.InferTarget;
import dev.berth.http.openinference.JsonMessages;
import dev.berth.http.openinference.Messages;
import dev.berth.http.openinference.ModelMetadata;
import dev.berth.http.openinference.ProtobufMessages;
import dev.berth.json.JsonText;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Health;
import dev.berth.serving.hooks.Deadline;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;

/// The Open Inference Protocol: `/v2` of HTTP, and `inference.GRPCInferenceService` where there is
/// a port for gRPC. And its version 1, KServe's, which is Vertex AI's form under the model's name.
/// Requests go the way of `POST /invocations`. Runs on the request's virtual thread.
///
/// @param invocations whose way requests go
/// @param log has a line for each message of a stream
/// @param extensions of the protocol that the server has
record OpenInference(
    NamedModels models,
    Health health,
    Invocations invocations,
    RequestLog log,
    List<String> extensions) {

  static final String ROOT = "/v2";

  static final List<String> EXTENSIONS = List.of("binary_tensor_data");

  private static final String HEADER_LENGTH = "Inference-Header-Content-Length";
  private static final String NAME = "berth";

  private record Server(String name, String version, List<String> extensions) {}

  private record Ready(String name, boolean ready) {}

  static boolean has(String path) {
    return path.equals(ROOT) || path.startsWith(ROOT + "/");
  }

  void server(Context ctx) {
    json(ctx, new Server(NAME, ServingMetrics.version(), extensions));
  }

  void live(Context ctx) {
    json(ctx, Map.of("live", true));
  }

  void ready(Context ctx) {
    requireNone(health.problem());
    json(ctx, Map.of("ready", true));
  }

  void modelReady(Context ctx) {
    var target = models.target(ctx);
    requireNone(models.problem(target));
    json(ctx, new Ready(target.model(), true));
  }

  void describeInVersion1(Context ctx) {
    var target = models.target(ctx);
    requireNone(models.problem(target));
    ctx.contentType(MediaType.JSON.toString()).result(OpenAi.model(target.model()).toString());
  }

  private static void requireNone(Optional<String> problem) {
    if (problem.isPresent()) {
      throw ErrorType.NOT_READY.because(problem.get());
    }
  }

  /// A model that is not there is not ready either.
  private boolean isReady(byte[] message) {
    try {
      return models.problem(target(message)).isEmpty();
    } catch (ServingException e) {
      if (e.type() == ErrorType.NOT_FOUND) {
        return false;
      }
      throw e;
    }
  }

  void describe(Context ctx) throws Exception {
    invocations.ask(ctx, asked -> json(ctx, metadata(asked)));
  }

  void infer(Context ctx) throws Exception {
    var headerLength = headerLength(ctx);
    invocations.ask(
        ctx,
        asked -> {
          var messages = new JsonMessages(asked.target(), headerLength);
          var type = headerLength.isPresent() ? InferDialect.BINARY : MediaType.JSON;
          var response = infer(asked, type, messages);
          messages
              .answered()
              .ifPresent(length -> ctx.header(HEADER_LENGTH, Integer.toString(length)));
          invocations.write(ctx, response);
        });
  }

  void describeByGrpc(Context ctx) throws Exception {
    Grpc.require(ctx);
    invocations.ask(
        ctx,
        Grpc.timeout(ctx),
        body -> target(message(body)),
        asked -> Grpc.answer(ctx, GrpcFrame.of(GrpcMessages.model(metadata(asked)))));
  }

  void inferByGrpc(Context ctx) throws Exception {
    Grpc.require(ctx);
    invocations.ask(
        ctx,
        Grpc.timeout(ctx),
        body -> target(asked(body)),
        asked -> Grpc.answer(ctx, inferByGrpc(asked, false)));
  }

  private byte[] inferByGrpc(ModelRequest asked, boolean inStream) throws IOException {
    return infer(asked, GrpcFrame.TYPE, new ProtobufMessages(asked.target(), inStream)).body();
  }

  /// Answers the requests of a stream one after another. Each is a request of its own in metrics
  /// and log; one that fails does not end the stream.
  void inferInStream(Context ctx) throws Exception {
    Grpc.require(ctx);
    Grpc.begin(ctx);
    var call = RequestLog.of(ctx);
    var messages = new AtomicLong();
    invocations.takeEach(
        ctx,
        health::isStopping,
        (body, deadline) -> {
          var id = "%s-%d".formatted(RequestLog.inferenceId(ctx), messages.incrementAndGet());
          var entry = log.beginMessage(id, ctx.path(), TraceParents.of(ctx));
          RequestLog.set(ctx, entry);
          try {
            answerInStream(ctx, body, deadline);
          } finally {
            log.endMessage(entry, ctx.path());
            RequestLog.set(ctx, call);
          }
        });
  }

  private void answerInStream(Context ctx, RequestBody body, Deadline deadline) throws IOException {
    var message = body.decode(in -> new GrpcMessage(in, Grpc.coding(ctx), false, body.memory()));
    try {
      invocations.ask(
          ctx,
          body,
          deadline,
          first -> target(asked(first)),
          asked -> Grpc.send(ctx, inferByGrpc(asked, true)));
    } catch (ServingException e) {
      RequestLog.of(ctx).failed(e);
      if (e.type() == ErrorType.CALLER_GONE || health.isStopping()) {
        throw e;
      }
      // Where the rest of the message does not come, the stream ends.
      message.skip();
      Grpc.send(ctx, GrpcFrame.of(GrpcMessages.failed(e.getMessage())));
    }
  }

  void serverLive(Context ctx) throws Exception {
    call(ctx, _ -> GrpcMessages.yesOrNo(true));
  }

  void serverReady(Context ctx) throws Exception {
    call(ctx, _ -> GrpcMessages.yesOrNo(health.problem().isEmpty()));
  }

  void serverMetadata(Context ctx) throws Exception {
    call(ctx, _ -> GrpcMessages.server(NAME, ServingMetrics.version(), extensions));
  }

  void isModelReady(Context ctx) throws Exception {
    call(ctx, asked -> GrpcMessages.yesOrNo(isReady(asked)));
  }

  /// A call of gRPC whose request is short.
  void call(Context ctx, Function<byte[], MessageLite> answer) throws Exception {
    read(ctx, message -> Grpc.answer(ctx, GrpcFrame.of(answer.apply(message))));
  }

  /// Reads the message of a call whose request is short.
  void read(Context ctx, Consumer<byte[]> reader) throws Exception {
    Grpc.require(ctx);
    invocations.take(ctx, Grpc.timeout(ctx), (body, _) -> reader.accept(message(body)));
  }

  private static ModelMetadata metadata(ModelRequest asked) {
    return ModelMetadata.of(asked.target(), asked.visit().signature(asked.deadline()));
  }

  private InvocationResponse infer(ModelRequest asked, MediaType type, Messages messages)
      throws IOException {
    var visit = asked.visit();
    var dialect =
        new InferDialect(
            messages,
            visit.facts().requestTypes(),
            visit.facts().responseTypes(),
            visit::signature);
    return invocations.askWhole(asked, type, type, dialect);
  }

  private InferTarget target(byte[] message) {
    try {
      return target(GrpcMessages.asked(message));
    } catch (BadInputException e) {
      throw ErrorType.BAD_INPUT.because(e.getMessage(), e);
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
    throw ErrorType.BAD_INPUT.because(
        "message: found no model_name, expected a ModelInferRequest that begins with it");
  }

  private static OptionalInt headerLength(Context ctx) {
    var header = ctx.header(HEADER_LENGTH);
    if (header == null) {
      return OptionalInt.empty();
    }
    if (!header.matches("\\d{1,9}")) {
      throw ErrorType.BAD_INPUT.because(
          "%s: found %s, expected a number of bytes".formatted(HEADER_LENGTH, Text.quoted(header)));
    }
    return OptionalInt.of(Integer.parseInt(header));
  }

  static void json(Context ctx, Object answer) {
    ctx.contentType(MediaType.JSON.toString()).result(JsonText.write(answer));
  }
}
