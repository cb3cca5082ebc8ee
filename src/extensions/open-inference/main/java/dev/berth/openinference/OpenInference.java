package dev.berth.openinference;

import com.google.protobuf.DiscardUnknownFieldsParser;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Parser;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.CallerText;
import dev.berth.http.Invocations;
import dev.berth.http.RequestLog;
import dev.berth.http.ServerParts;
import dev.berth.http.body.RequestBody;
import dev.berth.openinference.Inference.ModelReadyRequest;
import dev.berth.openinference.Inference.ModelStreamInferResponse;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicLong;

/// Inference as the Open Inference Protocol has it, over HTTP and gRPC. Requests go the way of `POST
/// /invocations`. Runs on the request's virtual thread.
record OpenInference(ServerParts parts) {

    private static final String HEADER_LENGTH = "Inference-Header-Content-Length";

    /// Reads of a request for inference the two fields that both have under one number.
    private static final Parser<ModelReadyRequest> NAMES = DiscardUnknownFieldsParser.wrap(ModelReadyRequest.parser());

    void infer(Context ctx) throws Exception {
        var headerLength = headerLength(ctx);
        parts.invocations().ask(ctx, asked -> {
            var messages = new JsonMessages(asked.model(), headerLength);
            var type = headerLength.isPresent() ? JsonMessages.BINARY : MediaType.JSON;
            var response = infer(asked, type, messages);
            messages.answered().ifPresent(length -> ctx.header(HEADER_LENGTH, Integer.toString(length)));
            asked.write(response);
        });
    }

    void inferByGrpc(Context ctx) throws Exception {
        var invocations = parts.invocations();
        Grpc.take(
                ctx,
                invocations,
                body -> invocations.ask(ctx, target(body), body, asked -> Grpc.answer(ctx, inferByGrpc(asked, false))));
    }

    private static byte[] inferByGrpc(Invocations.Asked asked, boolean inStream) throws IOException {
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
            var entry = log.beginMessage(id, ctx.path(), call.parent);
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
            Grpc.send(
                    ctx, Grpc.frame(ModelStreamInferResponse.getDescriptor(), Map.of("error_message", e.getMessage())));
        }
    }

    private static InvocationResponse infer(Invocations.Asked asked, MediaType type, Messages messages)
            throws IOException {
        return asked.askWhole(type, type, new InferDialect(messages, asked.visit()));
    }

    /// The model's names stand at the beginning of a message that may be long, as all of protobuf's
    /// libraries write them.
    private String target(RequestBody body) throws IOException {
        ModelReadyRequest names;
        try {
            names = NAMES.parseFrom(body.first());
        } catch (InvalidProtocolBufferException e) {
            // What has been read ends in a field.
            names = (ModelReadyRequest) e.getUnfinishedMessage();
        }
        return parts.models().target(names.getName(), names.getVersion());
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
}
