package dev.berth.serving.sessions;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.SessionHandler;
import dev.berth.metrics.ModelMetrics;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookPool;
import dev.berth.serving.hooks.Hooks;
import dev.berth.serving.hooks.Hooks.Hook;
import dev.berth.serving.hooks.InFlight;
import dev.berth.serving.hooks.LoadException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The sessions of one model. Requests of one session take turns, in the order in which they came;
/// those of different ones know nothing of each other.
///
/// A session that is not used for its time to live ends. When sessions grow beyond what they may take
/// together, those end that were not used for longest. A new session never takes the place of another
/// one.
///
/// A session ends right after the turn that runs. Requests that wait for theirs find that it has ended.
public final class SessionStore {

    /// Why a session ended. A label of the metrics.
    private enum Reason {
        CLOSED,
        EXPIRED,
        MEMORY,
        FAILED,
        STOPPED
    }

    /// How long the next request of a session may wait until the hooks say what it takes.
    private static final Duration LONGEST_SIZING = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(SessionStore.class);

    private final SessionHandler<Object> handler;
    private final HookPool calls;
    private final Hooks<?, ?, ?> hooks;
    private final SessionRoom room;
    private final ModelMetrics metrics;
    private final Duration timeToLive;

    private final Map<String, Session> sessions = new ConcurrentHashMap<>();

    private volatile boolean stopped;

    /// The sessions whose values are not closed.
    private final InFlight open = new InFlight();

    private final class Session {

        private final String id = UUID.randomUUID().toString();
        private final Object value;

        /// Has the one turn while nobody has it, and gives it away in the order in which requests ask. The
        /// first is that of the request that opens the session, and whatever ends the session has to have it.
        private final BlockingQueue<Session> turn = new LinkedTransferQueue<>();

        /// Why it is to end as soon as it is free; empty: it goes on.
        private final AtomicReference<Reason> ending = new AtomicReference<>();

        /// Only for the holder of the turn.
        private long bytes;

        /// After how many nanoseconds without use it ends.
        private final long idleTime;

        private volatile long usedAt = System.nanoTime();

        private Session(Object value, long bytes, long idleTime) {
            this.value = value;
            this.bytes = bytes;
            this.idleTime = idleTime;
        }

        /// Ends it if nothing is in it and the condition still holds then.
        private void endIfIdle(Reason reason, BooleanSupplier condition) {
            if (turn.poll() != null) {
                if (condition.getAsBoolean()) {
                    endWhenFree(reason);
                }
                passTurn();
            }
        }

        private boolean hasExpired() {
            return System.nanoTime() - usedAt >= idleTime;
        }

        private void endWhenFree(Reason reason) {
            ending.compareAndSet(null, reason);
        }

        /// Ends it if it is to end, and gives the turn to the next request, which finds that it has ended.
        private void passTurn() {
            if (ending.get() != null && sessions.remove(id, this)) {
                calls.closeSession(value);
                hasEnded();
            }
            turn.add(this);
            endIfFree();
        }

        /// Its end may have been decided while the turn was passed on.
        private void endIfFree() {
            if (ending.get() != null && sessions.containsKey(id) && turn.poll() != null) {
                passTurn();
            }
        }

        private void hasEnded() {
            room.leave(bytes);
            metrics.sessionClosed(ending.get().name().toLowerCase(Locale.ROOT));
            open.leave();
        }
    }

    /// A request's turn in a session: until it is closed, no other request of the session runs, and
    /// the session stays open. May be used by any thread.
    public final class Turn implements AutoCloseable {
        private final Session session;
        private final AtomicBoolean left = new AtomicBoolean();
        private volatile Supplier<CompletableFuture<Void>> hooks = () -> CompletableFuture.completedFuture(null);

        private Turn(Session session) {
            this.session = session;
        }

        public String id() {
            return session.id;
        }

        /// When the session ends unless it is used before, as SageMaker's header has it:
        /// `2026-01-31T12:00:00Z`.
        public String expires() {
            return Instant.now()
                    .plus(timeToLive)
                    .truncatedTo(ChronoUnit.SECONDS)
                    .toString();
        }

        /// What the hook made for the session.
        public Object value() {
            return session.value;
        }

        /// Says what ends when no hook works for the request any more.
        public void lastsUntil(Supplier<CompletableFuture<Void>> hooksHaveLeft) {
            hooks = hooksHaveLeft;
        }

        /// Ends the session, when this turn is over. It may be called after [#close].
        public void end() {
            SessionStore.end(session, Reason.CLOSED);
        }

        /// Ends the session that was opened for a request which has failed: its caller does not know of
        /// it.
        public void fail() {
            SessionStore.end(session, Reason.FAILED);
        }

        /// Ends the turn. Where a hook still works for the request, it ends when the hook does.
        @Override
        public void close() {
            if (!left.compareAndSet(false, true)) {
                return;
            }
            var haveLeft = hooks.get();
            if (haveLeft.isDone()) {
                leave(session);
            } else {
                var _ = haveLeft.whenCompleteAsync(
                        (_, _) -> leave(session),
                        task -> Thread.ofVirtual().name("berth-session-turn").start(task));
            }
        }
    }

    /// @throws LoadException when the handler does not say how long a session may be idle
    @SuppressWarnings("unchecked") // It gets what it has made.
    public SessionStore(
            SessionHandler<?> handler, HookPool calls, Hooks<?, ?, ?> hooks, SessionRoom room, ModelMetrics metrics)
            throws LoadException {
        this.handler = (SessionHandler<Object>) handler;
        this.calls = calls;
        this.hooks = hooks;
        this.room = room;
        this.metrics = metrics;
        this.timeToLive = LoadException.during(hooks.name(Hook.SESSION_TIME_TO_LIVE), handler::sessionTimeToLive);
        if (timeToLive == null || timeToLive.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new LoadException("%s returned %s, expected a second or more"
                    .formatted(hooks.name(Hook.SESSION_TIME_TO_LIVE), timeToLive));
        }
    }

    /// Opens a session, and takes its first turn.
    ///
    /// @param expires whether it ends when it is not used
    /// @throws ServingException `TOO_MANY_SESSIONS` when there are too many, or what the hook threw
    public Turn open(InvocationRequest request, boolean expires, Deadline deadline, Map<String, String> logContext) {
        if (!room.tryEnter()) {
            metrics.sessionsRefused.increment();
            throw ErrorType.TOO_MANY_SESSIONS.because(room.full());
        }
        Session session;
        try {
            session = awaitOpened(
                    calls.start(hooks.name(Hook.OPEN_SESSION), deadline, logContext, () -> made(request, expires)));
        } catch (Throwable e) {
            room.leave(0);
            throw e;
        }
        room.grow(session.bytes);
        open.enter();
        metrics.sessionOpened();
        sessions.put(session.id, session);
        if (stopped) {
            session.endWhenFree(Reason.STOPPED);
            session.passTurn();
            throw ErrorType.NOT_READY.because("the model is stopping");
        }
        return new Turn(session);
    }

    /// Closes a session that comes too late.
    private Session awaitOpened(HookPool.Run<Session> opening) {
        try {
            return opening.await();
        } catch (ServingException e) {
            var _ = opening.result().thenAccept(late -> calls.closeSession(late.value));
            throw e;
        }
    }

    private Session made(InvocationRequest request, boolean expires) throws Exception {
        var value = handler.openSession(request);
        if (value == null) {
            throw ErrorType.INTERNAL.because(
                    "%s returned null, expected a session".formatted(hooks.name(Hook.OPEN_SESSION)));
        }
        long idleTime = expires ? TimeUnit.NANOSECONDS.convert(timeToLive) : Long.MAX_VALUE;
        return new Session(value, Math.max(0, handler.sessionBytes(value)), idleTime);
    }

    /// Takes a turn in a session. Where others are in it, waits until theirs are over.
    ///
    /// @throws ServingException `BAD_INPUT` where there is no such session, `DEADLINE_EXCEEDED`
    public Turn enter(String id, Deadline deadline) {
        var session = Optional.ofNullable(sessions.get(id)).orElseThrow(SessionStore::unknown);
        try {
            if (session.turn.poll(deadline.nanosLeft(), TimeUnit.NANOSECONDS) == null) {
                throw ErrorType.DEADLINE_EXCEEDED.because(
                        "the request's time ran out while another request was in its session");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ErrorType.NOT_READY.because("the server is stopping", e);
        }
        if (session.hasExpired()) {
            session.endWhenFree(Reason.EXPIRED);
        }
        if (session.ending.get() != null) {
            session.passTurn();
            throw unknown();
        }
        return new Turn(session);
    }

    private static ServingException unknown() {
        return ErrorType.BAD_INPUT.because(
                "X-Amzn-SageMaker-Session-Id: found a session that is not open here, because it was closed, has expired or is of another server; open a new one with NEW_SESSION");
    }

    /// Closes a session when the requests that are in it have ended.
    ///
    /// @throws ServingException `BAD_INPUT` where there is no such session, or what its `close` threw
    public void close(String id, Deadline deadline, Map<String, String> logContext) {
        var session = enter(id, deadline).session;
        session.endWhenFree(Reason.CLOSED);
        sessions.remove(id);
        session.turn.add(session);
        var closes = new AtomicBoolean();
        try {
            var _ = calls.start("close of the session", deadline, logContext, () -> {
                        if (closes.compareAndSet(false, true)) {
                            hooks.close(session.value);
                        }
                        return session;
                    })
                    .await();
        } finally {
            // It was not called at all where there is no thread for it.
            if (closes.compareAndSet(false, true)) {
                calls.closeSession(session.value);
            }
            session.hasEnded();
        }
    }

    /// Ends a session when it is free.
    private static void end(Session session, Reason reason) {
        session.endWhenFree(reason);
        session.endIfFree();
    }

    private void leave(Session session) {
        long bytes = bytes(session);
        room.grow(bytes - session.bytes);
        session.bytes = bytes;
        session.usedAt = System.nanoTime();
        session.passTurn();
        makeRoom();
    }

    private void makeRoom() {
        for (var idle = oldestIdle(); idle.isPresent(); idle = oldestIdle()) {
            idle.get().endIfIdle(Reason.MEMORY, () -> true);
        }
    }

    /// The session that was not used for longest, where all together take more than they may.
    private Optional<Session> oldestIdle() {
        return room.grow(0)
                ? Optional.empty()
                : sessions.values().stream()
                        .filter(session -> !session.turn.isEmpty())
                        .min(Comparator.comparingLong(session -> session.usedAt));
    }

    /// Ends those that were not used for their time to live. Called once a second or so.
    public void endExpired() {
        sessions.values().stream()
                .filter(Session::hasExpired)
                .forEach(session -> session.endIfIdle(Reason.EXPIRED, session::hasExpired));
    }

    private long bytes(Session session) {
        try {
            return calls.start(
                            hooks.name(Hook.SESSION_BYTES),
                            Deadline.in(LONGEST_SIZING, System::nanoTime),
                            Map.of(),
                            () -> Math.max(0, handler.sessionBytes(session.value)))
                    .await();
        } catch (RuntimeException e) {
            log.warn("{} failed; the session counts as before", hooks.name(Hook.SESSION_BYTES), Unsaid.of(e));
            return session.bytes;
        }
    }

    /// Refuses new sessions, and ends those that are there when nothing is in them any more.
    ///
    /// @return false: something is in one after `time`
    public boolean stop(Duration time) throws InterruptedException {
        stopped = true;
        sessions.values().forEach(session -> end(session, Reason.STOPPED));
        return open.awaitNone(time);
    }
}
