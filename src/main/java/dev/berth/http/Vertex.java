package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.http.vertex.VertexDialect;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// Where Vertex AI asks, and clients of KServe's version 1. Requests are JSON, are answered by JSON
/// as a whole, and go the way of `POST /invocations`. Runs on the request's virtual thread.
final class Vertex {

  private static final List<MediaType> JSON = List.of(MediaType.JSON);

  private Vertex() {}

  /// @param invocations whose way the request goes
  static void answer(Invocations invocations, ModelRequest asked) throws IOException {
    var ctx = asked.ctx();
    var contentType =
        Invocations.contentType(Optional.ofNullable(ctx.header("Content-Type")), JSON);
    var accept = Accept.choose(Optional.ofNullable(ctx.header("Accept")), JSON, MediaType.JSON);
    var dialect =
        VertexDialect.of(
            asked.visit().facts().requestTypes(), asked.visit().facts().responseTypes());
    try {
      invocations.write(ctx, invocations.askWhole(asked, contentType, accept, dialect));
    } catch (ServingException e) {
      throw e.type() == ErrorType.BAD_INPUT
          ? e.type().because(VertexDialect.named(e.getMessage()), e)
          : e;
    }
  }
}
