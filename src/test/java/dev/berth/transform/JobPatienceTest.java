package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.berth.storage.S3Options;
import dev.berth.storage.Storage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Jobs whose container goes away, comes back, or asks to be left alone. It is one of another make,
/// on one port of its own.
@Tag("slow")
@Timeout(600)
class JobPatienceTest {

  /// Answers one request to `/invocations`.
  @FunctionalInterface
  private interface Answering {
    void answer(HttpExchange request, String body) throws IOException;
  }

  private final Map<JobOption, String> options = new EnumMap<>(JobOption.class);
  private final List<String> bodies = Collections.synchronizedList(new ArrayList<>());
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private HttpServer container;
  private int port;

  @TempDir private Path directory;

  @BeforeEach
  void prepare() throws IOException {
    Files.createDirectory(directory.resolve("in"));
    options.put(JobOption.INPUT, directory.resolve("in").toString());
    options.put(JobOption.OUTPUT, directory.resolve("out").toString());
    options.put(JobOption.CONTENT_TYPE, "text/plain");
    options.put(JobOption.SPLIT_TYPE, "Line");
    options.put(JobOption.ASSEMBLE_WITH, "Line");
    options.put(JobOption.BATCH_STRATEGY, "SingleRecord");
  }

  @AfterEach
  void stop() {
    if (container != null) {
      container.stop(0);
    }
    threads.close();
  }

  @Test
  void aContainerThatComesLateIsWaitedFor() throws Exception {
    write("a", "one\n");
    open((request, body) -> answer(request, 200, body.toUpperCase(Locale.ROOT)));
    container.stop(0);
    var report = CompletableFuture.supplyAsync(this::run, threads);
    open((request, body) -> answer(request, 200, body.toUpperCase(Locale.ROOT)));
    assertThat(report.get()).matches(JobReport::isComplete);
    assertThat(output("a")).isEqualTo("ONE\n");
  }

  @Test
  void aContainerThatNeverComesEndsTheJobBeforeItBegins() throws Exception {
    write("a", "one\n");
    options.put(JobOption.PATIENCE, "0");
    port = 1;
    assertThat(run())
        .extracting(JobReport::status, JobReport::objects, JobReport::problem)
        .containsExactly(
            JobStatus.FAILED,
            0L,
            "http://127.0.0.1:1/prefix/ping has not been ready for 0 s (--patience): "
                + "the connection to http://127.0.0.1:1/prefix failed: ConnectException");
  }

  @Test
  void aContainerThatRestartsCostsNoObject() throws Exception {
    for (int i = 0; i < 20; i++) {
      write("%02d".formatted(i), "a%d\nb%d\n".formatted(i, i));
    }
    options.put(JobOption.INVOCATIONS_MAX_RETRIES, "1");
    var tenth = new CountDownLatch(10);
    open(
        (request, body) -> {
          tenth.countDown();
          answer(request, 200, body.toUpperCase(Locale.ROOT));
        });
    var report = CompletableFuture.supplyAsync(this::run, threads);
    tenth.await();
    container.stop(0);
    // As a proxy says while nothing is behind it, and a server that is starting.
    var refused = new AtomicInteger();
    open(
        (request, body) ->
            answer(request, refused.incrementAndGet() % 2 == 0 ? 502 : 503, "not yet"));
    await().until(() -> refused.get() > 5);
    container.stop(0);
    open((request, body) -> answer(request, 200, body.toUpperCase(Locale.ROOT)));
    assertThat(report.get())
        .matches(JobReport::isComplete)
        .extracting(JobReport::succeeded)
        .isEqualTo(20L);
    assertThat(output("07")).isEqualTo("A7\nB7\n");
  }

  @Test
  void aContainerThatStaysAwayEndsTheJobAndNotEachObject() throws Exception {
    for (int i = 0; i < 200; i++) {
      write("%03d".formatted(i), "a\n");
    }
    options.put(JobOption.PATIENCE, "1");
    open((request, body) -> answer(request, bodies.size() <= 5 ? 200 : 503, "busy"));
    var report = run();
    assertThat(report.status()).isEqualTo(JobStatus.FAILED);
    assertThat(report.problem())
        .contains("has not answered for 1 s (--patience): status 503: busy");
    assertThat(report.succeeded()).isEqualTo(5);
    assertThat(report.objects()).as("the others are not begun").isLessThan(20);
  }

  @Test
  void aRequestThatAloneIsRefusedForLongFailsItsObjectOnly() throws Exception {
    write("a", "one\n");
    write("b", "never\n");
    write("c", IntStream.range(0, 100).mapToObj(i -> "word\n").reduce("", String::concat));
    options.put(JobOption.PATIENCE, "1");
    options.put(JobOption.MAX_CONCURRENT_TRANSFORMS, "2");
    open(
        (request, body) -> {
          if (body.startsWith("word")) {
            pause();
          }
          answer(request, body.startsWith("never") ? 429 : 200, "answer");
        });
    var report = run();
    assertThat(report.problem()).isEmpty();
    assertThat(report.failures())
        .singleElement()
        .extracting(ObjectOutcome::key, ObjectOutcome::failure)
        .containsExactly("b", "record 1: status 429: answer");
  }

  @Test
  void aRetryAfterIsKept() throws Exception {
    write("a", "one\n");
    var times = new ArrayList<Long>();
    open(
        (request, body) -> {
          times.add(System.nanoTime());
          if (times.size() == 1) {
            request.getResponseHeaders().add("Retry-After", "2");
          }
          answer(request, times.size() == 1 ? 503 : 200, "answer");
        });
    assertThat(run()).matches(JobReport::isComplete);
    assertThat(times.get(1) - times.get(0)).isGreaterThanOrEqualTo(2_000_000_000L);
  }

  @Test
  void anAnswerThatStopsOnItsWayIsNotWaitedFor() throws Exception {
    write("a", "one\n");
    options.put(JobOption.INVOCATIONS_TIMEOUT, "1");
    options.put(JobOption.INVOCATIONS_MAX_RETRIES, "0");
    var done = new CountDownLatch(1);
    open(
        (request, body) -> {
          request.sendResponseHeaders(200, 10);
          request.getResponseBody().write("abc".getBytes(UTF_8));
          request.getResponseBody().flush();
          awaitUninterrupted(done);
        });
    assertThat(run().failures())
        .singleElement()
        .extracting(ObjectOutcome::failure)
        .asString()
        .contains("no answer within 1 s");
    done.countDown();
  }

  @Test
  void aDeadContainerLeavesNoErrorsInBedrocksLines() throws Exception {
    write("day.jsonl", "{\"recordId\": \"A\", \"modelInput\": {\"n\": 1}}\n".repeat(20));
    bedrock();
    options.put(JobOption.PATIENCE, "1");
    open((request, body) -> answer(request, bodies.size() <= 5 ? 200 : 503, "{}"));
    assertThat(run())
        .extracting(JobReport::status, JobReport::succeeded, JobReport::failed)
        .containsExactly(JobStatus.FAILED, 0L, 1L);
    assertThat(directory.resolve("out/day.jsonl.out")).doesNotExist();
    container.stop(0);
    open((request, body) -> answer(request, 200, "{}"));
    assertThat(run())
        .extracting(JobReport::status, JobReport::records, JobReport::errors)
        .containsExactly(JobStatus.COMPLETED, 20L, 0L);
  }

  @Test
  void aLongObjectGoesOnWhereItsContainerDied() throws Exception {
    write(
        "day.jsonl",
        IntStream.rangeClosed(1, 60)
            .mapToObj("{\"recordId\": \"R%d\", \"modelInput\": {\"n\": 1}}\n"::formatted)
            .reduce("", String::concat));
    bedrock();
    options.put(JobOption.PATIENCE, "1");
    open(
        (request, body) -> {
          pause();
          pause();
          answer(request, bodies.size() <= 55 ? 200 : 503, "{\"usage\": {\"input_tokens\": 2}}");
        });
    assertThat(run().failed()).isEqualTo(1);
    container.stop(0);
    bodies.clear();
    open((request, body) -> answer(request, 200, "{\"usage\": {\"input_tokens\": 2}}"));
    assertThat(run())
        .extracting(JobReport::status, JobReport::records)
        .containsExactly(JobStatus.COMPLETED, 60L);
    assertThat(bodies).as("those that had no answer").hasSizeLessThan(30);
    assertThat(Files.readAllLines(directory.resolve("out/day.jsonl.out")))
        .hasSize(60)
        .first()
        .asString()
        .contains("R1\"");
    assertThat(Files.readString(directory.resolve("out/manifest.json.out")))
        .contains("\"successRecordCount\":60,", "\"inputTokenCount\":120,");
    assertThat(directory.resolve("out/.berth-parts")).doesNotExist();

    // A journal of another job does not count, and does not stay.
    Files.delete(directory.resolve("out/day.jsonl.out"));
    var foreign = directory.resolve("out/.berth-parts/day.jsonl.parts/0123456789abcdef");
    Files.createDirectories(foreign.getParent());
    Files.writeString(foreign, "nonsense");
    assertThat(run()).matches(JobReport::isComplete);
    assertThat(Files.readString(directory.resolve("out/day.jsonl.out"))).doesNotContain("nonsense");
    assertThat(directory.resolve("out/.berth-parts")).doesNotExist();
  }

  @Test
  void aJobOfNothingButErrorsFailsAlsoWhenItIsDoneAgain() throws Exception {
    write("day.jsonl", "{\"recordId\": \"A\", \"modelInput\": {\"n\": 1}}\n".repeat(3));
    bedrock();
    open((request, body) -> answer(request, 400, "no"));
    for (int i = 0; i < 2; i++) {
      assertThat(run())
          .extracting(JobReport::status, JobReport::errors, JobReport::problem)
          .containsExactly(
              JobStatus.FAILED,
              3L,
              "each of the 3 records has an error; --overwrite does them again");
    }
    write("night.jsonl", "{\"recordId\": \"B\", \"modelInput\": {\"n\": 1}}\n");
    container.stop(0);
    open((request, body) -> answer(request, 200, "{}"));
    assertThat(run())
        .extracting(JobReport::status, JobReport::errors)
        .containsExactly(JobStatus.COMPLETED, 3L);
  }

  @Test
  void anOutputThatCannotBeWrittenIsFoundBeforeTheFirstCall() throws Exception {
    write("a", "one\n");
    options.put(
        JobOption.OUTPUT,
        Files.writeString(directory.resolve("file"), "").resolve("out").toString());
    open((request, body) -> answer(request, 200, "answer"));
    assertThat(run())
        .extracting(JobReport::status, JobReport::objects)
        .containsExactly(JobStatus.FAILED, 0L);
    assertThat(bodies).isEmpty();
  }

  @Test
  void noObjectAtAllIsAnError() throws Exception {
    open((request, body) -> answer(request, 200, "answer"));
    assertThat(run())
        .extracting(JobReport::status, JobReport::problem)
        .containsExactly(
            JobStatus.FAILED, directory.resolve("in") + ": found no object, expected one at least");
  }

  @Test
  void aLinkToNothingFailsAlone() throws Exception {
    write("a", "one\n");
    Files.createSymbolicLink(directory.resolve("in/b"), directory.resolve("gone"));
    open((request, body) -> answer(request, 200, body));
    var report = run();
    assertThat(report.succeeded()).isEqualTo(1);
    assertThat(report.failures()).singleElement().extracting(ObjectOutcome::key).isEqualTo("b");
  }

  @Test
  void aJobThatIsStoppedSaysSoAndTheNextDoesTheRest() throws Exception {
    for (int i = 0; i < 9; i++) {
      write("%d".formatted(i), "a\n");
    }
    var begun = new CountDownLatch(1);
    var goOn = new CountDownLatch(1);
    open(
        (request, body) -> {
          begun.countDown();
          awaitUninterrupted(goOn);
          answer(request, 200, body);
        });
    var runner = runner();
    var report = CompletableFuture.supplyAsync(() -> run(runner), threads);
    begun.await();
    runner.stop();
    goOn.countDown();
    assertThat(report.get())
        .extracting(JobReport::status, JobReport::succeeded, JobReport::problem)
        .containsExactly(
            JobStatus.STOPPED, 1L, "stopped by a signal; the same command does the rest");
    assertThat(run())
        .extracting(JobReport::status, JobReport::succeeded, JobReport::skipped)
        .containsExactly(JobStatus.COMPLETED, 8L, 1L);
  }

  private void bedrock() {
    options.keySet().retainAll(Set.of(JobOption.INPUT, JobOption.OUTPUT));
    options.put(JobOption.FORMAT, "bedrock");
  }

  /// On the port of the one before.
  private void open(Answering answering) throws IOException {
    container =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 50);
    port = container.getAddress().getPort();
    container.setExecutor(threads);
    container.createContext("/prefix/ping", request -> answer(request, 200, ""));
    container.createContext(
        "/prefix/invocations",
        request -> {
          var body = new String(request.getRequestBody().readAllBytes(), UTF_8);
          bodies.add(body);
          answering.answer(request, body);
        });
    container.start();
  }

  private static void answer(HttpExchange request, int status, String body) throws IOException {
    var bytes = body.getBytes(UTF_8);
    request.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
    request.getResponseBody().write(bytes);
    request.close();
  }

  private static void awaitUninterrupted(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /// So that the others are answered for longer than a second in all.
  private static void pause() {
    try {
      Thread.sleep(20);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void write(String key, String text) throws IOException {
    Files.writeString(directory.resolve("in").resolve(key), text);
  }

  private String output(String key) throws IOException {
    return Files.readString(directory.resolve("out").resolve(key + ".out"));
  }

  private JobRunner runner() {
    try {
      return new JobRunner(
          JobReader.read(options, Map.of(), Set.of()),
          new Storage(S3Options.DEFAULT),
          new Unwatched());
    } catch (JobException e) {
      throw new IllegalStateException(String.join(", ", e.problems()), e);
    }
  }

  private JobReport run() {
    return run(runner());
  }

  private JobReport run(JobRunner runner) {
    try {
      return runner.run(URI.create("http://127.0.0.1:%d/prefix".formatted(port)));
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
