package dev.berth.serving.sessions;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.SessionHandler;
import dev.berth.metrics.ModelMetrics;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookCalls;
import dev.berth.serving.hooks.Hooks;
import dev.berth.serving.hooks.Hooks.Hook;
import dev.berth.serving.hooks.LoadException;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The sessions of one model. Requests of one session take turns; those of different ones know
/// nothing of each other.
///
/// A session that is not used for its time to live ends. One virtual thread looks after all of
/// them, as long as there are any. When sessions grow beyond what they may take together, those end
/// that were not used for longest. A new session never takes the place of another one.
///
/// Hooks run without the lock.
public final class SessionStore {

    /// Why a session ended. A label of the metrics.
    private enum Reason {
        CLOSED,
        EXPIRED,
        MEMORY,
        FAILED,
        STOPPED
    }

    /// How often a turn is looked at whose request has left a hook behind.
    private static final long SHORTEST_LOOK_MILLIS = 1;

    private static final long LONGEST_LOOK_MILLIS = 100;

    /// How long the next request of a session may wait until the hooks say what it takes.
    private static final Duration LONGEST_SIZING = Duration.ofSeconds(1);

    private static final Logger log = LoggerFactory.getLogger(SessionStore.class);

    private final SessionHandler<Object> handler;
    private final HookCalls calls;
    private final Hooks<?, ?, ?> hooks;
    private final SessionRoom room;
    private final ModelMetrics metrics;
    private final Duration timeToLive;

    private final ReentrantLock lock = new ReentrantLock();

    /// Signalled when the last session has gone, or the first has come.
    private final Condition changed = lock.newCondition();

    // Guarded by the lock, as all that is in a session.
    /// By their ids, the one that was not used for longest in front.
    private final Map<String, Session> sessions = new LinkedHashMap<>();

    private boolean watched;
    private boolean stopped;

    private final class Session {
        private final String id = UUID.randomUUID().toString();
        private final Object value;

        /// Whether it ends when it is not used.
        private final boolean expires;

        private final Condition free = lock.newCondition();
        private long bytes;
        private long usedAt;
        private boolean busy;
        private int waiting;

        /// Set when it is to end as soon as it is free.
        private Optional<Reason> ending = Optional.empty();

        private Session(Object value, boolean expires, long bytes) {
            this.value = value;
            this.expires = expires;
            this.bytes = bytes;
            this.usedAt = System.nanoTime();
        }

        private boolean isIdle() {
            return !busy && waiting == 0;
        }

        private long expiresInNanos() {
            return usedAt + timeToLive.toNanos() - System.nanoTime();
        }

        private boolean hasExpired() {
            return expires && isIdle() && expiresInNanos() <= 0;
        }
    }

    /// A request's turn in a session: until it is closed, no other request of the session runs, and
    /// the session stays open. May be used by any thread.
    public final class Turn implements AutoCloseable {
        private final Session session;
        private final AtomicBoolean left = new AtomicBoolean();
        private volatile BooleanSupplier inside = () -> false;

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

        /// Says how to find out whether a hook still works for the request.
        public void lastsWhile(BooleanSupplier hooksAreInside) {
            inside = hooksAreInside;
        }

        /// Ends the session, when this turn and those that others wait for are over. It may be called
        /// after [#close].
        public void end() {
            endWhenFree(session, Reason.CLOSED);
        }

        /// Ends the session that was opened for a request which has failed: its caller does not know of
        /// it.
        public void fail() {
            endWhenFree(session, Reason.FAILED);
        }

        /// Ends the turn. Where a hook still works for the request, it ends when the hook does.
        @Override
        public void close() {
            if (!left.compareAndSet(false, true)) {
                return;
            }
            if (inside.getAsBoolean()) {
                Thread.ofVirtual().name("berth-session-turn").start(this::leaveLater);
            } else {
                leave(session);
            }
        }

        /// A hook has just answered and returns right now, or was left behind and takes longer.
        private void leaveLater() {
            long pause = SHORTEST_LOOK_MILLIS;
            try {
                while (inside.getAsBoolean()) {
                    Thread.sleep(pause);
                    pause = Math.min(2 * pause, LONGEST_LOOK_MILLIS);
                }
            } catch (InterruptedException e) {
                throw new IllegalStateException("nobody interrupts this thread", e);
            }
            leave(session);
        }
    }

    /// @throws LoadException when the handler does not say how long a session may be idle
    @SuppressWarnings("unchecked") // It gets what it has made.
    public SessionStore(
            SessionHandler<?> handler, HookCalls calls, Hooks<?, ?, ?> hooks, SessionRoom room, ModelMetrics metrics)
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
        Session session = null;
        try {
            session = calls.call(
                    hooks.name(Hook.OPEN_SESSION),
                    deadline,
                    logContext,
                    () -> made(request, expires),
                    late -> calls.close(late.value));
            room.grow(session.bytes);
        } finally {
            if (session == null) {
                room.leave(0);
            }
        }
        lock.lock();
        try {
            if (!stopped) {
                session.busy = true;
                sessions.put(session.id, session);
                metrics.sessionOpened();
                watch();
                return new Turn(session);
            }
        } finally {
            lock.unlock();
        }
        room.leave(session.bytes);
        calls.close(session.value);
        throw ErrorType.NOT_READY.because("the model is stopping");
    }

    private Session made(InvocationRequest request, boolean expires) throws Exception {
        var value = handler.openSession(request);
        if (value == null) {
            throw ErrorType.INTERNAL.because(
                    "%s returned null, expected a session".formatted(hooks.name(Hook.OPEN_SESSION)));
        }
        return new Session(value, expires, Math.max(0, handler.sessionBytes(value)));
    }

    /// Takes a turn in a session. Where others are in it, waits until theirs are over.
    ///
    /// @throws ServingException `BAD_INPUT` where there is no such session, `DEADLINE_EXCEEDED`
    public Turn enter(String id, Deadline deadline) {
        lock.lock();
        try {
            var session = find(id);
            session.waiting++;
            try {
                while (session.busy) {
                    long left = deadline.nanosLeft();
                    if (left <= 0) {
                        throw ErrorType.DEADLINE_EXCEEDED.because(
                                "the request's time ran out while another request was in its session");
                    }
                    session.free.awaitNanos(left);
                }
                if (session.ending.isPresent() || stopped) {
                    throw unknown();
                }
                session.busy = true;
                return new Turn(session);
            } finally {
                session.waiting--;
                endIfFree(session);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ErrorType.NOT_READY.because("the server is stopping", e);
        } finally {
            lock.unlock();
        }
    }

    private Session find(String id) {
        var session = sessions.get(id);
        if (session == null || session.ending.isPresent() || session.hasExpired()) {
            throw unknown();
        }
        return session;
    }

    private static ServingException unknown() {
        return ErrorType.BAD_INPUT.because(
                "X-Amzn-SageMaker-Session-Id: found a session that is not open here, because it was closed, has expired or is of another server; open a new one with NEW_SESSION");
    }

    /// Closes a session when the requests that are in it have ended.
    ///
    /// @throws ServingException `BAD_INPUT` where there is no such session, or what its `close` threw
    public void close(String id, Deadline deadline, Map<String, String> logContext) {
        Session session;
        try (var turn = enter(id, deadline)) {
            session = turn.session;
            lock.lock();
            try {
                sessions.remove(id);
                session.ending = Optional.of(Reason.CLOSED);
                session.free.signalAll();
                changed.signalAll();
            } finally {
                lock.unlock();
            }
        }
        ended(session, Reason.CLOSED);
        calls.call(
                "close of the session",
                deadline,
                logContext,
                () -> {
                    if (session.value instanceof AutoCloseable closeable) {
                        closeable.close();
                    }
                    return session;
                },
                _ -> {});
    }

    private void endWhenFree(Session session, Reason reason) {
        lock.lock();
        try {
            if (session.ending.isEmpty()) {
                session.ending = Optional.of(reason);
                session.free.signalAll();
                endIfFree(session);
            }
        } finally {
            lock.unlock();
        }
    }

    private void leave(Session session) {
        long bytes = bytes(session);
        lock.lock();
        try {
            boolean fits = room.grow(bytes - session.bytes);
            session.bytes = bytes;
            session.usedAt = System.nanoTime();
            session.busy = false;
            if (session.ending.isPresent()) {
                session.free.signalAll();
            } else {
                session.free.signal();
            }
            if (sessions.remove(session.id, session)) {
                sessions.put(session.id, session);
            }
            endIfFree(session);
            for (var idle = oldestIdle(); !fits && idle.isPresent(); idle = oldestIdle()) {
                idle.get().ending = Optional.of(Reason.MEMORY);
                endIfFree(idle.get());
                fits = room.grow(0);
            }
        } finally {
            lock.unlock();
        }
    }

    private Optional<Session> oldestIdle() {
        return sessions.values().stream().filter(Session::isIdle).findFirst();
    }

    private long bytes(Session session) {
        try {
            return calls.call(
                    hooks.name(Hook.SESSION_BYTES),
                    Deadline.in(LONGEST_SIZING, System::nanoTime),
                    Map.of(),
                    () -> Math.max(0, handler.sessionBytes(session.value)),
                    _ -> {});
        } catch (RuntimeException e) {
            log.warn("{} failed; the session counts as before", hooks.name(Hook.SESSION_BYTES), Unsaid.of(e));
            return session.bytes;
        }
    }

    /// Ends a session that is to end, where nothing is in it. The lock is held.
    private void endIfFree(Session session) {
        if (session.ending.isPresent() && session.isIdle() && sessions.remove(session.id, session)) {
            changed.signalAll();
            var reason = session.ending.get();
            ended(session, reason);
            calls.close(session.value);
        }
    }

    private void ended(Session session, Reason reason) {
        room.leave(session.bytes);
        metrics.sessionClosed(reason.name().toLowerCase(Locale.ROOT));
    }

    /// The lock is held.
    private void watch() {
        if (!watched) {
            watched = true;
            Thread.ofVirtual().name("berth-sessions").start(this::endExpired);
        }
    }

    /// Ends sessions that are not used, until there are none.
    private void endExpired() {
        lock.lock();
        try {
            while (!sessions.isEmpty()) {
                for (var session : List.copyOf(sessions.values())) {
                    if (session.hasExpired()) {
                        session.ending = Optional.of(Reason.EXPIRED);
                        endIfFree(session);
                    }
                }
                long next = sessions.values().stream()
                        .filter(session -> session.expires && session.isIdle())
                        .mapToLong(Session::expiresInNanos)
                        .min()
                        .orElse(timeToLive.toNanos());
                if (!sessions.isEmpty()) {
                    changed.awaitNanos(Math.max(next, TimeUnit.MILLISECONDS.toNanos(SHORTEST_LOOK_MILLIS)));
                }
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts this thread", e);
        } finally {
            watched = false;
            lock.unlock();
        }
    }

    /// Refuses new sessions, and ends those that are there when nothing is in them any more.
    ///
    /// @return false: something is in one after `time`
    public boolean stop(Duration time) throws InterruptedException {
        lock.lock();
        try {
            stopped = true;
            for (var session : new ArrayList<>(sessions.values())) {
                session.ending = session.ending.or(() -> Optional.of(Reason.STOPPED));
                session.free.signalAll();
                endIfFree(session);
            }
            long left = time.toNanos();
            while (!sessions.isEmpty() && left > 0) {
                left = changed.awaitNanos(left);
            }
            return sessions.isEmpty();
        } finally {
            lock.unlock();
        }
    }
}
