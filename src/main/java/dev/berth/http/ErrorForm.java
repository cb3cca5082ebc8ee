package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.hooks.MediaType;
import io.javalin.http.Context;

/// How a failure is said to a caller: the form that its protocol has for errors.
enum ErrorForm {
  /// `{"message": …, "type": …, "code": …}`.
  PLAIN(Errors.CONTENT_TYPE),
  /// The same inside an `error`, as OpenAI and Google have it.
  NESTED(MediaType.JSON.toString()),
  /// `{"error": …}`, as the Open Inference Protocol and Hugging Face have it. KServe's client shows
  /// no error whose type has a parameter.
  TEXT(MediaType.JSON.toString()),
  /// `{"error": …, "error_type": …}` of Text Embeddings Inference, with its statuses.
  TEXT_EMBEDDINGS(MediaType.JSON.toString()),
  /// The same as `PLAIN`, with the names of TorchServe's exceptions as types.
  TORCHSERVE(Errors.CONTENT_TYPE);

  private static final String CHOSEN = ErrorForm.class.getName();

  final String contentType;

  ErrorForm(String contentType) {
    this.contentType = contentType;
  }

  /// Has the failures of a request said in this form, whatever its path.
  void choose(Context ctx) {
    ctx.attribute(CHOSEN, this);
  }

  /// @param isGoogles whether the path is that of Vertex AI
  static ErrorForm of(Context ctx, boolean isGoogles) {
    return ctx.attribute(CHOSEN) instanceof ErrorForm chosen
        ? chosen
        : OpenAi.has(ctx.path()) || isGoogles
            ? NESTED
            : OpenInference.has(ctx.path())
                ? TEXT
                : TorchServe.has(ctx.path()) ? TORCHSERVE : PLAIN;
  }

  int status(ErrorType type) {
    if (this != TEXT_EMBEDDINGS) {
      return type.status();
    }
    return switch (type) {
      case BAD_INPUT -> 422;
      case NOT_FOUND, INTERNAL -> 424;
      case OVERLOADED, TOO_MANY_CONNECTIONS, TOO_MANY_SESSIONS, TOO_MANY_LOADS, MEMORY_TAKEN -> 429;
      default -> type.status();
    };
  }

  /// @param path of the request
  byte[] body(ErrorType type, String message, String path) {
    return switch (this) {
      case PLAIN -> Errors.body(type, message);
      case NESTED -> Errors.wrapped(type, message);
      case TEXT -> Errors.alone(message);
      case TEXT_EMBEDDINGS -> Errors.typed(typeOfTextEmbeddings(type), message);
      case TORCHSERVE -> Errors.named(TorchServe.name(type, path), type, message);
    };
  }

  private static String typeOfTextEmbeddings(ErrorType type) {
    return switch (type) {
      case NOT_READY -> "Unhealthy";
      case OVERLOADED, TOO_MANY_CONNECTIONS, TOO_MANY_SESSIONS, TOO_MANY_LOADS, MEMORY_TAKEN ->
          "Overloaded";
      case NOT_FOUND, INTERNAL, DEADLINE_EXCEEDED, INSUFFICIENT_MEMORY, CALLER_GONE -> "Backend";
      case BAD_INPUT,
          FORBIDDEN,
          METHOD_NOT_ALLOWED,
          NOT_ACCEPTABLE,
          PAYLOAD_TOO_LARGE,
          UNSUPPORTED_MEDIA_TYPE,
          CONFLICT,
          UPGRADE_REQUIRED ->
          "Validation";
    };
  }
}
