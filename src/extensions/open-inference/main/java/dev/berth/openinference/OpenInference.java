package dev.berth.openinference;

import com.google.protobuf.Message;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.CallerText;
import dev.berth.http.Invocations;
import dev.berth.http.ModelRequest;
import dev.berth.http.RequestLog;
import dev.berth.http.ServerParts;
import dev.berth.http.TraceParents;
import dev.berth.http.body.RequestBody;
import dev.berth.json.JsonText;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;

/// What the Open Inference Protocol has models do: `/v2` of HTTP, and
/// `inference.GRPCInferenceService`. Requests go the way of `POST /invocations`. Runs on the request's virtual thread.
record OpenInference(ServerParts parts) {

    private static final String HEADER_LENGTH = "Inference-Header-Content-Length";

    private record Ready(String name, boolean ready) {}

    void live(Context ctx) {
        json(ctx, Map.of("live", true));
    }

    void ready(Context ctx) {
        parts.health().problem().ifPresent(problem -> {
            throw ErrorType.NOT_READY.because(problem);
        });
        json(ctx, Map.of("ready", true));
    }

    void modelReady(Context ctx) {
        var model = parts.models().target(ctx);
        parts.models().requireReady(model);
        json(ctx, new Ready(model, true));
    }

    void describe(Context ctx) throws Exception {
        parts.invocations().ask(ctx, asked -> json(ctx, GrpcMessages.json(metadata(asked))));
    }

    void infer(Context ctx) throws Exception {
        var headerLength = headerLength(ctx);
        var invocations = parts.invocations();
        invocations.ask(ctx, asked -> {
            var messages = new JsonMessages(asked.model(), headerLength);
            var type = headerLength.isPresent() ? JsonMessages.BINARY : MediaType.JSON;
            var response = infer(asked, type, messages);
            messages.answered().ifPresent(length -> ctx.header(HEADER_LENGTH, Integer.toString(length)));
            invocations.write(ctx, response);
        });
    }

    void describeByGrpc(Context ctx) throws Exception {
        askByGrpc(ctx, asked -> Grpc.answer(ctx, Grpc.frame(metadata(asked))));
    }

    void inferByGrpc(Context ctx) throws Exception {
        askByGrpc(ctx, asked -> Grpc.answer(ctx, inferByGrpc(asked, false)));
    }

    private void askByGrpc(Context ctx, Invocations.Answering<ModelRequest> answering) throws Exception {
        var invocations = parts.invocations();
        Grpc.take(ctx, invocations, body -> invocations.ask(ctx, target(body), body, answering));
    }

    private byte[] inferByGrpc(ModelRequest asked, boolean inStream) throws IOException {
        return infer(asked, Grpc.TYPE, new ProtobufMessages(asked.model(), inStream))
                .body();
    }

    /// Answers the requests of a stream one after another. Each is a request of its own in metrics
    /// and log; one that fails does not end the stream.
    void inferInStream(Context ctx) throws Exception {
        var call = RequestLog.of(ctx);
        var messages = new AtomicLong();
        var log = parts.log();
        Grpc.takeEach(ctx, parts, body -> {
            var id = "%s-%d".formatted(RequestLog.inferenceId(ctx), messages.incrementAndGet());
            var entry = log.beginMessage(id, ctx.path(), TraceParents.of(ctx));
            RequestLog.set(ctx, entry);
            try {
                answerInStream(ctx, body);
            } finally {
                log.endMessage(entry, ctx.path());
                RequestLog.set(ctx, call);
            }
        });
    }

    private void answerInStream(Context ctx, RequestBody body) throws Exception {
        try {
            parts.invocations().ask(ctx, target(body), body, asked -> Grpc.send(ctx, inferByGrpc(asked, true)));
        } catch (ServingException e) {
            RequestLog.of(ctx).failed(e);
            if (e.type() == ErrorType.CALLER_GONE || parts.health().isStopping()) {
                throw e;
            }
            // The next request may succeed.
            var failed = Inference.ModelStreamInferResponse.newBuilder().setErrorMessage(e.getMessage());
            Grpc.send(ctx, Grpc.frame(failed.build()));
        }
    }

    private static Message metadata(ModelRequest asked) {
        return GrpcMessages.model(
                asked.model(), asked.visit().signature(asked.body().deadline()));
    }

    private InvocationResponse infer(ModelRequest asked, MediaType type, Messages messages) throws IOException {
        return parts.invocations().askWhole(asked, type, type, new InferDialect(messages, asked.visit()));
    }

    /// The name of the model stands at the beginning of a message that may be long.
    private String target(RequestBody body) throws IOException {
        var asked = Asked.first(body.first(), body.isWhole())
                .orElseThrow(() -> ErrorType.BAD_INPUT.because(
                        "message: found no model_name, expected a request that begins with it"));
        return parts.models().target(asked.model(), asked.version());
    }

    private static OptionalInt headerLength(Context ctx) {
        var header = ctx.header(HEADER_LENGTH);
        if (header == null) {
            return OptionalInt.empty();
        }
        if (!header.matches("\\d{1,9}")) {
            throw ErrorType.BAD_INPUT.found(HEADER_LENGTH, CallerText.quoted(header), "a number of bytes");
        }
        return OptionalInt.of(Integer.parseInt(header));
    }

    static void json(Context ctx, Object answer) {
        ctx.contentType(MediaType.JSON.toString()).result(JsonText.write(answer));
    }
}
