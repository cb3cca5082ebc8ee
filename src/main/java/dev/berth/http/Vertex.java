package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.http.platform.VertexDialect;
import dev.berth.serving.Deadline;
import dev.berth.serving.ServedModel;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/// Where Vertex AI asks, and clients of KServe's version 1. Requests are JSON, are answered by JSON
/// as a whole, and go the way of `POST /invocations`. Runs on the request's virtual thread.
final class Vertex implements Handler {

  private final BiFunction<Context, Deadline, ServedModel.Visit> visits;
  private final Invocations invocations;

  /// @param visits has the model of a request take it in, by the deadline
  /// @param invocations whose way requests go
  Vertex(BiFunction<Context, Deadline, ServedModel.Visit> visits, Invocations invocations) {
    this.visits = visits;
    this.invocations = invocations;
  }

  @Override
  public void handle(Context ctx) throws IOException {
    invocations.take(
        ctx,
        new Invocations.Exchange() {
          @Override
          public ServedModel.Visit enter(RequestBody body, Deadline deadline) {
            return visits.apply(ctx, deadline);
          }

          @Override
          public void answer(ServedModel.Visit visit, RequestBody body, Deadline deadline)
              throws IOException {
            Vertex.this.answer(ctx, visit, body, deadline);
          }
        });
  }

  private void answer(Context ctx, ServedModel.Visit visit, RequestBody body, Deadline deadline)
      throws IOException {
    var json = List.of(MediaType.JSON);
    var contentType =
        Invocations.contentType(Optional.ofNullable(ctx.header("Content-Type")), json);
    var accept = Accept.choose(Optional.ofNullable(ctx.header("Accept")), json, MediaType.JSON);
    var dialect = VertexDialect.of(visit.requestTypes(), visit.responseTypes());
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
