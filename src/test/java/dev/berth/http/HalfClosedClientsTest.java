package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A client that has closed its side may wait for its answer, as `nc -N` does and proxies do, or
/// may have left. Each of these requests waits in the queue until its client has closed.
@Timeout(600)
class HalfClosedClientsTest {

  private static final String REQUEST =
      "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n";
  private static final String INTERIM = "HTTP/1.1 100 Continue\r\n\r\n";

  @Test
  void aClientThatClosesItsSideIsAnswered() throws Exception {
    try (var server = new BusyServer();
        var client = new RawConnection(server.port())) {
      client.send(REQUEST + "b").socket().shutdownOutput();
      server.awaitQueued(1);
      server.openGate();
      assertThat(finalResponse(client.readAll())).startsWith("HTTP/1.1 200").endsWith("\r\n\r\nB");
    }
  }

  @Test
  void aRequestThatWasSentAlongIsAnsweredToo() throws Exception {
    try (var server = new BusyServer();
        var client = new RawConnection(server.port())) {
      client.send(REQUEST + "b" + REQUEST + "c").socket().shutdownOutput();
      server.awaitQueued(1);
      server.openGate();
      assertThat(client.readAll().replace(INTERIM, ""))
          .matches("(?s)HTTP/1.1 200.*\r\n\r\nBHTTP/1.1 200.*\r\n\r\nC");
    }
  }

  @Test
  void aClientThatWasToldToSendItsBodyIsAnswered() throws Exception {
    try (var server = new BusyServer();
        var client = new RawConnection(server.port())) {
      client.send(
          "POST /invocations HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nExpect: 100-continue\r\n\r\n");
      assertThat(client.readResponse()).startsWith("HTTP/1.1 100");
      client.send("b").socket().shutdownOutput();
      server.awaitQueued(1);
      server.openGate();
      assertThat(finalResponse(client.readAll())).startsWith("HTTP/1.1 200").endsWith("\r\n\r\nB");
    }
  }

  @Test
  void ofManyAnswersNoneIsMixedWithTheQuestion() throws Exception {
    try (var server = new BusyServer()) {
      var clients = new ArrayList<RawConnection>();
      for (int i = 0; i < 200; i++) {
        var client = new RawConnection(server.port());
        client.send(REQUEST + (char) ('a' + i % 26)).socket().shutdownOutput();
        clients.add(client);
      }
      server.awaitQueued(200);
      server.openGate();
      for (int i = 0; i < 200; i++) {
        try (var client = clients.get(i)) {
          var all = client.readAll();
          assertThat(all.split("100 Continue", -1)).hasSizeLessThanOrEqualTo(4);
          assertThat(finalResponse(all))
              .startsWith("HTTP/1.1 200")
              .endsWith("\r\n\r\n" + (char) ('A' + i % 26));
        }
      }
    }
  }

  @Test
  void aClientThatHasLeftIs499AndTheModelDoesNotSeeItsRecord() throws Exception {
    try (var server = new BusyServer()) {
      try (var client = new RawConnection(server.port())) {
        client.send(REQUEST + "b");
        server.awaitQueued(1);
      }
      server.openGate();
      await().until(() -> server.metrics().contains("status=\"499\"} 1.0"));
      assertThat(server.predicted()).isEqualTo(1);
    }
  }

  @Test
  void aClientThatLeavesAfterItsSideWasClosedIs499() throws Exception {
    try (var server = new BusyServer()) {
      try (var client = new RawConnection(server.port())) {
        client.send(REQUEST + "b").socket().shutdownOutput();
        server.awaitQueued(1);
      }
      server.openGate();
      await().until(() -> server.metrics().contains("status=\"499\"} 1.0"));
      assertThat(server.predicted()).isEqualTo(1);
    }
  }

  /// It could not be asked.
  @Test
  void aClientOfHttp10ThatClosesItsSideIsAnswered() throws Exception {
    try (var server = new BusyServer();
        var client = new RawConnection(server.port())) {
      client
          .send("POST /invocations HTTP/1.0\r\nHost: x\r\nContent-Length: 1\r\n\r\nb")
          .socket()
          .shutdownOutput();
      server.awaitQueued(1);
      server.openGate();
      assertThat(client.readAll()).startsWith("HTTP/1.1 200");
      assertThat(server.predicted()).isEqualTo(2);
    }
  }

  @Test
  void theClientOfTheJdkUnderstandsTheQuestion() throws Exception {
    try (var server = new BusyServer();
        var proxy = new HalfClosingProxy(server.port());
        var client = HttpClient.newHttpClient()) {
      var request =
          HttpRequest.newBuilder(proxy.uri())
              .POST(BodyPublishers.ofString("b"))
              .version(HttpClient.Version.HTTP_1_1)
              .build();
      var answer = client.sendAsync(request, BodyHandlers.ofString());
      server.awaitQueued(1);
      proxy.closeItsSide();
      server.openGate();
      assertThat(answer.get().statusCode()).isEqualTo(200);
      assertThat(answer.get().body()).isEqualTo("B");
    }
  }

  @Test
  void curlUnderstandsTheQuestion() throws Exception {
    assertThat(answerOfProgram("curl", "-sS", "--data-binary", "b")).isEqualTo("B");
  }

  @Test
  void pythonUnderstandsTheQuestion() throws Exception {
    assertThat(
            answerOfProgram(
                "python3",
                "-c",
                """
        import sys, urllib.request
        print(urllib.request.urlopen(sys.argv[1], data=b"b").read().decode(), end="")"""))
        .isEqualTo("B");
  }

  /// What a program prints that asks for `b` the URL that is its last argument.
  private static String answerOfProgram(String... command) throws Exception {
    assumeTrue(
        new ProcessBuilder("sh", "-c", "command -v " + command[0]).start().waitFor() == 0,
        command[0] + " is there");
    try (var server = new BusyServer();
        var proxy = new HalfClosingProxy(server.port())) {
      var all = new ArrayList<>(List.of(command));
      all.add(proxy.uri().toString());
      var process = new ProcessBuilder(all).redirectErrorStream(true).start();
      server.awaitQueued(1);
      proxy.closeItsSide();
      server.openGate();
      return new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String finalResponse(String all) {
    var rest = all;
    while (rest.startsWith(INTERIM)) {
      rest = rest.substring(INTERIM.length());
    }
    return rest;
  }

  /// A server whose only worker waits at a gate with the first request.
  private static final class BusyServer implements AutoCloseable {
    private final Gate gate = new Gate(1);
    private final GatedHandler handler = new GatedHandler(gate);
    private final TestServer server;
    private final CompletableFuture<?> first;

    BusyServer() throws Exception {
      this.server = TestServer.with(handler).set("SAGEMAKER_MODEL_SERVER_WORKERS", "1").start();
      this.first = server.invokeAsync("first");
      gate.awaitArrival();
    }

    int port() {
      return server.port();
    }

    String metrics() throws IOException, InterruptedException {
      return server.get("/metrics").body();
    }

    int predicted() {
      return handler.predicted();
    }

    void awaitQueued(int count) {
      await()
          .until(
              () -> metrics().contains("berth_queue_depth{model=\"model\"} %d.0".formatted(count)));
    }

    void openGate() {
      gate.open();
      first.join();
    }

    @Override
    public void close() throws Exception {
      gate.open();
      server.close();
    }
  }

  /// Hands on what one client sends, and closes its side to the server when it is told to.
  private static final class HalfClosingProxy implements AutoCloseable {
    private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
    private final Socket upstream;

    HalfClosingProxy(int port) throws IOException {
      this.upstream = new Socket(InetAddress.getLoopbackAddress(), port);
      Thread.ofVirtual()
          .start(
              () -> {
                try (var client = listener.accept()) {
                  Thread.ofVirtual().start(() -> copy(client, upstream));
                  upstream.getInputStream().transferTo(client.getOutputStream());
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    }

    URI uri() {
      return URI.create("http://127.0.0.1:%d/invocations".formatted(listener.getLocalPort()));
    }

    void closeItsSide() throws IOException {
      upstream.shutdownOutput();
    }

    private static void copy(Socket from, Socket to) {
      try {
        from.getInputStream().transferTo(to.getOutputStream());
      } catch (IOException _) {
        // One of the two was closed.
      }
    }

    @Override
    public void close() throws IOException {
      listener.close();
      upstream.close();
    }
  }
}
