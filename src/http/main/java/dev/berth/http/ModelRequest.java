package dev.berth.http;

import dev.berth.batching.Caller;
import dev.berth.http.body.RequestBody;
import dev.berth.serving.Call;
import dev.berth.serving.Dialect;
import dev.berth.serving.ServedModel;
import dev.berth.serving.StreamLimits;
import io.javalin.http.Context;
import java.util.Optional;

/// A request that a model has taken in.
///
/// @param model its name, as the client has it
public record ModelRequest(Context ctx, String model, ServedModel.Visit visit, RequestBody body) {

    /// How the model is called for it.
    Call call(Optional<StreamLimits> streams, Dialect dialect) {
        var caller = new Caller(OpenRequests.hasGone(ctx), RequestLog.context(), RequestLog.of(ctx).trace);
        return new Call(body.deadline(), body.memory(), caller, streams, dialect);
    }
}
