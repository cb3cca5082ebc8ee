package dev.berth.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.http.openinference.GrpcMessages;
import dev.berth.http.openinference.Inference.ModelConfig;
import dev.berth.http.openinference.Inference.ModelConfigResponse;
import dev.berth.http.openinference.Inference.ModelStatisticsResponse;
import dev.berth.http.openinference.Inference.RepositoryIndexResponse;
import dev.berth.http.openinference.Inference.RepositoryModelLoadResponse;
import dev.berth.http.openinference.Inference.RepositoryModelUnloadResponse;
import dev.berth.http.openinference.TritonMessages;
import dev.berth.http.openinference.TritonMessages.Change;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.hooks.Deadline;
import io.javalin.http.Context;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/// Triton's extensions of the Open Inference Protocol: `model_configuration`, `statistics` and
/// `model_repository`. JSON has the fields of gRPC's messages. Runs on the request's virtual
/// thread.
record Triton(
    ServerConfig config,
    NamedModels models,
    Invocations invocations,
    OpenInference v2,
    ServingMetrics metrics) {

  private static final int MAX_BODY_BYTES = 64 << 10;

  /// A flag of Triton's clients for ensembles, which Berth does not have.
  private static final String DEPENDENTS = "unload_dependents";

  /// Paths and methods that Triton has and Berth has not, and what to say of them.
  static Map<String, String> elsewhere() {
    var elsewhere = new HashMap<String, String>();
    for (var path : List.of("/trace/setting", "/models/{name}/trace/setting")) {
      elsewhere.put(OpenInference.ROOT + path, "traces are set at start, by --otlp-endpoint");
    }
    elsewhere.put(Grpc.SERVICE + "TraceSetting", "traces are set at start, by --otlp-endpoint");
    elsewhere.put(OpenInference.ROOT + "/logging", "the log is set at start, by --log-level");
    elsewhere.put(Grpc.SERVICE + "LogSettings", "the log is set at start, by --log-level");
    for (var kind : List.of("System", "Cuda")) {
      for (var verb : List.of("Status", "Register", "Unregister")) {
        var why = "there is no shared memory; tensors are parts of a request";
        var path =
            "%s/%ssharedmemory%%s/%s"
                .formatted(OpenInference.ROOT, kind, verb)
                .toLowerCase(Locale.ROOT);
        elsewhere.put(path.formatted(""), why);
        elsewhere.put(path.formatted("/region/{name}"), why);
        elsewhere.put(Grpc.SERVICE + kind + "SharedMemory" + verb, why);
      }
    }
    return elsewhere;
  }

  void config(Context ctx) throws Exception {
    invocations.ask(ctx, asked -> OpenInference.json(ctx, TritonMessages.json(config(asked))));
  }

  void configByGrpc(Context ctx) throws Exception {
    v2.ask(ctx, asked -> ModelConfigResponse.newBuilder().setConfig(config(asked)).build());
  }

  private ModelConfig config(ModelRequest asked) {
    return TritonMessages.config(
        OpenInference.metadata(asked), config.batching().queueCapacity());
  }

  /// Of all models, or the metadata of one that is called so.
  void allStatistics(Context ctx) throws Exception {
    if (models.has("stats")) {
      invocations.ask(
          ctx,
          Invocations.ANY_TIME,
          _ -> models.target("stats", ""),
          asked -> OpenInference.json(ctx, OpenInference.metadata(asked)));
    } else {
      OpenInference.json(ctx, TritonMessages.json(statistics("", "")));
    }
  }

  void statistics(Context ctx) {
    var path = ctx.pathParamMap();
    OpenInference.json(
        ctx,
        TritonMessages.json(statistics(path.get("name"), path.getOrDefault("version", ""))));
  }

  void statisticsByGrpc(Context ctx) throws Exception {
    v2.call(
        ctx,
        message -> {
          var asked = GrpcMessages.asked(message);
          return statistics(asked.model(), asked.version());
        });
  }

  /// @param name empty: of all models
  private ModelStatisticsResponse statistics(String name, String version) {
    var targets =
        name.isEmpty()
            ? models.list().stream().map(NamedModels.Listed::target).toList()
            : List.of(models.existing(name, version));
    var all = ModelStatisticsResponse.newBuilder();
    for (var target : targets) {
      all.addModelStats(
          TritonMessages.statistics(target, metrics.totals(models.inMetrics(target))));
    }
    return all.build();
  }

  void index(Context ctx) throws Exception {
    withBody(
        ctx,
        fields ->
            OpenInference.json(
                ctx, TritonMessages.json(index(fields.path("ready").asBoolean())).get("models")));
  }

  void indexByGrpc(Context ctx) throws Exception {
    v2.call(ctx, message -> index(TritonMessages.asksForReady(message)));
  }

  private RepositoryIndexResponse index(boolean readyOnly) {
    var index = RepositoryIndexResponse.newBuilder();
    for (var model : models.list()) {
      var state =
          switch (model.status()) {
            case NamedModels.LOADED -> "READY";
            case "loading" -> "LOADING";
            default -> "UNAVAILABLE";
          };
      boolean isReady = state.equals("READY");
      if (isReady || !readyOnly) {
        var reason = model.problem().orElse(isReady ? "" : model.status());
        index.addModels(TritonMessages.indexed(model.target(), state, reason));
      }
    }
    return index.build();
  }

  void load(Context ctx) throws Exception {
    withBody(ctx, fields -> load(change(ctx, fields)));
  }

  void loadByGrpc(Context ctx) throws Exception {
    v2.call(
        ctx,
        message -> {
          load(TritonMessages.change(message));
          return RepositoryModelLoadResponse.getDefaultInstance();
        });
  }

  void unload(Context ctx) throws Exception {
    withBody(ctx, fields -> unload(change(ctx, fields)));
  }

  void unloadByGrpc(Context ctx) throws Exception {
    v2.call(
        ctx,
        message -> {
          unload(TritonMessages.change(message));
          return RepositoryModelUnloadResponse.getDefaultInstance();
        });
  }

  /// Waits until the model is loaded, as the first request for it does.
  private void load(Change change) {
    change.parameters().stream()
        .findFirst()
        .ifPresent(name -> refuse(name, "the artifact says how its model is served"));
    var deadline = Deadline.in(config.multiModel().loadTimeout(), System::nanoTime);
    models.enter(models.existing(change.model(), ""), deadline).close();
  }

  private void unload(Change change) {
    change.parameters().stream()
        .filter(name -> !name.equals(DEPENDENTS))
        .findFirst()
        .ifPresent(name -> refuse(name, "an unload has %s alone".formatted(DEPENDENTS)));
    models.unload(models.existing(change.model(), ""));
  }

  private static void refuse(String parameter, String why) {
    throw ErrorType.BAD_INPUT.because(
        "parameters: found %s, expected none; %s".formatted(Text.quoted(parameter), why));
  }

  private static Change change(Context ctx, JsonNode fields) {
    return new Change(
        ctx.pathParam("name"),
        fields
            .path("parameters")
            .propertyStream()
            .map(Map.Entry::getKey)
            .collect(Collectors.toUnmodifiableSet()));
  }

  /// Reads a body that is a JSON object, or empty.
  private void withBody(Context ctx, Consumer<JsonNode> answer) throws Exception {
    invocations.take(
        ctx,
        MAX_BODY_BYTES,
        Invocations.ANY_TIME,
        (body, _) -> {
          body.checkDeclared();
          body.readAhead();
          answer.accept(fields(body.readAllBytes()));
        });
  }

  private static JsonNode fields(byte[] body) {
    try {
      var fields = body.length == 0 ? JsonNodeFactory.instance.objectNode() : JsonText.read(body);
      if (fields.isObject()) {
        return fields;
      }
    } catch (NotJsonException e) {
      throw ErrorType.BAD_INPUT.because("body: " + e.getMessage(), e);
    }
    throw ErrorType.BAD_INPUT.because("body: found no object, expected {} or nothing");
  }
}
