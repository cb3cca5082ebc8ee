package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.transform.InvocationException.Kind;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/// Sends payloads to a container's `/invocations`, and again where that may help. After a
/// connection that broke, a request that took too long, or a status from 500 on, it does so as
/// often as the job says. While the container can't be reached, or answers 429, 502 or 503, it does
/// so for as long as the job is patient. A container that has answered nothing all that time is
/// given up, and the job with it.
///
/// It pauses longer and longer, and as long as `Retry-After` says.
///
/// Used by many threads.
final class Invoker implements AutoCloseable {

  /// What the container answered.
  ///
  /// @param type of the body, without parameters
  record Answer(byte[] body, Optional<MediaType> type) {}

  private static final Duration CONNECT = Duration.ofSeconds(10);
  private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
  private static final int NOT_FOUND = 404;
  private static final int LONGEST_REASON = 2048;

  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(CONNECT).build();
  private final URI endpoint;
  private final TransformFormats formats;
  private final Duration timeout;
  private final int retries;
  private final Duration patience;
  private final AtomicLong lastAnswer = new AtomicLong(System.nanoTime());
  private volatile Optional<String> gaveUp = Optional.empty();

  /// @param endpoint what the paths of the contract are put behind
  /// @param retries how often a payload is sent again that was not answered
  /// @param patience how long a container may be away
  Invoker(
      URI endpoint, TransformFormats formats, Duration timeout, int retries, Duration patience) {
    this.endpoint = endpoint;
    this.formats = formats;
    this.timeout = timeout;
    this.retries = retries;
    this.patience = patience;
  }

  private URI at(String path) {
    return URI.create(endpoint.toString().replaceFirst("/+$", "") + path);
  }

  /// Why the job can't go on: the container was away for too long.
  Optional<String> gaveUp() {
    return gaveUp;
  }

  /// Waits until `/ping` is answered with anything but an error of the server.
  ///
  /// @throws TransformException when it is not for as long as the job is patient
  void awaitReady() throws InterruptedException {
    long start = System.nanoTime();
    for (int tries = 1; ; tries++) {
      String reason;
      try {
        int status = send(HttpRequest.newBuilder(at("/ping")).build(), CONNECT).statusCode();
        if (status < 300 || status == NOT_FOUND) {
          return;
        }
        reason = "status " + status;
      } catch (InvocationException e) {
        reason = e.getMessage();
      }
      if (System.nanoTime() - start >= patience.toNanos()) {
        throw new TransformException(
            "%s has not been ready for %d s (--patience): %s"
                .formatted(at("/ping"), patience.toSeconds(), reason),
            null);
      }
      Thread.sleep(pause(tries, Optional.empty()));
    }
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
    int failed = 0;
    long awaySince = 0;
    for (int tries = 1; ; tries++) {
      try {
        var answer = attempt(body.get());
        lastAnswer.set(System.nanoTime());
        return answer;
      } catch (InvocationException e) {
        if (e.isOfTheMoment()) {
          awaySince = awaySince == 0 ? System.nanoTime() : awaySince;
          requirePatience(awaySince, e);
        } else {
          awaySince = 0;
          if (!e.isRetryable() || failed++ == retries) {
            throw e;
          }
        }
        Thread.sleep(pause(tries, e.retryAfter()));
      }
    }
  }

  /// @param since when the container was found to be away
  private void requirePatience(long since, InvocationException e) {
    if (gaveUp.isEmpty() && System.nanoTime() - since < patience.toNanos()) {
      return;
    }
    if (lastAnswer.get() - since < 0) {
      gaveUp =
          Optional.of(
              "%s has not answered for %d s (--patience): %s"
                  .formatted(endpoint, patience.toSeconds(), e.getMessage()));
    }
    throw e;
  }

  /// Different for each, so that not all come back at once.
  private Duration pause(int tries, Optional<Duration> asked) {
    var pause = FIRST_PAUSE.multipliedBy(1L << Math.min(tries - 1, 10));
    var shortened = (pause.compareTo(LONGEST_PAUSE) < 0 ? pause : LONGEST_PAUSE).toNanos();
    long own = ThreadLocalRandom.current().nextLong(shortened / 2, shortened + 1);
    long most = Math.max(own, patience.toNanos());
    return Duration.ofNanos(Math.min(most, Math.max(own, asked.orElse(Duration.ZERO).toNanos())));
  }

  private Answer attempt(BodyPublisher body) throws InterruptedException {
    var request = HttpRequest.newBuilder(at("/invocations")).POST(body);
    formats.contentType().ifPresent(type -> request.header("Content-Type", type));
    formats.accept().ifPresent(type -> request.header("Accept", type));
    var response = send(request.build(), timeout);
    int status = response.statusCode();
    if (status != 200) {
      throw InvocationException.refused(status, reason(response.body()), retryAfter(response));
    }
    var type =
        response
            .headers()
            .firstValue("Content-Type")
            .flatMap(MediaType::parse)
            .map(MediaType::withoutParameters);
    requireWhole(response, type);
    return new Answer(response.body(), type);
  }

  /// An answer that a server has begun to stream may end with an error in its last line or event,
  /// whatever its status is. No record of it may count as answered.
  private static void requireWhole(HttpResponse<byte[]> response, Optional<MediaType> type) {
    boolean events = type.equals(Optional.of(MediaType.EVENT_STREAM));
    if (response.headers().firstValue("Content-Length").isPresent()
        || (!events && !type.equals(Optional.of(MediaType.JSON_LINES)))) {
      return;
    }
    var text = new String(response.body(), StandardCharsets.UTF_8).stripTrailing();
    var last = text.substring(text.lastIndexOf('\n') + 1);
    try {
      var error =
          JsonText.payload(
                  events && last.startsWith("data:") ? last.substring("data:".length()) : last)
              .path("error");
      if (error.path("message").isTextual() && error.path("code").isInt()) {
        throw InvocationException.refused(
            error.get("code").asInt(),
            "the stream broke: %s".formatted(error.get("message").asText()),
            Optional.empty());
      }
    } catch (NotJsonException _) {
      // Parts need not be JSON.
    }
  }

  private static Optional<Duration> retryAfter(HttpResponse<?> response) {
    return response
        .headers()
        .firstValue("Retry-After")
        .filter(text -> text.matches("\\d{1,6}"))
        .map(text -> Duration.ofSeconds(Long.parseLong(text)));
  }

  /// The client's own timeout is for the headers only; this one is for the whole answer.
  private HttpResponse<byte[]> send(HttpRequest request, Duration timeout)
      throws InterruptedException {
    var answer = client.sendAsync(request, BodyHandlers.ofByteArray());
    try {
      return answer.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      throw InvocationException.unanswered(
          Kind.LATE, "no answer within %d s".formatted(timeout.toSeconds()), e);
    } catch (ExecutionException e) {
      boolean arrived =
          !(e.getCause() instanceof ConnectException
              || e.getCause() instanceof HttpConnectTimeoutException);
      throw InvocationException.unanswered(
          arrived ? Kind.LOST : Kind.UNREACHABLE,
          "the connection to %s failed: %s".formatted(endpoint, described(e.getCause())),
          e.getCause());
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
      text = JsonText.payload(text).path("message").asText(text);
    } catch (NotJsonException _) {
      // A text, which says it itself.
    }
    return text.substring(0, Math.min(text.length(), LONGEST_REASON));
  }

  /// What a container says of itself; a missing node where it does not know the question.
  JsonNode executionParameters() throws InterruptedException {
    try {
      var response = send(HttpRequest.newBuilder(at("/execution-parameters")).build(), timeout);
      return response.statusCode() == 200
          ? JsonText.read(response.body())
          : MissingNode.getInstance();
    } catch (InvocationException | NotJsonException _) {
      return MissingNode.getInstance();
    }
  }

  @Override
  public void close() {
    client.shutdownNow();
  }
}
