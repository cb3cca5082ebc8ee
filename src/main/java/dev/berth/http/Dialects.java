package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.http.clients.ClientPath;
import dev.berth.http.vertex.VertexDialect;
import dev.berth.serving.Dialect;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.UnaryOperator;

/// Where callers speak a dialect of JSON: Vertex AI, clients of KServe's version 1, and those of
/// other servers for ready tasks. Requests are answered by JSON as a whole, and go the way of `POST
/// /invocations`. Runs on the request's virtual thread.
///
/// @param invocations whose way requests go
record Dialects(Invocations invocations) {

  private static final List<MediaType> JSON = List.of(MediaType.JSON);

  void vertex(ModelRequest asked) throws IOException {
    var facts = asked.visit().facts();
    answer(
        asked, VertexDialect.of(facts.requestTypes(), facts.responseTypes()), VertexDialect::named);
  }

  /// @throws ServingException `NOT_FOUND` where the model's task has no answer at this path
  void client(ClientPath path, ModelRequest asked) throws IOException {
    var task = asked.visit().facts().task();
    var dialect =
        path.dialect(task).orElseThrow(() -> ErrorType.NOT_FOUND.because(path.refusal(task)));
    if (dialect.equals(Dialect.NONE)) {
      invocations.answer(asked);
    } else {
      answer(asked, dialect, path::named);
    }
  }

  /// @param named makes a message about the hooks' request one about the caller's
  private void answer(ModelRequest asked, Dialect dialect, UnaryOperator<String> named)
      throws IOException {
    var ctx = asked.ctx();
    var contentType =
        Invocations.contentType(Optional.ofNullable(ctx.header("Content-Type")), JSON);
    var accept = Accept.choose(Optional.ofNullable(ctx.header("Accept")), JSON, MediaType.JSON);
    try {
      invocations.write(ctx, invocations.askWhole(asked, contentType, accept, dialect));
    } catch (ServingException e) {
      throw e.type() == ErrorType.BAD_INPUT ? e.type().because(named.apply(e.getMessage()), e) : e;
    }
  }
}
