package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.http.vertex.VertexDialect;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// Where Vertex AI asks, and clients of KServe's version 1. Requests are JSON, are answered by JSON
/// as a whole, and go the way of `POST /invocations`. Runs on the request's virtual thread.
final class Vertex {

  private static final List<MediaType> JSON = List.of(MediaType.JSON);

  private Vertex() {}

  /// @param invocations whose way the request goes
  static void answer(
      Invocations invocations,
      Context ctx,
      ServedModel.Visit visit,
      RequestBody body,
      Deadline deadline)
      throws IOException {
    var contentType =
        Invocations.contentType(Optional.ofNullable(ctx.header("Content-Type")), JSON);
    var accept = Accept.choose(Optional.ofNullable(ctx.header("Accept")), JSON, MediaType.JSON);
    var dialect = VertexDialect.of(visit.facts().requestTypes(), visit.facts().responseTypes());
    try {
      invocations.write(
          ctx, invocations.askWhole(ctx, visit, body, contentType, accept, dialect, deadline));
    } catch (ServingException e) {
      throw e.type() == ErrorType.BAD_INPUT
          ? new ServingException(e.type(), VertexDialect.named(e.getMessage()), e)
          : e;
    }
  }
}
