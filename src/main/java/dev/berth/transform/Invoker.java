package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/// Sends payloads to a container's `/invocations`, so many at the same time as the job says, and again where that may
/// help: after a connection that failed, a request that took too long, and the statuses 429 and 5xx.
///
/// Used by many threads.
final class Invoker implements AutoCloseable {

  /// What the container answered.
  ///
  /// @param type of the body, without parameters
  record Answer(byte[] body, Optional<MediaType> type) {}

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final int LONGEST_REASON = 2048;

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT).build();
  private final URI endpoint;
  private final TransformFormats formats;
  private final Duration timeout;
  private final int retries;
  private final Semaphore permits;

  /// @param concurrent how many requests may run at the same time
  Invoker(URI endpoint, TransformFormats formats, Duration timeout, int retries, int concurrent) {
    this.endpoint = endpoint;
    this.formats = formats;
    this.timeout = timeout;
    this.retries = retries;
    this.permits = new Semaphore(concurrent);
  }

  /// The answer to a payload that is in memory.
  ///
  /// @throws InvocationException when it is refused, or fails for the last time
  Answer invoke(byte[] body) throws InterruptedException {
    return invoke(() -> BodyPublishers.ofByteArray(body));
  }

  /// The answer to a payload of any length, sent in chunks.
  ///
  /// @param body opens the payload anew, for each attempt
  Answer invokeStream(Supplier<InputStream> body) throws InterruptedException {
    return invoke(() -> BodyPublishers.ofInputStream(body));
  }

  private Answer invoke(Supplier<BodyPublisher> body) throws InterruptedException {
    permits.acquire();
    try {
      for (int attempt = 0; ; attempt++) {
        try {
          return attempt(body.get());
        } catch (InvocationException e) {
          if (!e.isRetryable() || attempt == retries) {
            throw e;
          }
        }
        Thread.sleep(FIRST_PAUSE.multipliedBy(1L << Math.min(attempt, 10)));
      }
    } finally {
      permits.release();
    }
  }

  private Answer attempt(BodyPublisher body) throws InterruptedException {
    var request = HttpRequest.newBuilder(endpoint.resolve("/invocations")).POST(body);
    formats.contentType().ifPresent(type -> request.header("Content-Type", type));
    formats.accept().ifPresent(type -> request.header("Accept", type));
    var response = send(request.build());
    int status = response.statusCode();
    if (status != 200) {
      throw new InvocationException(
          OptionalInt.of(status), reason(response.body()), null);
    }
    var type = response.headers().firstValue("Content-Type").flatMap(MediaType::parse).map(MediaType::withoutParameters);
    requireWhole(response, type);
    return new Answer(response.body(), type);
  }

  /// An answer that a server has begun to stream may end with an error in its last line or event, whatever its status is. No
  /// record of it may count as answered.
  private static void requireWhole(HttpResponse<byte[]> response, Optional<MediaType> type) {
    boolean events = type.equals(Optional.of(MediaType.EVENT_STREAM));
    if (response.headers().firstValue("Content-Length").isPresent() || !events && !type.equals(Optional.of(MediaType.JSON_LINES))) {
      return;
    }
    var text = new String(response.body(), StandardCharsets.UTF_8).stripTrailing();
    var last = text.substring(text.lastIndexOf('\n') + 1);
    try {
      var error = JSON.readTree(events && last.startsWith("data:") ? last.substring("data:".length()) : last).path("error");
      if (error.path("message").isTextual() && error.path("code").isInt()) {
        throw new InvocationException(
            OptionalInt.of(error.get("code").asInt()), "the stream broke: %s".formatted(error.get("message").asText()), null);
      }
    } catch (IOException _) {
      // Parts need not be JSON.
    }
  }

  /// The client's own timeout is for the headers only; this one is for the whole answer.
  private HttpResponse<byte[]> send(HttpRequest request) throws InterruptedException {
    var answer = client.sendAsync(request, BodyHandlers.ofByteArray());
    try {
      return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw new InvocationException(OptionalInt.empty(), "no answer within %d s".formatted(timeout.toSeconds()), e);
    } catch (ExecutionException e) {
      throw new InvocationException(OptionalInt.empty(),
          "the connection to %s failed: %s".formatted(endpoint, described(e.getCause())), e.getCause());
    } finally {
      answer.cancel(true);
    }
  }

  /// The client's own exceptions often say nothing but their name.
  private static String described(Throwable cause) {
    return cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
  }

  /// What an error's body says: its `message` where it is JSON that has one.
  private static String reason(byte[] body) {
    var text = new String(body, StandardCharsets.UTF_8).strip();
    try {
      text = JSON.readTree(text).path("message").asText(text);
    } catch (IOException _) {
      // It is not JSON.
    }
    return text.substring(0, Math.min(text.length(), LONGEST_REASON));
  }

  /// What a container says of itself; a missing node where it does not know the question.
  JsonNode executionParameters() throws InterruptedException {
    try {
      var response = send(HttpRequest.newBuilder(endpoint.resolve("/execution-parameters")).build());
      return response.statusCode() == 200 ? JSON.readTree(response.body()) : MissingNode.getInstance();
    } catch (InvocationException | IOException _) {
      return MissingNode.getInstance();
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
