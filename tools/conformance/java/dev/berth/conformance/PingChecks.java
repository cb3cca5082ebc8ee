package dev.berth.conformance;

import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;

/// `GET /ping`, and how connections are taken.
final class PingChecks {

  private static final int CALLERS = 16;

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

  private static String connectionsAreTakenWhileItIsBusy(Container container) throws Exception {
    var limit = container.limit(250);
    int port = container.base().getPort() < 0 ? 80 : container.base().getPort();
    var address = new InetSocketAddress(container.base().getHost(), port);
    var slowest = Duration.ZERO;
    try (var load = new Load(container)) {
      var sockets = new ArrayList<Socket>();
      try {
        for (int i = 0; i < 100; i++) {
          long start = System.nanoTime();
          var socket = new Socket();
          sockets.add(socket);
          socket.connect(address, 10_000);
          var time = Duration.ofNanos(System.nanoTime() - start);
          slowest = time.compareTo(slowest) > 0 ? time : slowest;
        }
      } finally {
        for (var socket : sockets) {
          socket.close();
        }
      }
    }
    Check.expect(slowest.compareTo(limit) < 0, "the slowest took " + slowest.toMillis() + " ms");
    return "100 accepted, the slowest in " + slowest.toMillis() + " ms";
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
    return answer.body().length == 0
        ? "no body"
        : "a body of " + answer.body().length + " bytes, which is ignored";
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
    for (int i = 0; i < 20; i++) {
      container.raw(
          Duration.ofMillis(1),
          List.of("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII)));
    }
    container.expectHealth();
    return "200 after 20 callers that left";
  }

  private static String keepAlive(Container container) throws Exception {
    var request = "GET /ping HTTP/1.1\r\nHost: x\r\nUser-Agent: %s\r\n%s\r\n";
    var both =
        request.formatted("AHC/2.0", "")
            + request.formatted("Go-http-client/1.1", "Connection: close\r\n");
    var answers =
        container.raw(container.timeout(), List.of(both.getBytes(StandardCharsets.US_ASCII)));
    int found = answers.split("HTTP/1\\.1 200", -1).length - 1;
    Check.expect(found == 2, found + " of 2 answers on one connection");
    return "2 answers on one connection";
  }

  /// Callers that ask the sample over and over, each as soon as it has its answer.
  private static final class Load implements AutoCloseable {
    private final AtomicBoolean ends = new AtomicBoolean();
    private final List<CompletableFuture<Void>> callers = new ArrayList<>();
    private final Semaphore answers = new Semaphore(0);

    Load(Container container) throws Check.NotAsked {
      container.body();
      for (int i = 0; i < CALLERS; i++) {
        callers.add(ask(container));
      }
    }

    private CompletableFuture<Void> ask(Container container) {
      try {
        return container
            .sendAsync(container.invocation())
            .handle(
                (value, error) -> {
                  answers.release();
                  return ends.get();
                })
            .thenCompose(end -> end ? CompletableFuture.completedFuture(null) : ask(container));
      } catch (Check.NotAsked e) {
        return CompletableFuture.failedFuture(e);
      }
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
