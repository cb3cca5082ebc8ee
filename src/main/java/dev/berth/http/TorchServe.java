package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.openinference.InferTarget;
import io.javalin.http.Context;

/// What clients of TorchServe's inference API meet at its paths. Requests go the way of `POST
/// /invocations`; only names differ.
///
/// Source: TorchServe 0.12, `docs/inference_api.md` and the classes of `org.pytorch.serve.http`.
final class TorchServe {

  static final String PREDICTIONS = "/predictions/{name}";
  static final String EXPLANATIONS = "/explanations/{name}";
  static final String VERSION = "/{version}";

  static final String NO_EXPLANATIONS =
      "models explain nothing here; POST /predictions/{name} asks one";

  /// That of a model that nobody gave another.
  private static final String FIRST_VERSION = "1.0";

  private TorchServe() {}

  static boolean has(String path) {
    return path.startsWith("/predictions/") || path.startsWith("/explanations/");
  }

  /// @throws ServingException `NOT_FOUND` where there is none of that name or version
  static InferTarget target(NamedModels models, Context ctx) {
    var path = ctx.pathParamMap();
    var version = path.getOrDefault("version", "");
    return models.target(
        path.get("name"), version.equals(FIRST_VERSION) ? InferTarget.VERSION : version);
  }

  /// The exception that TorchServe would name.
  static String name(ErrorType type, String path) {
    return switch (type) {
      case BAD_INPUT,
          FORBIDDEN,
          NOT_ACCEPTABLE,
          UNSUPPORTED_MEDIA_TYPE,
          UPGRADE_REQUIRED,
          CALLER_GONE ->
          "BadRequestException";
      case NOT_FOUND ->
          path.startsWith("/predictions/") ? "ModelNotFoundException" : "ResourceNotFoundException";
      case METHOD_NOT_ALLOWED -> "MethodNotAllowedException";
      case PAYLOAD_TOO_LARGE -> "RequestEntityTooLargeException";
      case CONFLICT -> "ConflictStatusException";
      case NOT_READY,
          OVERLOADED,
          TOO_MANY_CONNECTIONS,
          TOO_MANY_SESSIONS,
          TOO_MANY_LOADS,
          MEMORY_TAKEN ->
          "ServiceUnavailableException";
      case DEADLINE_EXCEEDED -> "RequestTimeoutException";
      case INTERNAL, INSUFFICIENT_MEMORY -> "InternalServerException";
    };
  }
}
