package dev.berth.sockets;

import dev.berth.batching.Caller;
import dev.berth.config.HttpConfig;
import dev.berth.config.ServingConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.http.Accept;
import dev.berth.http.CallerText;
import dev.berth.http.ErrorForm;
import dev.berth.http.RequestLog;
import dev.berth.http.ServerParts;
import dev.berth.http.connections.OpenConnection;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.Call;
import dev.berth.serving.Dialect;
import dev.berth.serving.Invocation;
import dev.berth.serving.ServedAnswer;
import dev.berth.serving.ServedModel;
import dev.berth.serving.StreamLimits;
import dev.berth.serving.hooks.Deadline;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.eclipse.jetty.websocket.api.StatusCode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One WebSocket: each message is a request, and they are answered one after another.
///
/// Jetty's threads gather a message and return. A virtual thread answers it, after those that came
/// before it. So a socket without messages has no thread. While [#MOST_WAITING] messages
/// wait, no more are read.
///
/// A part of an answer is a frame, and an empty frame follows the last one. AWS documents no such
/// end; this one is Berth's own. A whole answer is one frame.
public final class Socket implements Session.Listener {

    private static final Logger log = LoggerFactory.getLogger(Socket.class);

    static final String PATH = "/invocations-bidirectional-stream";

    private static final int MOST_WAITING = 8;
    private static final int MOST_WAITING_BYTES = 1 << 20;

    /// What a message takes besides its bytes.
    private static final int MESSAGE = 1 << 10;

    /// What is likely to be made of a message: its text, and what the hook makes of that.
    private static final int LIKELY = 4;

    /// How long a client has to close its side after it was told why.
    private static final int CLOSING_SECONDS = 1;

    /// What was agreed on in the handshake.
    ///
    /// @param model has the model take a message in
    /// @param memory of a message, which counts as its model's
    /// @param handshake what all messages have in common
    /// @param headers the handshake's that hooks may see
    /// @param session that all messages are in
    record Terms(
            Supplier<ServedModel.Visit> model,
            Supplier<RequestMemory> memory,
            InvocationRequest handshake,
            Map<String, String> headers,
            Optional<OpenSession> session) {}

    /// A session.
    ///
    /// @param atEnd what is to be done when the socket is closed
    record OpenSession(String id, Runnable atEnd) {}

    private final ServerParts parts;
    private final Terms terms;
    private final LongSupplier clock;
    private final Scheduler scheduler;
    private final OpenConnection connection;

    /// For a message to be whole, and for its answer to begin.
    private final Duration timeout;

    private volatile Session session;
    private volatile boolean closed;

    // Used by the thread that answers.
    private long messages;
    private OpenConnection.Call call;

    // Guarded by this.
    private int waiting;
    private long waitingBytes;
    private boolean paused;

    /// What has come last, and all before it, are answered.
    private CompletableFuture<?> answered = CompletableFuture.completedFuture(null);

    /// What is being received; null where no message has begun.
    private Message arriving;

    /// A message, from its first frame until it is answered. What has arrived is guarded by the
    /// socket, until it is whole.
    private final class Message {
        private final boolean isText;
        private final RequestMemory taken = terms.memory.get();
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream(0);
        private Scheduler.Task limit = () -> true;
        private Deadline deadline;

        private Message(boolean isText) {
            this.isText = isText;
        }

        private void add(ByteBuffer more) {
            // While the array grows, there are two.
            taken.addAtOnce(2L * more.remaining());
            bytes.writeBytes(BufferUtil.toArray(more));
        }

        private void close() {
            limit.cancel();
            taken.close();
        }
    }

    Socket(ServerParts parts, Terms terms, LongSupplier clock, Scheduler scheduler, OpenConnection connection) {
        this.parts = parts;
        this.terms = terms;
        this.clock = clock;
        this.scheduler = scheduler;
        this.connection = connection;
        this.timeout = parts.config().get(ServingConfig.TIMEOUT);
    }

    /// The handshake was accepted. A client that leaves at this very moment must not keep a session.
    void expectOpen() {
        connection.becomeSocket(this::makeWay, this::end);
    }

    @Override
    public void onWebSocketOpen(Session opened) {
        session = opened;
        parts.metrics().sockets.incrementAndGet();
        opened.demand();
    }

    @Override
    public void onWebSocketPartialText(String payload, boolean last) {
        receive(ByteBuffer.wrap(payload.getBytes(StandardCharsets.UTF_8)), true, last);
    }

    @Override
    public void onWebSocketPartialBinary(ByteBuffer payload, boolean last, Callback callback) {
        receive(payload, false, last);
        callback.succeed();
    }

    private void receive(ByteBuffer payload, boolean isText, boolean isLast) {
        try {
            if (gather(payload, isText, isLast)) {
                session.demand();
            }
        } catch (ServingException e) {
            refuse(
                    e.type() == ErrorType.PAYLOAD_TOO_LARGE ? StatusCode.MESSAGE_TOO_LARGE : StatusCode.TRY_AGAIN_LATER,
                    e.getMessage());
        }
    }

    /// Takes a part of a message; false: no more is to be read now.
    private synchronized boolean gather(ByteBuffer payload, boolean isText, boolean isLast) {
        if (closed) {
            return false;
        }
        if (arriving == null) {
            arriving = new Message(isText);
            arriving.taken.addAtOnce(MESSAGE);
            if (!isLast) {
                arriving.limit = scheduler.schedule(this::giveUp, timeout.toMillis(), TimeUnit.MILLISECONDS);
            }
        }
        long most = parts.config().get(HttpConfig.MAX_PAYLOAD);
        if (arriving.bytes.size() + (long) payload.remaining() > most) {
            throw ErrorType.PAYLOAD_TOO_LARGE.because(
                    "a message has more than the %d bytes that SAGEMAKER_MAX_PAYLOAD_IN_MB allows".formatted(most));
        }
        arriving.add(payload);
        if (isLast) {
            var message = arriving;
            arriving = null;
            message.limit.cancel();
            message.deadline = Deadline.in(timeout, clock);
            waiting++;
            waitingBytes += message.bytes.size();
            answered = answered.thenRunAsync(
                            () -> answerInTurn(message),
                            task -> Thread.ofVirtual().name("berth-socket").start(task))
                    .handle((_, failure) -> ended(message, failure));
            paused = !hasRoom();
        }
        return !paused;
    }

    private void giveUp() {
        refuse(
                StatusCode.POLICY_VIOLATION,
                "a message was not whole within %d s of its first frame".formatted(timeout.toSeconds()));
    }

    private boolean hasRoom() {
        return waiting < MOST_WAITING && waitingBytes < MOST_WAITING_BYTES;
    }

    /// Runs on a virtual thread of the message's own, once those before it are answered.
    private void answerInTurn(Message message) {
        boolean resume;
        synchronized (this) {
            waiting--;
            waitingBytes -= message.bytes.size();
            resume = paused && hasRoom() && !closed;
            paused &= !resume;
        }
        if (resume) {
            session.demand();
        }
        if (!closed) {
            call = connection.begin();
            try {
                answer(message);
            } finally {
                call.end();
            }
        }
    }

    /// @param failure that is no answer's, such as that there was no memory for a thread; null for none
    private Void ended(Message message, Throwable failure) {
        message.close();
        if (failure != null) {
            parts.metrics().caught(failure.getCause());
            log.error("a message of a socket could not be answered", Unsaid.of(failure.getCause()));
            refuse(StatusCode.SERVER_ERROR, "the server failed; its log says why");
        }
        return null;
    }

    private void answer(Message message) {
        var id = "%s-%d".formatted(terms.handshake.inferenceId(), ++messages);
        var entry = parts.log().beginMessage(id, terms.handshake.path(), terms.handshake.traceParent());
        try (var visit = terms.model.get()) {
            entry.entered(visit.metrics());
            entry.served(exchange(message, visit, id, entry));
        } catch (ServingException e) {
            entry.failed(e);
            fail(e);
        } catch (IOException e) {
            entry.failed(ErrorType.CALLER_GONE.because("the caller has gone before its answer was sent", e));
        } finally {
            parts.log().endMessage(entry, PATH);
        }
    }

    private Invocation exchange(Message message, ServedModel.Visit visit, String id, RequestLog.Entry entry)
            throws IOException {
        if (message.deadline.isOver()) {
            throw ErrorType.DEADLINE_EXCEEDED.because("the message's time ran out behind others of its socket");
        }
        visit.requireRoom(message.deadline);
        message.taken.add((long) LIKELY * message.bytes.size());
        var request = request(message, visit, id).withTraceParent(entry.traceParent());
        var limits = new StreamLimits(
                parts.config().get(ServingConfig.STREAM_PART_TIMEOUT),
                parts.config().get(ServingConfig.STREAM_TIMEOUT),
                true);
        var caller = new Caller(() -> closed, RequestLog.context(), entry.trace);
        var call = new Call(message.deadline, message.taken, caller, Optional.of(limits), Dialect.NONE);
        if (terms.session.isEmpty()) {
            return send(visit.invoke(request, call));
        }
        try (var turn = visit.sessions().enter(terms.session.get().id, message.deadline)) {
            return send(visit.invokeIn(turn, request, call));
        }
    }

    private InvocationRequest request(Message message, ServedModel.Visit visit, String id) {
        var handshake = terms.handshake;
        var ofFrame = message.isText ? MediaType.JSON : MediaType.BYTES;
        var type = handshake.header("Content-Type").isPresent() ? handshake.contentType() : ofFrame;
        var accept = Accept.choose(
                handshake.header("Accept"),
                visit.facts().responseTypes(),
                message.isText ? parts.config().get(HttpConfig.DEFAULT_ACCEPT) : MediaType.BYTES);
        return new InvocationRequest(
                        new ByteArrayInputStream(message.bytes.toByteArray()),
                        type,
                        accept,
                        handshake.customAttributes(),
                        id,
                        false)
                .withPath(handshake.path(), handshake.query())
                .withHeaders(terms.headers)
                .withDeadline(message.deadline.nanos());
    }

    private Invocation send(ServedAnswer answer) throws IOException {
        return switch (answer) {
            case ServedAnswer.Whole(var response, var invocation) -> {
                send(response.body(), response.contentType());
                yield invocation;
            }
            case ServedAnswer.Streamed<?> streamed -> {
                sendParts(streamed);
                yield streamed.invocation();
            }
        };
    }

    private void sendParts(ServedAnswer.Streamed<?> answer) throws IOException {
        answer.whenLate(session::disconnect);
        try {
            for (var part = answer.next(); part.isPresent(); part = answer.next()) {
                if (part.get().length > 0) {
                    send(part.get(), answer.contentType());
                }
            }
            send(new byte[0], answer.contentType());
        } catch (IOException e) {
            answer.abandon();
            throw e;
        } catch (ServingException e) {
            // The caller has the beginning of an answer, and must not take it for the whole.
            refuse(StatusCode.SERVER_ERROR, e.getMessage());
            throw e;
        }
    }

    /// Sends a frame, and waits until it has left: who does not read waits for its own answers only.
    private void send(byte[] data, MediaType type) throws IOException {
        var sent = new Callback.Completable();
        // A text frame must be UTF-8.
        var text = CallerText.isText(type) ? CallerText.ofUtf8(data) : Optional.<String>empty();
        if (text.isPresent()) {
            session.sendText(text.get(), sent);
        } else {
            session.sendBinary(ByteBuffer.wrap(data), sent);
        }
        call.await();
        try {
            sent.get();
        } catch (ExecutionException e) {
            throw new IOException("the frame could not be sent", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("the wait for the frame to leave was interrupted", e);
        } finally {
            call.goOn();
        }
    }

    /// Says in a frame why there is no answer. The socket stays open, unless the server stops.
    private void fail(ServingException failure) {
        if (closed) {
            return;
        }
        try {
            send(ErrorForm.NESTED.body(failure.type(), failure.getMessage()), MediaType.JSON);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
        if (failure.type() == ErrorType.NOT_READY) {
            refuse(StatusCode.SHUTDOWN, failure.getMessage());
        }
    }

    /// The server needs the connection for others.
    private void makeWay() {
        refuse(StatusCode.TRY_AGAIN_LATER, "all connections are in use, and this one was idle longest");
    }

    /// Closes the socket, and says why.
    private void refuse(int code, String reason) {
        if (!end()) {
            return;
        }
        if (session == null) {
            connection.close();
            return;
        }
        // Jetty cuts the reason to what a frame may have.
        session.close(code, reason, Callback.NOOP);
        scheduler.schedule(session::disconnect, CLOSING_SECONDS, TimeUnit.SECONDS);
    }

    /// Ends what the socket has; false: it has ended before. What waits ends in its turn.
    boolean end() {
        synchronized (this) {
            if (closed) {
                return false;
            }
            closed = true;
            // Jetty may know the socket for some time yet, and what has arrived must not live as long.
            if (arriving != null) {
                arriving.close();
                arriving = null;
            }
        }
        terms.session.ifPresent(open -> open.atEnd.run());
        return true;
    }

    @Override
    public void onWebSocketError(Throwable cause) {
        end();
    }

    @Override
    public void onWebSocketClose(int statusCode, String reason, Callback callback) {
        parts.metrics().socketClosed(statusCode);
        end();
        callback.succeed();
    }
}
