package dev.berth.sockets;

import static dev.berth.testing.Interleavings.explore;
import static dev.berth.testing.Interleavings.together;
import static dev.berth.testing.Interleavings.until;

import dev.berth.config.Configuration;
import dev.berth.error.ErrorType;
import dev.berth.http.Paths;
import dev.berth.http.RequestLog;
import dev.berth.http.ServerParts;
import dev.berth.http.connections.OpenConnection;
import dev.berth.http.connections.Pace;
import dev.berth.memory.MemoryBudget;
import dev.berth.memory.RequestMemory;
import dev.berth.memory.RequestMemory.ProcessMemory;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.Exporter.Export;
import dev.berth.testing.Interleavings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Proxy;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.websocket.api.Callback;
import org.eclipse.jetty.websocket.api.Session;
import org.junit.jupiter.api.Test;

/// What the messages of a socket take of the memory of all, when the socket closes.
class SocketSchedules {

    private static final ServerParts PARTS = parts();

    private static ServerParts parts() {
        var config = Configuration.read(Map.of(), Map.of(), Path.of(".")).config();
        var metrics = new ServingMetrics();
        var paths = new Paths(Set.of(), Map.of(), Set.of());
        var log = new RequestLog(metrics, paths, Export.NONE, Set.of());
        return new ServerParts(config, null, metrics, log, paths);
    }

    @Test
    void whateverClosesASocketItsMessagesGiveTheirMemoryBack() throws Exception {
        explore(() -> {
            var memory = memory();
            var timer = new Timer();
            var socket = socket(memory, timer);
            socket.onWebSocketOpen(session());
            together(
                    () -> {
                        socket.onWebSocketPartialText("half of a mess", false);
                        socket.onWebSocketPartialText("age", true);
                        socket.onWebSocketPartialText("a message", true);
                        socket.onWebSocketPartialText("half of an", false);
                        socket.onWebSocketPartialText("other", false);
                    },
                    () -> socket.onWebSocketClose(1006, "the client has gone", Callback.NOOP),
                    timer::run);
            until(() -> budgets(memory).allMatch(SocketSchedules::isFree));
        });
    }

    private static Socket socket(ProcessMemory memory, Scheduler timer) {
        var terms = new Socket.Terms(
                () -> {
                    throw ErrorType.NOT_FOUND.because("there is no model");
                },
                () -> new RequestMemory(memory, Interleavings.now() + TimeUnit.MINUTES.toNanos(2), () -> {}),
                Interleavings.request(""),
                Map.of(),
                Optional.empty());
        return new Socket(PARTS, terms, Interleavings::now, timer, connection());
    }

    private static OpenConnection connection() {
        try (var channel = SocketChannel.open()) {
            return new OpenConnection(channel, null, null, null, Runnable::run, new Pace(0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static ProcessMemory memory() {
        return new ProcessMemory(budget(), budget(), budget(), 1 << 20);
    }

    private static MemoryBudget budget() {
        return new MemoryBudget(1 << 20, Interleavings::now);
    }

    private static Stream<MemoryBudget> budgets(ProcessMemory memory) {
        return Stream.of(memory.few(), memory.medium(), memory.large());
    }

    private static boolean isFree(MemoryBudget budget) {
        var all = budget.tryTake(budget.bytes());
        all.ifPresent(share -> share.close());
        return all.isPresent();
    }

    /// Jetty's side, which sends what it is given.
    private static Session session() {
        return (Session) Proxy.newProxyInstance(
                Session.class.getClassLoader(), new Class<?>[] {Session.class}, (_, _, arguments) -> {
                    if (arguments != null && arguments[arguments.length - 1] instanceof Callback callback) {
                        callback.succeed();
                    }
                    return null;
                });
    }

    /// All that is scheduled happens when the test says so, unless it was cancelled.
    private static final class Timer extends AbstractLifeCycle implements Scheduler {
        private record Late(Runnable task, AtomicBoolean over) implements Task {
            @Override
            public boolean cancel() {
                return over.compareAndSet(false, true);
            }
        }

        private final ConcurrentLinkedQueue<Late> tasks = new ConcurrentLinkedQueue<>();

        @Override
        public Task schedule(Runnable task, long delay, TimeUnit unit) {
            var late = new Late(task, new AtomicBoolean());
            tasks.add(late);
            return late;
        }

        void run() {
            for (var late = tasks.poll(); late != null; late = tasks.poll()) {
                if (late.cancel()) {
                    late.task.run();
                }
            }
        }
    }
}
