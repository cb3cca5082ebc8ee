package dev.berth.http;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.serving.ServedModel;
import io.javalin.http.Context;
import java.lang.management.ManagementFactory;
import java.util.List;

/// OpenAI's paths: which there are, the types that they take and give, and the list of models.
record OpenAi(NamedModels models) {

  static final String EMBEDDINGS = "/v1/embeddings";

  /// Those that ask the model.
  private static final List<String> ASKING =
      List.of("/v1/chat/completions", "/v1/completions", EMBEDDINGS);

  static final String MODELS = "/v1/models";
  static final String MODEL = MODELS + "/{name}";

  /// Whether a path is of OpenAI's. Some of its clients show nothing of an error that is not inside
  /// an `error`.
  static boolean has(String path) {
    return path.startsWith("/v1/");
  }

  /// @throws ServingException `NOT_FOUND` where the hooks do not answer a path of these: they would
  ///   only say that the body is wrong
  static void require(String path, ServedModel.Visit visit) {
    if (ASKING.contains(path) && !visit.facts().openAiPaths().contains(path)) {
      throw ErrorType.NOT_FOUND.because(
          "%s: this model %s, or its hooks do not say so in openAiPaths(); POST /invocations asks it"
              .formatted(path, path.equals(EMBEDDINGS) ? "makes no embeddings" : "writes no text"));
    }
  }

  /// The content types that a path takes: JSON alone, if it is one of these.
  static List<MediaType> requestTypes(String path, ServedModel.Visit visit) {
    return ASKING.contains(path) ? List.of(MediaType.JSON) : visit.facts().requestTypes();
  }

  /// The content types that a path gives: JSON, and events of a text while it is written.
  static List<MediaType> responseTypes(String path, ServedModel.Visit visit) {
    var types = visit.facts().responseTypes();
    if (!ASKING.contains(path)) {
      return types;
    }
    return !path.equals(EMBEDDINGS) && (types.isEmpty() || types.contains(MediaType.EVENT_STREAM))
        ? List.of(MediaType.JSON, MediaType.EVENT_STREAM)
        : List.of(MediaType.JSON);
  }

  /// Lists the models that can be asked.
  void models(Context ctx) {
    var list = JsonNodeFactory.instance.objectNode().put("object", "list");
    list.putArray("data").addAll(models.ready().stream().map(OpenAi::model).toList());
    ctx.contentType(MediaType.JSON.toString()).result(list.toString());
  }

  /// A model that can be asked, for OpenAI's clients and for those of KServe's version 1.
  static ObjectNode model(String name) {
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
