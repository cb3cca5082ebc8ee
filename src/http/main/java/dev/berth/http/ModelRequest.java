package dev.berth.http;

import dev.berth.http.body.RequestBody;
import dev.berth.serving.Call;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import io.javalin.http.Context;

/// A request that a model has taken in.
public record ModelRequest(
        Context ctx, ModelTarget target, ServedModel.Visit visit, RequestBody body, Deadline deadline) {

    /// How the model is called for it.
    public Call call() {
        return Call.of(deadline, body.memory(), Peer.hasGone(ctx), RequestLog.context(), RequestLog.of(ctx).trace);
    }
}
