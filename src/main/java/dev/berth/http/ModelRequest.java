package dev.berth.http;

import dev.berth.http.body.RequestBody;
import dev.berth.http.openinference.InferTarget;
import dev.berth.serving.Call;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import io.javalin.http.Context;

/// A request that a model has taken in.
record ModelRequest(
    Context ctx, InferTarget target, ServedModel.Visit visit, RequestBody body, Deadline deadline) {

  Call call() {
    return Call.of(
        deadline,
        body.memory(),
        Invocations.peerHasGone(ctx),
        Invocations.logContext(),
        RequestLog.of(ctx).trace);
  }
}
