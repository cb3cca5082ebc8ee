package dev.berth.conformance;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/// `GET /ping`, and how connections are taken.
final class PingChecks {

    private static final int CALLERS = 16;

    private static final int CONNECTIONS = 100;

    private PingChecks() {}

    static Map<String, Check> all() {
        return Map.of(
                "RUN-08", PingChecks::connectionsAreTakenWhileItIsBusy,
                "PING-01", PingChecks::aReadyModel,
                "PING-02", PingChecks::noBodyAndNoRedirect,
                "PING-03", PingChecks::postIsLikeGet,
                "PING-06", PingChecks::itIsQuickWhileTheModelIsBusy,
                "PING-07", PingChecks::itIsAlwaysTheSame,
                "PING-10", PingChecks::callersThatLeave,
                "PING-11", PingChecks::keepAlive);
    }

    /// A kernel completes connections that the server has not taken. So each one asks too, while the
    /// others stay open.
    private static String connectionsAreTakenWhileItIsBusy(Container container) throws Exception {
        long slowest = 0;
        long last = 0;
        var connections = new ArrayList<Connection>();
        try (var load = new Load(container)) {
            load.awaitAnswers(CALLERS);
            for (int i = 0; i < CONNECTIONS; i++) {
                long start = System.nanoTime();
                connections.add(container.client().connect());
                slowest = Math.max(slowest, millisSince(start));
            }
            long start = System.nanoTime();
            for (var connection : connections) {
                connection.write(container.client().head(Request.get("/ping")));
            }
            for (int i = 0; i < CONNECTIONS; i++) {
                var connection = connections.get(i);
                var left = container.timeout().minusMillis(millisSince(start));
                var found = connection.read(left, "GET");
                Check.expect(found.status() == 200, "connection " + (i + 1) + ": " + found.shown());
                if (!connection.isReusable()) {
                    // Some servers wait for that, and take no other one meanwhile.
                    connection.close();
                }
            }
            last = millisSince(start);
        } catch (SocketTimeoutException e) {
            throw new Check.Missed("one of " + CONNECTIONS + " connections is not answered");
        } finally {
            connections.forEach(Connection::close);
        }
        var found =
                "%d connections, the slowest in %d ms; all answered after %d ms".formatted(CONNECTIONS, slowest, last);
        Check.expect(slowest < container.limit(250).toMillis(), found);
        return found;
    }

    private static long millisSince(long start) {
        return (System.nanoTime() - start) / 1_000_000;
    }

    private static String aReadyModel(Container container) throws Exception {
        var answer = container.get("/ping");
        Check.expect(answer, 200);
        Check.expect(
                answer.time().compareTo(container.limit(2000)) < 0,
                "200 after " + answer.time().toMillis() + " ms");
        return "200 in " + answer.time().toMillis() + " ms";
    }

    /// A body is allowed: it is ignored. A redirect is not followed by the platform.
    private static String noBodyAndNoRedirect(Container container) throws Exception {
        var answer = container.get("/ping");
        Check.expect(answer, 200);
        return answer.body().length == 0 ? "no body" : "a body of " + answer.body().length + " bytes, which is ignored";
    }

    private static String postIsLikeGet(Container container) throws Exception {
        var answer = container.post("/ping", new byte[0]);
        Check.expect(answer, 200);
        return "200";
    }

    private static String itIsQuickWhileTheModelIsBusy(Container container) throws Exception {
        var times = new ArrayList<Long>();
        try (var load = new Load(container)) {
            load.awaitAnswers(CALLERS);
            for (int i = 0; i < 100; i++) {
                var answer = container.get("/ping");
                Check.expect(answer, 200);
                times.add(answer.time().toMillis());
            }
        }
        long p99 = times.stream().sorted().skip(98).findFirst().orElseThrow();
        Check.expect(p99 < container.limit(500).toMillis(), "100 times 200, p99 " + p99 + " ms");
        return "100 times 200, p99 " + p99 + " ms, beside " + CALLERS + " callers";
    }

    private static String itIsAlwaysTheSame(Container container) throws Exception {
        for (int i = 0; i < 100; i++) {
            Check.expect(container.get("/ping"), 200);
        }
        return "100 times 200";
    }

    private static String callersThatLeave(Container container) throws Exception {
        for (int i = 0; i < CONNECTIONS; i++) {
            try (var connection = container.client().connect()) {
                connection.write(container.client().head(Request.get("/ping")));
            }
        }
        container.expectHealth();
        return "200 after " + CONNECTIONS + " callers that left";
    }

    private static String keepAlive(Container container) throws Exception {
        try (var connection = container.client().connect()) {
            for (var agent : List.of("AHC/2.0", "Go-http-client/1.1", "AHC/2.0")) {
                Answer answer;
                try {
                    answer = container
                            .client()
                            .exchange(connection, Request.get("/ping").with("User-Agent", agent));
                } catch (SocketTimeoutException e) {
                    throw e;
                } catch (IOException e) {
                    throw new Check.Missed("another request on its connection: " + e.getMessage());
                }
                Check.expect(answer, 200);
            }
        }
        return "3 answers on one connection";
    }

    /// Callers that ask the sample over and over, each as soon as it has its answer.
    private static final class Load implements AutoCloseable {
        private final AtomicBoolean ends = new AtomicBoolean();
        private final List<CompletableFuture<Void>> callers = new ArrayList<>();
        private final Semaphore answers = new Semaphore(0);

        Load(Container container) throws Exception {
            var request = container.invocation();
            for (int i = 0; i < CALLERS; i++) {
                callers.add(ask(container, request));
            }
        }

        private CompletableFuture<Void> ask(Container container, Request request) {
            return container
                    .sendAsync(request)
                    .handle((value, error) -> {
                        answers.release();
                        return ends.get();
                    })
                    .thenCompose(end -> end ? CompletableFuture.completedFuture(null) : ask(container, request));
        }

        void awaitAnswers(int count) throws InterruptedException {
            answers.acquire(count);
        }

        @Override
        public void close() {
            ends.set(true);
            CompletableFuture.allOf(callers.toArray(CompletableFuture[]::new)).join();
        }
    }
}
