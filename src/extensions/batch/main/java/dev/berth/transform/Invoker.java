package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.storage.Shortened;
import dev.berth.transform.InvocationException.Fault;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpConnectTimeoutException;
import java.net.http.HttpHeaders;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.net.ssl.SSLException;

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
    /// @param body of an error its beginning
    record Answer(int status, HttpHeaders headers, byte[] body) {

        /// That of the body, without parameters.
        Optional<MediaType> type() {
            return headers.firstValue("Content-Type").flatMap(MediaType::parse).map(MediaType::withoutParameters);
        }
    }

    /// Where an answer goes.
    interface Room {

        Room ANY = new Room() {};

        /// Waits until so many bytes of an answer have room.
        default void receive(long bytes) throws InterruptedException {}

        /// Waits until something can be made of an answer that has so many bytes.
        default void received(long bytes) throws InterruptedException {}
    }

    private static final Duration CONNECT = Duration.ofSeconds(10);
    private static final Duration FIRST_PAUSE = Duration.ofMillis(200);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(5);
    private static final int OK = 200;
    private static final int NOT_FOUND = 404;
    private static final int LONGEST_REASON = 2048;
    private static final int PART = 1 << 16;

    private final HttpClient client = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT)
            .build();
    private final URI endpoint;
    private final TransformFormats formats;
    private final Duration timeout;
    private final int retries;
    private final Duration patience;
    private final JobEnd end;
    private final AtomicLong lastAnswer = new AtomicLong(System.nanoTime());
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /// @param endpoint what the paths of the contract are put behind
    /// @param end is told when the container is given up
    Invoker(URI endpoint, TransformJob job, JobEnd end) {
        this.endpoint = endpoint;
        this.formats = job.kind().records().formats();
        this.timeout = job.invocations().timeout();
        this.retries = job.invocations().retries();
        this.patience = job.invocations().patience();
        this.end = end;
    }

    private URI at(String path) {
        return URI.create(endpoint.toString().replaceFirst("/+$", "") + path);
    }

    /// Waits until `/ping` is answered with anything but an error of the server.
    ///
    /// @throws TransformException when it is not for as long as the job is patient
    void awaitReady() throws InterruptedException {
        long start = System.nanoTime();
        for (int tries = 1; ; tries++) {
            String reason;
            try {
                int status = send(HttpRequest.newBuilder(at("/ping")).build(), CONNECT, Room.ANY)
                        .status();
                if (status < 300 || status == NOT_FOUND) {
                    return;
                }
                reason = "status " + status;
            } catch (InvocationException e) {
                if (e.getCause() instanceof SSLException) {
                    throw new TransformException(
                            e.getMessage() + "; name who to trust by JAVA_OPTS=-Djavax.net.ssl.trustStore=FILE", e);
                }
                reason = e.getMessage();
            }
            if (System.nanoTime() - start >= patience.toNanos()) {
                throw new TransformException("%s has not been ready for %d s (--patience): %s"
                        .formatted(at("/ping"), patience.toSeconds(), reason));
            }
            Thread.sleep(pause(tries, Optional.empty()));
        }
    }

    /// The answer to a payload.
    ///
    /// @param body opens it anew, for each attempt
    /// @throws InvocationException when it is refused, or fails for the last time
    Answer invoke(Supplier<BodyPublisher> body, Room room) throws InterruptedException {
        int failed = 0;
        long awaySince = 0;
        for (int tries = 1; ; tries++) {
            try {
                var answer = attempt(body.get(), room);
                lastAnswer.set(System.nanoTime());
                return answer;
            } catch (InvocationException e) {
                if (e.fault() == Fault.AWAY) {
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
        if (!end.isOver() && System.nanoTime() - since < patience.toNanos()) {
            return;
        }
        if (lastAnswer.get() - since < 0) {
            end.because("%s has not answered for %d s (--patience): %s"
                    .formatted(endpoint, patience.toSeconds(), e.getMessage()));
        }
        throw e;
    }

    /// Different for each, so that not all come back at once.
    private Duration pause(int tries, Optional<Duration> asked) {
        long longest = Math.min(LONGEST_PAUSE.toNanos(), FIRST_PAUSE.toNanos() << Math.min(tries - 1, 10));
        long own = ThreadLocalRandom.current().nextLong(longest / 2, longest + 1);
        long wanted = Math.min(patience.toNanos(), asked.orElse(Duration.ZERO).toNanos());
        return Duration.ofNanos(Math.max(own, wanted));
    }

    private Answer attempt(BodyPublisher body, Room room) throws InterruptedException {
        var request = HttpRequest.newBuilder(at("/invocations")).POST(body);
        formats.contentType().ifPresent(type -> request.header("Content-Type", type));
        formats.accept().ifPresent(type -> request.header("Accept", type));
        var answer = send(request.build(), timeout, room);
        if (answer.status != OK) {
            throw new InvocationException(answer.status, reason(answer.body), retryAfter(answer.headers));
        }
        requireWhole(answer);
        return answer;
    }

    /// An answer that a server has begun to stream may end with an error in its last line or event,
    /// whatever its status is. No record of it may count as answered.
    private static void requireWhole(Answer answer) {
        var type = answer.type();
        boolean events = type.equals(Optional.of(MediaType.EVENT_STREAM));
        if (answer.headers.firstValue("Content-Length").isPresent()
                || (!events && !type.equals(Optional.of(MediaType.JSON_LINES)))) {
            return;
        }
        int shown = Math.min(answer.body.length, PART);
        var text = new String(answer.body, answer.body.length - shown, shown, StandardCharsets.UTF_8).stripTrailing();
        var last = text.substring(text.lastIndexOf('\n') + 1);
        try {
            var error = JsonText.payload(events && last.startsWith("data:") ? last.substring("data:".length()) : last)
                    .path("error");
            if (error.path("message").isTextual() && error.path("code").isInt()) {
                throw new InvocationException(
                        error.get("code").asInt(),
                        "the stream broke: %s".formatted(error.get("message").asText()),
                        Optional.empty());
            }
        } catch (NotJsonException _) {
            // Parts need not be JSON.
        }
    }

    private static Optional<Duration> retryAfter(HttpHeaders headers) {
        return headers.firstValue("Retry-After")
                .filter(text -> text.matches("\\d{1,6}"))
                .map(text -> Duration.ofSeconds(Long.parseLong(text)));
    }

    /// The client's own timeout is for the headers only; this one is for the whole answer, but not
    /// for the time that it waits for room. Behind its first part no more is read than there is room
    /// for: all at once where the answer says how long it is.
    private Answer send(HttpRequest request, Duration timeout, Room room) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        room.receive(0);
        try {
            var response = until(deadline, () -> client.send(request, BodyHandlers.ofInputStream()));
            try (var in = response.body()) {
                boolean isOk = response.statusCode() == OK;
                var length = response.headers().firstValueAsLong("Content-Length");
                var parts = new ArrayList<byte[]>();
                long bytes = 0;
                long next = Math.min(PART, length.orElse(PART));
                boolean isWhole = false;
                while (!isWhole) {
                    if (bytes > 0) {
                        long start = System.nanoTime();
                        room.receive(bytes + next);
                        deadline += System.nanoTime() - start;
                    }
                    var part = new byte[(int) next];
                    int count = until(deadline, () -> in.readNBytes(part, 0, part.length));
                    parts.add(count == part.length ? part : Arrays.copyOf(part, count));
                    bytes += count;
                    isWhole = !isOk || count < part.length || length.orElse(-1) == bytes;
                    next = length.isPresent() ? length.getAsLong() - bytes : PART;
                }
                if (isOk) {
                    room.received(bytes);
                }
                return new Answer(response.statusCode(), response.headers(), Payload.concatenated(parts));
            }
        } catch (TimeoutException e) {
            throw new InvocationException(Fault.LATE, "no answer within %d s".formatted(timeout.toSeconds()), e);
        } catch (IOException e) {
            boolean arrived = !(e instanceof ConnectException || e instanceof HttpConnectTimeoutException);
            throw new InvocationException(
                    arrived ? Fault.LOST : Fault.AWAY,
                    "the connection to %s failed: %s".formatted(endpoint, Shortened.explanation(e)),
                    e);
        }
    }

    /// Reads in a thread of its own, which is interrupted at the deadline.
    private <T> T until(long deadline, Callable<T> reading) throws IOException, InterruptedException, TimeoutException {
        var answer = threads.submit(reading);
        try {
            return answer.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException lost) {
                throw lost;
            }
            throw TransformException.thrown(e.getCause());
        } finally {
            answer.cancel(true);
        }
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
            var response =
                    send(HttpRequest.newBuilder(at("/execution-parameters")).build(), timeout, Room.ANY);
            return response.status == OK ? JsonText.read(response.body) : MissingNode.getInstance();
        } catch (InvocationException | NotJsonException _) {
            return MissingNode.getInstance();
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        client.shutdownNow();
    }
}
