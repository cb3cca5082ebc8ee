package dev.berth.serving.sessions;

import static dev.berth.testing.Interleavings.explore;
import static dev.berth.testing.Interleavings.together;
import static dev.berth.testing.Interleavings.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.error.ErrorType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.SessionHandler;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookPool;
import dev.berth.serving.hooks.HookThreads;
import dev.berth.serving.hooks.Hooks;
import dev.berth.serving.hooks.LoadException;
import dev.berth.testing.Interleavings;
import dev.berth.testing.TextHandler;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/// Sessions that are opened, used, closed, forgotten and ended by a stop at the same time.
class SessionStoreSchedules {

    private static final Duration LONG = Duration.ofHours(1);
    private static final Duration TIME_TO_LIVE = Duration.ofSeconds(1);
    private static final ServingMetrics METRICS = new ServingMetrics();

    @Test
    void requestsOfASessionTakeTurnsUntilItEndsOnce() throws Exception {
        explore(() -> {
            try (var sessions = new Sessions(TIME_TO_LIVE)) {
                var id = sessions.open();
                together(
                        orNoSession(() -> sessions.use(id, LONG)),
                        orNoSession(() -> sessions.use(id, Duration.ofMillis(2))),
                        orNoSession(() -> sessions.useAndLeaveAHookBehind(id)),
                        orNoSession(() -> sessions.close(id)),
                        orNoSession(sessions::open));
                sessions.stop();
            }
        });
    }

    @Test
    void aSessionThatExpiresWhileItIsUsedEndsOnce() throws Exception {
        explore(() -> {
            try (var sessions = new Sessions(TIME_TO_LIVE)) {
                var id = sessions.open();
                var almost = TIME_TO_LIVE.minusMillis(10);
                together(
                        orNoSession(() -> {
                            Thread.sleep(almost);
                            sessions.use(id, LONG);
                        }),
                        orNoSession(() -> {
                            Thread.sleep(almost);
                            sessions.close(id);
                        }),
                        () -> {
                            Thread.sleep(TIME_TO_LIVE);
                            sessions.store.endExpired();
                        });
                Thread.sleep(TIME_TO_LIVE);
                sessions.store.endExpired();
                until(sessions.handler::allAreClosed);
                sessions.stop();
            }
        });
    }

    @Test
    void aSessionThatOutgrowsTheRoomEndsWithItsRequest() throws Exception {
        explore(() -> {
            try (var sessions = new Sessions(LONG)) {
                sessions.openAndOutgrowTheRoom();
                until(sessions.handler::allAreClosed);
                sessions.stop();
            }
        });
    }

    @Test
    void sessionsThatGrowBeyondTheirRoomMakeWayForEachOther() throws Exception {
        explore(() -> {
            try (var sessions = new Sessions(TIME_TO_LIVE)) {
                var first = sessions.open();
                var second = sessions.open();
                together(
                        orNoSession(() -> sessions.use(first, LONG)),
                        orNoSession(() -> sessions.use(second, LONG)),
                        orNoSession(() -> sessions.use(second, LONG)),
                        sessions::stop);
                sessions.stop();
            }
        });
    }

    @Test
    void aSessionEndsWithItsTurnWhereTheNextRequestGivesUpMeanwhile() throws Exception {
        explore(() -> {
            try (var sessions = new Sessions(LONG.multipliedBy(2))) {
                var id = sessions.open();
                together(
                        orNoSession(() -> sessions.use(id, LONG)),
                        orNoSession(() -> sessions.use(id, Duration.ofMillis(2))),
                        sessions::stop);
            }
        });
    }

    private static Interleavings.Body orNoSession(Interleavings.Body request) {
        return Interleavings.orRefused(
                request,
                ErrorType.BAD_INPUT,
                ErrorType.NOT_READY,
                ErrorType.TOO_MANY_SESSIONS,
                ErrorType.DEADLINE_EXCEEDED);
    }

    private static final class Sessions implements AutoCloseable {
        private static final int MOST = 2;
        private static final long MOST_BYTES = 12;

        final Handler handler;
        private final HookPool pool;
        private final SessionRoom room = new SessionRoom(MOST, MOST_BYTES);
        private final SessionStore store;

        Sessions(Duration timeToLive) throws LoadException {
            handler = new Handler(timeToLive);
            var metrics = METRICS.ofModel("words");
            var hooks = new Hooks<>(handler, metrics.ofHooks);
            pool = new HookPool(hooks, HookThreads.ofOneModel(), metrics);
            store = new SessionStore(handler, pool, hooks, room, metrics);
        }

        String open() {
            try (var turn = openTurn()) {
                return turn.id();
            }
        }

        void openAndOutgrowTheRoom() {
            try (var turn = openTurn()) {
                for (int use = 0; use < 3; use++) {
                    handler.use(turn);
                }
            }
        }

        private SessionStore.Turn openTurn() {
            return store.open(Interleavings.request(""), true, in(LONG), Map.of());
        }

        void use(String id, Duration time) {
            try (var turn = store.enter(id, in(time))) {
                handler.use(turn);
            }
        }

        void useAndLeaveAHookBehind(String id) {
            var left = new CompletableFuture<Void>();
            try (var turn = store.enter(id, in(LONG))) {
                turn.lastsUntil(() -> left);
                turn.fail();
            }
            left.complete(null);
        }

        void close(String id) {
            store.close(id, in(LONG), Map.of());
        }

        /// All sessions end, each once, and the room is as it was.
        void stop() throws InterruptedException {
            assertThat(store.stop(LONG)).isTrue();
            assertThat(pool.inside.awaitNone(LONG)).isTrue();
            until(handler::allAreClosed);
            assertThat(room.grow(MOST_BYTES - 1)).isTrue();
            for (int session = 0; session < MOST; session++) {
                assertThat(room.tryEnter()).isTrue();
            }
            assertThat(room.tryEnter()).isFalse();
            assertThat(room.grow(2)).isFalse();
            room.grow(-1 - MOST_BYTES);
            for (int session = 0; session < MOST; session++) {
                room.leave(0);
            }
        }

        private static Deadline in(Duration time) {
            return Deadline.in(time, Interleavings::now);
        }

        @Override
        public void close() {
            pool.close();
        }
    }

    /// Has sessions that grow with each use.
    private static final class Handler extends TextHandler implements SessionHandler<Handler.Value> {

        private final Duration timeToLive;
        private final AtomicInteger open = new AtomicInteger();

        Handler(Duration timeToLive) {
            this.timeToLive = timeToLive;
        }

        final class Value implements AutoCloseable {
            private final AtomicBoolean inUse = new AtomicBoolean();
            private final AtomicBoolean closed = new AtomicBoolean();
            private final AtomicInteger bytes = new AtomicInteger(1);

            @Override
            public void close() {
                assertThat(inUse).isFalse();
                assertThat(closed.getAndSet(true)).isFalse();
                open.decrementAndGet();
            }
        }

        void use(SessionStore.Turn turn) {
            var value = (Value) turn.value();
            assertThat(value.inUse.getAndSet(true)).isFalse();
            assertThat(value.closed).isFalse();
            value.bytes.addAndGet(5);
            value.inUse.set(false);
        }

        boolean allAreClosed() {
            return open.get() == 0;
        }

        @Override
        public Value openSession(InvocationRequest request) {
            open.incrementAndGet();
            return new Value();
        }

        @Override
        public Duration sessionTimeToLive() {
            return timeToLive;
        }

        @Override
        public long sessionBytes(Value value) {
            return value.bytes.get();
        }
    }
}
