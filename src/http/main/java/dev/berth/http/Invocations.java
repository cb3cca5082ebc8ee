package dev.berth.http;

import dev.berth.config.ServerConfig;
import dev.berth.config.StreamConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.body.Inflated;
import dev.berth.http.body.RequestBody;
import dev.berth.http.body.Upload;
import dev.berth.serving.Dialect;
import dev.berth.serving.ServedAnswer;
import dev.berth.serving.StreamLimits;
import dev.berth.serving.hooks.Deadline;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;

/// `POST /invocations`, and `POST /models/{name}/invoke`: negotiates the types, asks the model and
/// writes its answer. Runs on the request's virtual thread.
public final class Invocations {

    private static final String CONTENT_ENCODING = "Content-Encoding";
    private static final String IDENTITY = "identity";

    /// How long a connection may be silent between requests.
    private static final Duration IDLE = Duration.ofSeconds(60);

    private static final List<MediaType> JSON = List.of(MediaType.JSON);
    private static final List<MediaType> LINES = List.of(MediaType.JSON_LINES, MediaType.CSV);

    private final ServerConfig config;
    private final NamedModels models;

    /// Nothing in a batch-transform job, where a failed answer must not look like a whole one.
    private final Optional<StreamLimits> streams;

    Invocations(ServerConfig config, NamedModels models) {
        this.config = config;
        this.models = models;
        this.streams = config.transform().batch()
                ? Optional.empty()
                : Optional.of(new StreamLimits(
                        config.of(StreamConfig.class).partTimeout(),
                        config.of(StreamConfig.class).timeout(),
                        false));
    }

    /// How one request, or one message, is answered.
    public interface Answering<T> {
        void answer(T asked) throws Exception;
    }

    /// Has the model asked that the path names, else the only one.
    public void ask(Context ctx, Answering<ModelRequest> answering) throws Exception {
        ask(ctx, () -> models.target(ctx), answering);
    }

    /// Has another model asked.
    public void ask(Context ctx, Supplier<String> model, Answering<ModelRequest> answering) throws Exception {
        take(ctx, most(), body -> ask(ctx, model.get(), body, answering));
    }

    /// Has a model asked by a request of which a part may have been read.
    public void ask(Context ctx, String model, RequestBody body, Answering<ModelRequest> answering) throws Exception {
        try (var visit = models.enter(model, body.deadline())) {
            RequestLog.of(ctx).entered(visit.metrics());
            visit.countMemory(body.memory());
            answering.answer(new ModelRequest(ctx, model, visit, body));
        }
    }

    /// Has a request answered.
    ///
    /// @param most bytes of its body
    public void take(Context ctx, long most, Answering<RequestBody> answering) throws Exception {
        take(
                upload(ctx),
                ctx.req().getContentLengthLong(),
                most,
                config.batching().timeout(),
                body -> {
                    inflate(ctx, body);
                    answering.answer(body);
                });
    }

    /// The same for a body, or a part of one, that is not compressed as HTTP has it.
    ///
    /// @param length of it; -1: it is not known
    /// @param limit how long it may take, where that is less than the server's timeout
    public void takeAsItIs(Upload upload, long length, Duration limit, Answering<RequestBody> answering)
            throws Exception {
        take(
                upload,
                length,
                most(),
                Collections.min(List.of(limit, config.batching().timeout())),
                answering);
    }

    /// Throws away what is left of the body where the request fails.
    private static void take(Upload upload, long length, long most, Duration time, Answering<RequestBody> answering)
            throws Exception {
        var deadline = Deadline.in(time, System::nanoTime);
        try (var body = new RequestBody(upload, length, most, deadline)) {
            try {
                answering.answer(body);
            } catch (ServingException e) {
                body.discard();
                throw e;
            }
        }
    }

    private long most() {
        return config.http().maxPayloadBytes();
    }

    /// The body as it arrives.
    public static Upload upload(Context ctx) {
        var request = ServletContextRequest.getServletContextRequest(ctx.req());
        return new Upload(request, request.getServletContextResponse());
    }

    /// Longer than any request may take, so that no connection counts as idle while its request is
    /// handled.
    public static Duration idle(ServerConfig config) {
        var models = config.multiModel();
        var load = models.enabled() ? models.loadTimeout() : Duration.ZERO;
        return Collections.max(List.of(
                        config.batching().timeout(),
                        load,
                        config.of(StreamConfig.class).partTimeout()))
                .plus(IDLE);
    }

    /// Asks in the hooks' own way, in the types that the hooks read and write.
    public void answer(ModelRequest asked) throws IOException {
        var facts = asked.visit().facts();
        answer(asked, facts.requestTypes(), facts.responseTypes());
    }

    /// Asks in the hooks' own way.
    ///
    /// @param readable the content types that are taken; empty: any
    /// @param writable the content types that are given; empty: any
    public void answer(ModelRequest asked, List<MediaType> readable, List<MediaType> writable) throws IOException {
        var ctx = asked.ctx();
        var visit = asked.visit();
        var session = Headers.of(ctx, SessionProtocol.SESSION_ID).map(id -> SessionProtocol.checked(id, visit));
        var accept =
                Accept.choose(Headers.of(ctx, "Accept"), writable, config.http().defaultAccept());
        // What opens or closes a session is JSON, whatever the hooks read.
        var contentType =
                Headers.contentType(Headers.of(ctx, "Content-Type"), session.isPresent() ? List.of() : readable);
        var request = request(asked, contentType, accept);
        if (session.isPresent()) {
            answerInSession(asked, session.get(), request, readable);
        } else {
            send(ctx, visit.invoke(request, asked.call(streams, Dialect.NONE)));
        }
    }

    /// Waits for the body, once there is room for its records.
    private InvocationRequest request(ModelRequest asked, MediaType contentType, MediaType accept) throws IOException {
        var ctx = asked.ctx();
        var body = asked.body();
        body.type(contentType);
        asked.visit().requireRoom(asked.body().deadline());
        body.readWhole();
        return request(ctx, body, contentType, accept, config.transform().keepBadRecords())
                .withDeadline(body.deadline().nanos());
    }

    /// What the hooks see of a request.
    public static InvocationRequest request(
            Context ctx, InputStream body, MediaType contentType, MediaType accept, boolean keepsBadRecords) {
        return new InvocationRequest(
                        body,
                        contentType,
                        accept,
                        Headers.of(ctx, Headers.CUSTOM_ATTRIBUTES),
                        RequestLog.inferenceId(ctx),
                        keepsBadRecords)
                .withTraceParent(RequestLog.traceParent(ctx))
                .withPath(ctx.path(), Optional.ofNullable(ctx.queryString()))
                .withHeaders(Headers.letThrough(ctx));
    }

    /// Has a request whose body is JSON answered by JSON as a whole, in a dialect.
    ///
    /// @param named makes a message about the hooks' request one about the caller's
    public void answer(ModelRequest asked, Dialect dialect, UnaryOperator<String> named) throws IOException {
        var ctx = asked.ctx();
        var contentType = Headers.contentType(Optional.ofNullable(ctx.header("Content-Type")), JSON);
        var accept = Accept.choose(Optional.ofNullable(ctx.header("Accept")), JSON, MediaType.JSON);
        try {
            write(ctx, askWhole(asked, contentType, accept, dialect));
        } catch (ServingException e) {
            throw e.type() == ErrorType.BAD_INPUT ? e.type().because(named.apply(e.getMessage()), e) : e;
        }
    }

    /// Asks in another way than the hooks', and without parts.
    public InvocationResponse askWhole(ModelRequest asked, MediaType contentType, MediaType accept, Dialect dialect)
            throws IOException {
        var request = request(asked, contentType, accept);
        return switch (asked.visit().invoke(request, asked.call(Optional.empty(), dialect))) {
            case ServedAnswer.Whole(var response, var invocation) -> {
                RequestLog.of(asked.ctx()).served(invocation);
                yield response;
            }
            case ServedAnswer.Streamed<?> _ ->
                throw new IllegalStateException("found an answer in parts, expected a whole one");
        };
    }

    private void answerInSession(ModelRequest asked, String id, InvocationRequest request, List<MediaType> readable) {
        var ctx = asked.ctx();
        var sessions = asked.visit().sessions();
        var deadline = asked.body().deadline();
        var command = SessionProtocol.command(id, asked.body().small(SessionProtocol.LONGEST_COMMAND));
        if (command == SessionProtocol.Command.CLOSE) {
            sessions.close(id, deadline, RequestLog.context());
            SessionProtocol.closed(ctx, id);
            return;
        }
        if (command == SessionProtocol.Command.NONE) {
            var _ = Headers.contentType(Optional.of(request.contentType().toString()), readable);
        }
        boolean isNew = SessionProtocol.isNew(id);
        try (var turn = isNew
                ? sessions.open(request.withBody(InputStream.nullInputStream()), true, deadline, RequestLog.context())
                : sessions.enter(id, deadline)) {
            if (command == SessionProtocol.Command.OPEN) {
                SessionProtocol.opened(ctx, turn);
                return;
            }
            ServedAnswer answer;
            try {
                answer = asked.visit().invokeIn(turn, request, asked.call(streams, Dialect.NONE));
            } catch (ServingException e) {
                if (isNew) {
                    turn.fail();
                }
                throw e;
            }
            if (isNew) {
                SessionProtocol.name(ctx, turn);
            }
            send(ctx, answer);
        }
    }

    private void send(Context ctx, ServedAnswer answer) {
        switch (answer) {
            case ServedAnswer.Whole(var response, var invocation) -> {
                write(ctx, response);
                RequestLog.of(ctx).served(invocation);
            }
            case ServedAnswer.Streamed<?> streamed -> new StreamedBody(ctx, streamed).send();
        }
    }

    /// A body of lines ends without the newline of its last row, because AssembleWith=Line adds one
    /// after each response, or with it where mini-batches are joined as they are. Any other newline
    /// ends a row, be it blank.
    public void write(Context ctx, InvocationResponse response) {
        response.customAttributes().ifPresent(value -> ctx.header(Headers.CUSTOM_ATTRIBUTES, value));
        ctx.contentType(response.contentType().toString());
        var body = response.body();
        int length = body.length;
        if (LINES.contains(response.contentType().withoutParameters()) && length > 0) {
            if (body[length - 1] == '\n') {
                length -= length > 1 && body[length - 2] == '\r' ? 2 : 1;
            }
            if (config.transform().trailingNewline()) {
                if (length == body.length || body[length] != '\n') {
                    body = Arrays.copyOf(body, length + 1);
                    body[length] = '\n';
                }
                length++;
            }
        }
        boolean packs = config.http().compression() && Gzip.pays(ctx, response.contentType(), length);
        Sending.send(ctx, body, length, packs);
    }

    /// Has a compressed body read as it was before.
    private static void inflate(Context ctx, RequestBody body) {
        var coding = Headers.of(ctx, CONTENT_ENCODING).orElse(IDENTITY);
        var name = coding.toLowerCase(Locale.ROOT);
        if (name.equals(IDENTITY)) {
            return;
        }
        if (!Inflated.CODINGS.contains(name)) {
            var taken = String.join(", ", Inflated.CODINGS);
            ctx.header("Accept-Encoding", taken);
            throw ErrorType.UNSUPPORTED_MEDIA_TYPE.found(
                    CONTENT_ENCODING, CallerText.quoted(coding), "one of %s, identity".formatted(taken));
        }
        var _ = body.decode(packed -> new Inflated(packed, name, CONTENT_ENCODING, body.memory()));
    }
}
