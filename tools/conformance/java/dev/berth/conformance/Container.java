package dev.berth.conformance;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/// The container that is asked, and what it is asked with. Safe for use by many threads.
final class Container {

  /// The longest message of an error that a caller of InvokeEndpoint gets to see, in characters.
  static final int LONGEST_MESSAGE = 2048;

  private static final int SHOWN = 100;

  private final URI base;
  private final Sample sample;
  private final Duration timeout;
  private final double patience;
  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(10))
          .build();

  /// What the container's model understands; a part is null where the caller did not give it.
  ///
  /// @param body one request, and its type
  /// @param lines a request of several records, one a line, and its type
  /// @param modelUrl the directory of an artifact, as the container sees it, for `POST /models`
  record Sample(byte[] body, String type, byte[] lines, String linesType, String modelUrl) {}

  /// A response whose body was read whole.
  record Answer(int status, HttpResponse<byte[]> response, Duration time) {

    String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }

    byte[] body() {
      return response.body();
    }

    String text() {
      return new String(body(), StandardCharsets.UTF_8);
    }

    boolean isSuccess() {
      return status >= 200 && status < 300;
    }

    /// The body as JSON, whatever its type says.
    Object json() throws Check.Missed {
      try {
        return Json.read(
            StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body())).toString());
      } catch (CharacterCodingException e) {
        throw new Check.Missed("a body that is not UTF-8");
      } catch (IOException e) {
        throw new Check.Missed("a body that is not JSON: " + shown());
      }
    }

    /// The status and how the body begins, in one line.
    String shown() {
      var text = text().replaceAll("\\s+", " ").strip();
      return (status + " " + (text.length() > SHOWN ? text.substring(0, SHOWN) + "…" : text))
          .strip();
    }
  }

  /// @param timeout of one request
  /// @param patience what limits of time are multiplied by, for a machine that is busy with other
  ///   things
  Container(URI base, Sample sample, Duration timeout, double patience) {
    this.base = base;
    this.sample = sample;
    this.timeout = timeout;
    this.patience = patience;
  }

  URI base() {
    return base;
  }

  HttpClient client() {
    return client;
  }

  Duration timeout() {
    return timeout;
  }

  /// A limit of time of a row, made longer as the caller asked.
  Duration limit(long millis) {
    return Duration.ofMillis((long) (millis * patience));
  }

  /// @param headers names and values in turn
  HttpRequest.Builder request(String path, String... headers) {
    var request = HttpRequest.newBuilder(base.resolve(path)).timeout(timeout);
    if (headers.length > 0) {
      request.headers(headers);
    }
    return request;
  }

  /// Asks once more where the connection breaks: a server may close it behind an error, while this
  /// request is on its way.
  Answer send(HttpRequest.Builder request) throws IOException, InterruptedException {
    try {
      return sendOnce(request);
    } catch (HttpTimeoutException e) {
      throw e;
    } catch (IOException e) {
      return sendOnce(request);
    }
  }

  Answer sendOnce(HttpRequest.Builder request) throws IOException, InterruptedException {
    long start = System.nanoTime();
    var response = client.send(request.build(), BodyHandlers.ofByteArray());
    return new Answer(response.statusCode(), response, Duration.ofNanos(System.nanoTime() - start));
  }

  CompletableFuture<Answer> sendAsync(HttpRequest.Builder request) {
    long start = System.nanoTime();
    return client
        .sendAsync(request.build(), BodyHandlers.ofByteArray())
        .thenApply(
            response ->
                new Answer(
                    response.statusCode(), response, Duration.ofNanos(System.nanoTime() - start)));
  }

  Answer get(String path) throws IOException, InterruptedException {
    return send(request(path).GET());
  }

  Answer post(String path, byte[] body, String... headers)
      throws IOException, InterruptedException {
    return send(request(path, headers).POST(BodyPublishers.ofByteArray(body)));
  }

  /// Sends the sample's body with its type, and other headers.
  Answer invoke(String... headers) throws Exception {
    return send(invocation(headers));
  }

  HttpRequest.Builder invocation(String... headers) throws Check.NotAsked {
    var all = Arrays.copyOf(new String[] {"Content-Type", type()}, headers.length + 2);
    System.arraycopy(headers, 0, all, 2, headers.length);
    return request("/invocations", all).POST(BodyPublishers.ofByteArray(body()));
  }

  byte[] body() throws Check.NotAsked {
    return given(sample.body, "--body FILE");
  }

  String type() {
    return sample.type;
  }

  boolean takesJson() {
    return sample.type.startsWith("application/json");
  }

  byte[] lines() throws Check.NotAsked {
    return given(sample.lines, "--lines FILE");
  }

  String linesType() {
    return sample.linesType;
  }

  String modelUrl() throws Check.NotAsked {
    return given(sample.modelUrl, "--model-url PATH");
  }

  private static <T> T given(T part, String option) throws Check.NotAsked {
    if (part == null) {
      throw new Check.NotAsked("needs " + option);
    }
    return part;
  }

  /// Ends a check whose answer is not that to the plain request.
  void expectSame(Answer answer) throws Exception {
    var plain = invoke();
    if (!Arrays.equals(plain.body(), invoke().body())) {
      throw new Check.NotAsked("its answers to one request differ");
    }
    Check.expect(Arrays.equals(answer.body(), plain.body()), "another answer: " + answer.shown());
  }

  /// Ends a check after which the container is no longer well.
  void expectHealth() throws Exception {
    var ping = get("/ping");
    Check.expect(ping.status() == 200, "then GET /ping is " + ping.shown());
  }

  /// Sends bytes as they are and reads what comes until the container closes the connection or says
  /// nothing for some time.
  ///
  /// @param silence how long to wait for more
  String raw(Duration silence, List<byte[]> parts) throws IOException {
    int port = base.getPort() < 0 ? 80 : base.getPort();
    try (var socket = new Socket()) {
      socket.connect(new InetSocketAddress(base.getHost(), port), 10_000);
      socket.setSoTimeout((int) silence.toMillis());
      for (var part : parts) {
        socket.getOutputStream().write(part);
      }
      var all = new ByteArrayOutputStream();
      try {
        socket.getInputStream().transferTo(all);
      } catch (SocketTimeoutException e) {
        // What has come until now is all.
      }
      return all.toString(StandardCharsets.ISO_8859_1);
    }
  }
}
