package dev.berth.http;

import dev.berth.batching.Caller;
import dev.berth.config.HttpConfig;
import dev.berth.config.ModelConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.ServingConfig;
import dev.berth.config.ServingConfig.BadRecords;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.body.Inflated;
import dev.berth.http.body.RequestBody;
import dev.berth.http.body.Upload;
import dev.berth.serving.Call;
import dev.berth.serving.Dialect;
import dev.berth.serving.ServedAnswer;
import dev.berth.serving.ServedModel;
import dev.berth.serving.StreamLimits;
import dev.berth.serving.hooks.Deadline;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
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

    private final ServerConfig config;
    private final NamedModels models;

    /// Nothing in a batch-transform job, where a failed answer must not look like a whole one.
    private final Optional<StreamLimits> streams;

    Invocations(ServerConfig config, NamedModels models) {
        this.config = config;
        this.models = models;
        this.streams = config.get(ServingConfig.BATCH)
                ? Optional.empty()
                : Optional.of(new StreamLimits(
                        config.get(ServingConfig.STREAM_PART_TIMEOUT),
                        config.get(ServingConfig.STREAM_TIMEOUT),
                        false));
    }

    /// How one request, or one message, is answered.
    public interface Answering<T> {
        void answer(T asked) throws Exception;
    }

    /// Has the model asked that the path names, else the only one.
    public void ask(Context ctx, Answering<Asked> answering) throws Exception {
        ask(ctx, () -> models.target(ctx), answering);
    }

    /// Has another model asked.
    public void ask(Context ctx, Supplier<String> model, Answering<Asked> answering) throws Exception {
        take(ctx, most(), body -> ask(ctx, model.get(), body, answering));
    }

    /// Has a model asked by a request of which a part may have been read.
    public void ask(Context ctx, String model, RequestBody body, Answering<Asked> answering) throws Exception {
        try (var visit = models.enter(model, body.deadline())) {
            RequestLog.of(ctx).entered(visit.metrics());
            visit.countMemory(body.memory());
            answering.answer(new Asked(ctx, model, visit, body));
        }
    }

    /// Has a request answered.
    ///
    /// @param most bytes of its body
    public void take(Context ctx, long most, Answering<RequestBody> answering) throws Exception {
        take(upload(ctx), ctx.req().getContentLengthLong(), most, config.get(ServingConfig.TIMEOUT), body -> {
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
        take(upload, length, most(), Collections.min(List.of(limit, config.get(ServingConfig.TIMEOUT))), answering);
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
        return config.get(HttpConfig.MAX_PAYLOAD);
    }

    /// The body as it arrives.
    public static Upload upload(Context ctx) {
        var request = ServletContextRequest.getServletContextRequest(ctx.req());
        return new Upload(request, request.getServletContextResponse());
    }

    /// Longer than any request may take, so that no connection counts as idle while its request is
    /// handled.
    public static Duration idle(ServerConfig config) {
        var load = ModelConfig.areMany(config) ? config.get(ModelConfig.LOAD_TIMEOUT) : Duration.ZERO;
        return Collections.max(
                        List.of(config.get(ServingConfig.TIMEOUT), load, config.get(ServingConfig.STREAM_PART_TIMEOUT)))
                .plus(IDLE);
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
                .withTraceParent(RequestLog.of(ctx).traceParent())
                .withPath(ctx.path(), Optional.ofNullable(ctx.queryString()))
                .withHeaders(Headers.letThrough(ctx));
    }

    /// A request that a model has taken in.
    public final class Asked {
        private final Context ctx;
        private final String model;
        private final ServedModel.Visit visit;
        private final RequestBody body;

        private Asked(Context ctx, String model, ServedModel.Visit visit, RequestBody body) {
            this.ctx = ctx;
            this.model = model;
            this.visit = visit;
            this.body = body;
        }

        /// Its name, as the client has it.
        public String model() {
            return model;
        }

        public ServedModel.Visit visit() {
            return visit;
        }

        public Deadline deadline() {
            return body.deadline();
        }

        /// Answers in the hooks' own way, in the types that the hooks read and write.
        public void answer() throws IOException {
            answer(visit.facts().requestTypes(), visit.facts().responseTypes());
        }

        /// Answers in the hooks' own way.
        ///
        /// @param readable the content types that are taken; empty: any
        /// @param writable the content types that are given; empty: any
        public void answer(List<MediaType> readable, List<MediaType> writable) throws IOException {
            var session = Headers.of(ctx, SessionProtocol.SESSION_ID).map(id -> SessionProtocol.checked(id, visit));
            var accept = Accept.choose(Headers.of(ctx, "Accept"), writable, config.get(HttpConfig.DEFAULT_ACCEPT));
            // What opens or closes a session is JSON, whatever the hooks read.
            var request = request(Headers.contentType(ctx, session.isPresent() ? List.of() : readable), accept);
            if (session.isPresent()) {
                answerInSession(session.get(), request, readable);
            } else {
                send(visit.invoke(request, call(streams, Dialect.NONE)));
            }
        }

        /// Answers a body of JSON by JSON as a whole, in a dialect.
        ///
        /// @param named makes a message about the hooks' request one about the caller's
        public void answer(Dialect dialect, UnaryOperator<String> named) throws IOException {
            var accept = Accept.choose(Headers.of(ctx, "Accept"), JSON, MediaType.JSON);
            try {
                write(askWhole(Headers.contentType(ctx, JSON), accept, dialect));
            } catch (ServingException e) {
                throw e.type() == ErrorType.BAD_INPUT ? e.type().because(named.apply(e.getMessage()), e) : e;
            }
        }

        /// Asks in another way than the hooks', and without parts.
        public InvocationResponse askWhole(MediaType contentType, MediaType accept, Dialect dialect)
                throws IOException {
            var request = request(contentType, accept);
            var whole = (ServedAnswer.Whole) visit.invoke(request, call(Optional.empty(), dialect));
            RequestLog.of(ctx).served(whole.invocation());
            return whole.response();
        }

        public void write(InvocationResponse response) {
            Sending.send(ctx, response, config);
        }

        /// Waits for the body, once there is room for its records.
        private InvocationRequest request(MediaType contentType, MediaType accept) throws IOException {
            body.type(contentType);
            visit.requireRoom(body.deadline());
            body.readWhole();
            return Invocations.request(
                            ctx, body, contentType, accept, config.get(ServingConfig.BAD_RECORDS) == BadRecords.KEEP)
                    .withDeadline(body.deadline().nanos());
        }

        private Call call(Optional<StreamLimits> streams, Dialect dialect) {
            var caller = new Caller(OpenRequests.hasGone(ctx), RequestLog.context(), RequestLog.of(ctx).trace);
            return new Call(body.deadline(), body.memory(), caller, streams, dialect);
        }

        private void answerInSession(String id, InvocationRequest request, List<MediaType> readable) {
            var sessions = visit.sessions();
            var command = SessionProtocol.command(id, body.small(SessionProtocol.LONGEST_COMMAND));
            if (command == SessionProtocol.Command.CLOSE) {
                sessions.close(id, body.deadline(), RequestLog.context());
                SessionProtocol.closed(ctx, id);
                return;
            }
            if (command == SessionProtocol.Command.NONE) {
                var _ = Headers.contentType(ctx, readable);
            }
            boolean isNew = SessionProtocol.isNew(id);
            var opening = request.withBody(InputStream.nullInputStream());
            try (var turn = isNew
                    ? sessions.open(opening, true, body.deadline(), RequestLog.context())
                    : sessions.enter(id, body.deadline())) {
                if (command == SessionProtocol.Command.OPEN) {
                    SessionProtocol.opened(ctx, turn);
                    return;
                }
                ServedAnswer answer;
                try {
                    answer = visit.invokeIn(turn, request, call(streams, Dialect.NONE));
                } catch (ServingException e) {
                    if (isNew) {
                        turn.fail();
                    }
                    throw e;
                }
                if (isNew) {
                    SessionProtocol.name(ctx, turn);
                }
                send(answer);
            }
        }

        private void send(ServedAnswer answer) {
            switch (answer) {
                case ServedAnswer.Whole(var response, var invocation) -> {
                    write(response);
                    RequestLog.of(ctx).served(invocation);
                }
                case ServedAnswer.Streamed<?> streamed -> new StreamedBody(ctx, streamed).send();
            }
        }
    }
}
