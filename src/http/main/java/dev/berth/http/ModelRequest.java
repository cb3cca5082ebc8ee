package dev.berth.http;

import dev.berth.http.body.RequestBody;
import dev.berth.serving.Call;
import dev.berth.serving.ServedModel;
import io.javalin.http.Context;

/// A request that a model has taken in.
///
/// @param model its name, as the client has it
public record ModelRequest(Context ctx, String model, ServedModel.Visit visit, RequestBody body) {

    /// How the model is called for it.
    public Call call() {
        return Call.of(
                body.deadline(), body.memory(), Peer.hasGone(ctx), RequestLog.context(), RequestLog.of(ctx).trace);
    }
}
