package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.CodedOutputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.http.CallerText;
import dev.berth.http.Invocations;
import dev.berth.http.Sending;
import dev.berth.http.ServerParts;
import dev.berth.http.body.Inflated;
import dev.berth.http.body.RequestBody;
import dev.berth.http.body.Upload;
import dev.berth.json.JsonText;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.hooks.Deadline;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.BiFunction;
import java.util.regex.Pattern;

/// What a call of gRPC has around its message: headers of HTTP/2, and trailers that say how it
/// ended. As `PROTOCOL-HTTP2.md` of gRPC has it.
final class Grpc {

    /// The attribute of a call that has begun its answer: the trailers behind it.
    private static final String TRAILERS = Grpc.class.getName();

    private static final String IDENTITY = "identity";
    private static final String TAKEN = IDENTITY + ", " + String.join(", ", Inflated.CODINGS);

    /// In percent-encoding it must fit a header.
    private static final int MOST_SAID = 800;

    /// How soon a call that waits for a message sees that the server stops.
    private static final long BETWEEN_LOOKS_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private static final Pattern TIMEOUT = Pattern.compile("(\\d{1,8})([HMSmun])");
    private static final Map<String, ChronoUnit> UNITS = Map.of(
            "H", ChronoUnit.HOURS,
            "M", ChronoUnit.MINUTES,
            "S", ChronoUnit.SECONDS,
            "m", ChronoUnit.MILLIS,
            "u", ChronoUnit.MICROS,
            "n", ChronoUnit.NANOS);

    /// The type of requests and answers.
    static final MediaType TYPE = MediaType.parse("application/grpc").orElseThrow();

    private Grpc() {}

    /// A message behind its prefix, of the JSON that it has.
    static byte[] frame(Descriptor type, Object json) {
        var message = MessageTree.message(type, json instanceof JsonNode node ? node : JsonText.tree(json));
        int length = message.getSerializedSize();
        RequestMemory.charge(GrpcMessage.PREFIX + length);
        var body =
                ByteBuffer.allocate(GrpcMessage.PREFIX + length).put((byte) 0).putInt(length);
        try {
            message.writeTo(CodedOutputStream.newInstance(body.array(), GrpcMessage.PREFIX, length));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return body.array();
    }

    /// Whether whoever asks reads trailers.
    static boolean isCall(Context ctx) {
        // Not contentType(): Jetty refuses to say it where it has a charset that Java does not know.
        var type = ctx.header("Content-Type");
        return ctx.req().getProtocol().equals("HTTP/2.0") && type != null && type.startsWith(TYPE.toString());
    }

    /// @throws ServingException where this is no call, or its messages are compressed in another way
    private static void require(Context ctx) {
        if (!isCall(ctx)) {
            var type = CallerText.quoted(String.valueOf(ctx.header("Content-Type")));
            throw ErrorType.UNSUPPORTED_MEDIA_TYPE.found(
                    "Content-Type",
                    "%s over %s".formatted(type, ctx.req().getProtocol()),
                    "application/grpc over HTTP/2, at --grpc-port");
        }
        ctx.header("grpc-accept-encoding", TAKEN.replace(" ", ""));
        var coding = coding(ctx);
        if (!coding.equals(IDENTITY) && !Inflated.CODINGS.contains(coding)) {
            throw ErrorType.METHOD_NOT_ALLOWED.found("grpc-encoding", CallerText.quoted(coding), "one of " + TAKEN);
        }
    }

    /// How the messages of a call are compressed that say that they are.
    private static String coding(Context ctx) {
        return Objects.requireNonNullElse(ctx.header("grpc-encoding"), IDENTITY);
    }

    /// How long the client waits.
    static Duration timeout(Context ctx) {
        var header = ctx.header("grpc-timeout");
        if (header == null) {
            return ChronoUnit.FOREVER.getDuration();
        }
        var parts = TIMEOUT.matcher(header);
        if (!parts.matches()) {
            throw ErrorType.BAD_INPUT.found(
                    "grpc-timeout", CallerText.quoted(header), "up to 8 digits and one of H, M, S, m, u and n");
        }
        return Duration.of(Long.parseLong(parts.group(1)), UNITS.get(parts.group(2)));
    }

    /// Reads the message of a call whose request is short, with the time that the call has.
    static void read(Context ctx, ServerParts parts, MethodDescriptor method, BiConsumer<JsonNode, Deadline> reader)
            throws Exception {
        take(
                ctx,
                parts.invocations(),
                body -> reader.accept(MessageTree.read(method.getInputType(), body.first()), body.deadline()));
    }

    /// Answers a call whose request is short: JSON by JSON.
    static Handler query(ServerParts parts, MethodDescriptor method, BiFunction<Queries, JsonNode, Object> answer) {
        return ctx -> read(ctx, parts, method, (asked, deadline) -> {
            var answered = answer.apply(new Queries(parts, deadline), asked);
            answer(ctx, frame(method.getOutputType(), answered));
        });
    }

    /// Has a call with one request answered.
    static void take(Context ctx, Invocations invocations, Invocations.Answering<RequestBody> answering)
            throws Exception {
        require(ctx);
        var upload = Invocations.upload(ctx);
        invocations.takeAsItIs(upload, ctx.req().getContentLengthLong(), timeout(ctx), body -> {
            var message = new GrpcMessage(upload, true);
            var _ = body.decode(_ -> message.inflated(coding(ctx), body.memory()));
            answering.answer(body);
        });
    }

    /// Has the messages of a call answered one after another, until the client sends no more. Each
    /// has the time of a request, and the next one may come as late as that of a connection. None is
    /// awaited while the server stops.
    ///
    /// @param answering may leave the rest of a message. Where that does not come, the call ends
    static void takeEach(Context ctx, ServerParts parts, Invocations.Answering<RequestBody> answering)
            throws Exception {
        require(ctx);
        begin(ctx);
        var upload = Invocations.upload(ctx);
        while (hasNext(upload, parts)) {
            parts.invocations().takeAsItIs(upload, -1, timeout(ctx), body -> {
                var message = new GrpcMessage(upload, false);
                var _ = body.decode(_ -> message.inflated(coding(ctx), body.memory()));
                answering.answer(body);
                message.transferTo(OutputStream.nullOutputStream());
            });
        }
    }

    private static boolean hasNext(Upload upload, ServerParts parts) {
        var silent = Deadline.in(Invocations.idle(parts.config()), System::nanoTime);
        upload.expect(silent, Long.MAX_VALUE);
        while (!upload.await(BETWEEN_LOOKS_NANOS) && !silent.isOver()) {
            if (parts.health().isStopping()) {
                throw ErrorType.NOT_READY.because("the server is stopping");
            }
        }
        return upload.hasMore();
    }

    /// Begins an answer of any number of messages, which succeeds unless [#fail] follows.
    static void begin(Context ctx) {
        var trailers = new ConcurrentHashMap<>(Map.of("grpc-status", "0"));
        ctx.attribute(TRAILERS, trailers);
        ctx.res().setTrailerFields(() -> trailers);
        ctx.status(200).contentType(TYPE.toString());
    }

    /// @param message with its frame
    static void answer(Context ctx, byte[] message) {
        begin(ctx);
        Sending.sendUnmeasured(ctx, message);
    }

    /// Sends one of several messages, at once.
    ///
    /// @param message with its frame
    /// @throws ServingException `CALLER_GONE`
    static void send(Context ctx, byte[] message) {
        try {
            var output = ctx.res().getOutputStream();
            output.write(message);
            output.flush();
        } catch (IOException e) {
            throw ErrorType.CALLER_GONE.because("the caller has gone before its answer was sent", e);
        }
    }

    /// What clients see as the call's status. The answer's own is always 200.
    static void fail(Context ctx, ServingException e) {
        if (ctx.attribute(TRAILERS) == null) {
            begin(ctx);
        }
        Map<String, String> trailers = Objects.requireNonNull(ctx.attribute(TRAILERS));
        trailers.put("grpc-status", Integer.toString(status(e.type())));
        trailers.put("grpc-message", encoded(CallerText.cut(String.valueOf(e.getMessage()), MOST_SAID)));
        Sending.sendUnmeasured(ctx, new byte[0]);
    }

    /// UNAVAILABLE is what clients try again.
    private static int status(ErrorType type) {
        return switch (type) {
            case CALLER_GONE -> 1;
            case BAD_INPUT, NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE -> 3;
            case DEADLINE_EXCEEDED -> 4;
            case NOT_FOUND -> 5;
            case FORBIDDEN -> 7;
            case PAYLOAD_TOO_LARGE, INSUFFICIENT_MEMORY -> 8;
            case CONFLICT -> 10;
            case METHOD_NOT_ALLOWED, UPGRADE_REQUIRED -> 12;
            case INTERNAL -> 13;
            case NOT_READY, OVERLOADED, TOO_MANY_CONNECTIONS, TOO_MANY_SESSIONS, TOO_MANY_LOADS, MEMORY_TAKEN -> 14;
        };
    }

    private static String encoded(String message) {
        return URLEncoder.encode(message, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
