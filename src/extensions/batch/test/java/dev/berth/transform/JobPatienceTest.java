package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.atIndex;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.berth.content.Sha256;
import dev.berth.testing.Gate;
import dev.berth.testing.TestThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Jobs whose container goes away, comes back, or asks to be left alone. It is one of another make,
/// on one port of its own.
@Tag("slow")
class JobPatienceTest {

    /// Answers one request to `/invocations`.
    @FunctionalInterface
    private interface Answering {
        void answer(HttpExchange request, String body) throws IOException;
    }

    private final List<String> bodies = Collections.synchronizedList(new ArrayList<>());
    private final ExecutorService threads = new TestThreads();
    private HttpServer container;
    private int port;
    private TestJob job;

    @TempDir
    private Path directory;

    @BeforeEach
    void prepare() throws IOException {
        Files.createDirectory(directory.resolve("in"));
        job = new TestJob(
                directory,
                "--content-type text/plain --split-type Line --assemble-with Line --batch-strategy SingleRecord");
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
        job.write("a", "one\n");
        open((request, body) -> answer(request, 200, body.toUpperCase(Locale.ROOT)));
        container.stop(0);
        var report = CompletableFuture.supplyAsync(() -> run(), threads);
        open((request, body) -> answer(request, 200, body.toUpperCase(Locale.ROOT)));
        assertThat(report.get()).matches(JobReport::isComplete);
        assertThat(job.output("a")).isEqualTo("ONE\n");
    }

    @Test
    void aContainerThatNeverComesEndsTheJobBeforeItBegins() throws Exception {
        job.write("a", "one\n");
        job.set("--patience 0");
        port = 1;
        assertThat(run())
                .extracting("status", "tally.objects", "problem")
                .containsExactly(
                        JobStatus.FAILED,
                        0L,
                        "http://127.0.0.1:1/prefix/ping has not been ready for 0 s (--patience): "
                                + "the connection to http://127.0.0.1:1/prefix failed: ConnectException");
    }

    @Test
    void asManyRequestsAreUnderWayAsTheJobSays() throws Exception {
        var gate = new Gate(64);
        job.write("a", "one\n".repeat(64));
        job.set("--max-concurrent-transforms 64");
        open((request, _) -> {
            gate.passWhateverInterrupts();
            answer(request, 200, "ONE");
        });
        var report = CompletableFuture.supplyAsync(() -> run(), threads);
        gate.awaitArrival();
        gate.open();
        assertThat(report.get()).matches(JobReport::isComplete);
    }

    @Test
    void aContainerThatRestartsCostsNoObject() throws Exception {
        for (int i = 0; i < 20; i++) {
            job.write("%02d".formatted(i), "a%d\nb%d\n".formatted(i, i));
        }
        job.set("--invocations-max-retries 1");
        var tenth = new CountDownLatch(10);
        open((request, body) -> {
            tenth.countDown();
            answer(request, 200, body.toUpperCase(Locale.ROOT));
        });
        var report = CompletableFuture.supplyAsync(() -> run(), threads);
        tenth.await();
        container.stop(0);
        // As a proxy says while nothing is behind it, and a server that is starting.
        var refused = new AtomicInteger();
        open((request, body) -> answer(request, refused.incrementAndGet() % 2 == 0 ? 502 : 503, "not yet"));
        await().until(() -> refused.get() > 5);
        reopen((request, body) -> answer(request, 200, body.toUpperCase(Locale.ROOT)));
        assertThat(report.get())
                .matches(JobReport::isComplete)
                .extracting("tally.succeeded")
                .isEqualTo(20L);
        assertThat(job.output("07")).isEqualTo("A7\nB7\n");
    }

    @Test
    void aContainerThatStaysAwayEndsTheJobAndNotEachObject() throws Exception {
        for (int i = 0; i < 200; i++) {
            job.write("%03d".formatted(i), "a\n");
        }
        job.set("--patience 1");
        open((request, body) -> answer(request, bodies.size() <= 5 ? 200 : 503, "busy"));
        var report = run();
        assertThat(report.status()).isEqualTo(JobStatus.FAILED);
        assertThat(report.problem()).contains("has not answered for 1 s (--patience): status 503: busy");
        assertThat(report.tally().succeeded()).isEqualTo(5);
        assertThat(report.tally().objects()).as("the others are not begun").isLessThan(20);
    }

    @Test
    void aRequestThatAloneIsRefusedForLongFailsItsObjectOnly() throws Exception {
        job.write("a", "one\n");
        job.write("b", "never\n");
        job.write("c", "word\n".repeat(100));
        job.set("--patience 1 --max-concurrent-transforms 2");
        var others = new Gate(1);
        open((request, body) -> {
            if (body.startsWith("word")) {
                others.open();
                // So that the others are answered for longer than a second in all.
                LockSupport.parkNanos(20_000_000);
            } else if (body.startsWith("never")) {
                others.passWhateverInterrupts();
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
        job.write("a", "one\n");
        var times = new ArrayList<Long>();
        open((request, body) -> {
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
        job.write("a", "one\n");
        job.set("--invocations-timeout 1 --invocations-max-retries 0");
        var gate = new Gate(1);
        open((request, body) -> {
            request.sendResponseHeaders(200, 10);
            request.getResponseBody().write("abc".getBytes(UTF_8));
            request.getResponseBody().flush();
            gate.passWhateverInterrupts();
        });
        assertThat(Unwatched.failure(run())).contains("no answer within 1 s");
        gate.open();
    }

    @Test
    void aDeadContainerLeavesNoErrorsInBedrocksLines() throws Exception {
        job.write("day.jsonl", "{\"recordId\": \"A\", \"modelInput\": {\"n\": 1}}\n".repeat(20));
        bedrock();
        job.set("--patience 1");
        open((request, body) -> answer(request, bodies.size() <= 5 ? 200 : 503, "{}"));
        assertThat(run())
                .extracting("status", "tally.succeeded", "tally.failed")
                .as("the object has not failed, the job has")
                .containsExactly(JobStatus.FAILED, 0L, 0L);
        assertThat(directory.resolve("out/day.jsonl.out")).doesNotExist();
        reopen((request, body) -> answer(request, 200, "{}"));
        assertThat(run())
                .extracting("status", "tally.records", "tally.errors")
                .containsExactly(JobStatus.COMPLETED, 20L, 0L);
    }

    @Test
    void aLongObjectGoesOnWhereItsContainerDied() throws Exception {
        job.write("day.jsonl", bedrockLines(60));
        bedrock();
        job.set("--patience 1");
        open((request, body) -> {
            answer(request, bodies.size() <= 55 ? 200 : 503, "{\"usage\": {\"input_tokens\": 2}}");
        });
        assertThat(run().isComplete()).isFalse();
        var answers = Files.readAllBytes(part());
        reopen((request, body) -> answer(request, 200, "{\"usage\": {\"input_tokens\": 2}}"));
        assertThat(run()).extracting("status", "tally.records").containsExactly(JobStatus.COMPLETED, 60L);
        assertThat(bodies).as("those that had no answer").hasSizeLessThan(30);
        assertThat(job.lines("day.jsonl")).hasSize(60).first().asString().contains("R1\"");
        assertThat(job.output("manifest.json")).contains("\"successRecordCount\":60,", "\"inputTokenCount\":120,");
        assertThat(directory.resolve("out/.berth-parts")).doesNotExist();

        // What another job has left does not count, and does not stay.
        Files.delete(directory.resolve("out/day.jsonl.out"));
        var foreign = directory.resolve("out/.berth-parts/%s.parts/0123456789abcdef/000000000000000001-0"
                .formatted(Sha256.hex("00000-of-00001 day.jsonl")));
        Files.createDirectories(foreign.getParent());
        Files.write(foreign, answers);
        reopen((request, body) -> answer(request, 200, "{\"usage\": {\"input_tokens\": 2}}"));
        assertThat(run()).matches(JobReport::isComplete);
        assertThat(bodies).hasSize(60);
        assertThat(directory.resolve("out/.berth-parts")).doesNotExist();
    }

    private Path part() throws IOException {
        try (var files = Files.walk(directory.resolve("out/.berth-parts"))) {
            return files.filter(Files::isRegularFile).findFirst().orElseThrow();
        }
    }

    @Test
    void aJobOfNothingButErrorsFailsAlsoWhenItIsDoneAgain() throws Exception {
        job.write("day.jsonl", "{\"recordId\": \"A\", \"modelInput\": {\"n\": 1}}\n".repeat(3));
        bedrock();
        open((request, body) -> answer(request, 400, "no"));
        for (int i = 0; i < 2; i++) {
            assertThat(run())
                    .extracting("status", "tally.errors", "problem")
                    .containsExactly(JobStatus.FAILED, 3L, "each record has an error; --overwrite does them again");
        }
        job.write("night.jsonl", "{\"recordId\": \"B\", \"modelInput\": {\"n\": 1}}\n");
        reopen((request, body) -> answer(request, 200, "{}"));
        assertThat(run()).extracting("status", "tally.errors").containsExactly(JobStatus.COMPLETED, 3L);
    }

    @Test
    void theErrorsOfAContainerAreAskedAgainAndThoseOfRecordsWhereThatIsSaid() throws Exception {
        job.set("--invocations-max-retries 0 --max-concurrent-transforms 4");
        job.write("day", bedrockLines(40));
        bedrock();
        open(forBadAnd(500));
        assertThat(run()).extracting("status", "tally.errors").containsExactly(JobStatus.COMPLETED, 11L);
        reopen(forBadAnd(200));
        assertThat(run())
                .extracting("status", "tally.succeeded", "tally.errors")
                .containsExactly(JobStatus.COMPLETED, 1L, 1L);
        assertThat(bodies).as("those that had an error of the container").hasSize(10);
        assertThat(job.lines("day"))
                .hasSize(40)
                .satisfies(line -> assertThat(line).contains("\"R13\"", "{\"n\": 13}"), atIndex(12))
                .satisfies(line -> assertThat(line).contains("\"R7\"", "\"errorCode\":400"), atIndex(6));
        bodies.clear();
        assertThat(run().tally().skipped()).isEqualTo(1);
        assertThat(bodies).isEmpty();
        assertThat(run(JobOption.RETRY_ERRORS).tally().errors()).isEqualTo(1);
        assertThat(bodies).as("that of the record").hasSize(1);
        assertThat(job.output("manifest.json")).contains("\"successRecordCount\":39,\"errorRecordCount\":1,");
    }

    /// The one that counts the records of the joined output asks for all of them.
    @Test
    void theErrorsOfASplitObjectAreAskedAgainToo() throws Exception {
        job.set("--invocations-max-retries 0");
        var fill = "\"fill\": \"%s\", \"custom_id\"".formatted("x".repeat(8000));
        job.write("day", bedrockLines(40).replace("\"recordId\"", fill).replace("modelInput", "body"));
        bedrock();
        job.set("--format openai");
        open(forBadAnd(500));
        assertThat(errorsOfTwo()).isEqualTo(11);
        reopen(forBadAnd(200));
        assertThat(errorsOfTwo()).isEqualTo(1);
        assertThat(bodies).hasSize(10);
        assertThat(job.lines("day"))
                .hasSize(40)
                .satisfies(line -> assertThat(line).contains("\"R13\"", "{\"n\": 13}"), atIndex(12));
    }

    private long errorsOfTwo() {
        job.set("--instance-count 2");
        long errors = 0;
        for (var index : List.of("0", "1")) {
            job.set("--instance-index %s", index);
            var report = run(JobOption.SPLIT_OBJECTS);
            assertThat(report).matches(JobReport::isComplete);
            errors += report.tally().errors();
        }
        return errors;
    }

    /// Record 7 is bad, the container fails with 10 to 19.
    private static Answering forBadAnd(int status) {
        return (request, body) -> {
            int number = Integer.parseInt(body.replaceAll("\\D", ""));
            answer(request, number == 7 ? 400 : number / 10 == 1 ? status : 200, body);
        };
    }

    private static String bedrockLines(int count) {
        return IntStream.rangeClosed(1, count)
                .mapToObj("{\"recordId\": \"R%1$d\", \"modelInput\": {\"n\": %1$d}}\n"::formatted)
                .reduce("", String::concat);
    }

    @Test
    void anInputThatHasChangedDoesNotTakeItsErrorsPlaces() throws Exception {
        job.set("--invocations-max-retries 0");
        job.write("day", bedrockLines(40));
        bedrock();
        open(forBadAnd(500));
        run();
        reopen(forBadAnd(200));
        job.write("day", bedrockLines(41));
        assertThat(Unwatched.failure(run()))
                .endsWith("found other records than the object has now; --overwrite makes it anew");
        job.write("day", bedrockLines(40).replace("R2\"", "R02\""));
        bodies.clear();
        assertThat(run()).matches(JobReport::isComplete);
        assertThat(bodies).as("the one with another id, too").hasSize(11);
        assertThat(job.output("day")).contains("\"R02\"");
    }

    @Test
    void aJobOfNothingButKeptErrorsFailsAlsoWhenItIsDoneAgain() throws Exception {
        lines();
        job.write("a", "1\n2\n");
        job.write("b", "3\n");
        open((request, body) -> answer(request, 400, "no"));
        for (int i = 0; i < 2; i++) {
            assertThat(run())
                    .extracting("status", "tally.failed", "problem")
                    .containsExactly(JobStatus.FAILED, 0L, "each record has an error; --overwrite does them again");
        }
        reopen((request, body) -> answer(request, body.equals("2\n") ? 400 : 200, body));
        assertThat(run(JobOption.RETRY_ERRORS))
                .extracting("status", "tally.succeeded", "tally.errors")
                .containsExactly(JobStatus.COMPLETED, 2L, 1L);
        assertThat(job.output("a")).isEqualTo("1\n{\"error\":\"line 2: 2\"}\n");
        assertThat(run()).extracting("status", "tally.skipped").containsExactly(JobStatus.COMPLETED, 2L);
        bodies.clear();
        assertThat(run(JobOption.RETRY_ERRORS).tally().skipped()).isEqualTo(1);
        assertThat(bodies).containsExactly("2\n");
    }

    private void lines() {
        job.set("--content-type application/jsonlines --accept application/jsonlines --bad-records keep");
    }

    @Test
    void moreFailuresThanThereMayBeEndTheJob() throws Exception {
        for (int i = 0; i < 50; i++) {
            job.write("%02d".formatted(i), "a\n");
        }
        job.set("--max-failures 3");
        open((request, body) -> answer(request, 400, "no"));
        var report = run();
        assertThat(report.status()).isEqualTo(JobStatus.FAILED);
        assertThat(report.problem())
                .startsWith("more than 3 objects or records have failed (--max-failures), the last one: ")
                .endsWith("status 400: no");
        assertThat(report.tally().failed()).isEqualTo(4);
        assertThat(bodies).hasSizeLessThan(10);
        bodies.clear();
        lines();
        assertThat(run().problem()).contains("--max-failures").endsWith(": line 1: no");
        assertThat(bodies).hasSizeLessThan(10);
        reopen((request, body) -> answer(request, 200, "{\"error\":\"line 1: é\"}\n"));
        assertThat(run().problem()).matches(".*last one: \\d\\d: line 1: é");
    }

    @Test
    void anOutputThatCannotBeWrittenIsFoundBeforeTheFirstCall() throws Exception {
        job.write("a", "one\n");
        job.set(
                "--output %s",
                Files.writeString(directory.resolve("file"), "").resolve("out").toString());
        open((request, body) -> answer(request, 200, "answer"));
        assertThat(run()).extracting("status", "tally.objects").containsExactly(JobStatus.FAILED, 0L);
        assertThat(bodies).isEmpty();
    }

    @Test
    void aLinkToNothingFailsAlone() throws Exception {
        job.write("a", "one\n");
        Files.createSymbolicLink(directory.resolve("in/b"), directory.resolve("gone"));
        open((request, body) -> answer(request, 200, body));
        var report = run();
        assertThat(report.tally().succeeded()).isEqualTo(1);
        assertThat(report.failures())
                .singleElement()
                .extracting(ObjectOutcome::key)
                .isEqualTo("b");
    }

    @Test
    void aJobThatIsStoppedSaysSoAndTheNextDoesTheRest() throws Exception {
        for (int i = 0; i < 9; i++) {
            job.write("%d".formatted(i), "a\n");
        }
        var gate = new Gate(1);
        open((request, body) -> {
            gate.passWhateverInterrupts();
            answer(request, 200, body);
        });
        var runner = runner();
        var report = CompletableFuture.supplyAsync(() -> run(runner), threads);
        gate.awaitArrival();
        runner.stop();
        gate.open();
        assertThat(report.get())
                .extracting("status", "tally.succeeded", "problem")
                .containsExactly(
                        JobStatus.STOPPED,
                        1L,
                        "stopped by a signal; the same command, without --overwrite, goes on from there");
        assertThat(job.outputs().keySet()).as("and no lock").allMatch(name -> name.endsWith(".out"));
        assertThat(run())
                .extracting("status", "tally.succeeded", "tally.skipped")
                .containsExactly(JobStatus.COMPLETED, 8L, 1L);
    }

    private void bedrock() {
        job.without(JobOption.CONTENT_TYPE, JobOption.SPLIT_TYPE, JobOption.ASSEMBLE_WITH, JobOption.BATCH_STRATEGY)
                .set("--format bedrock");
    }

    private void reopen(Answering answering) throws IOException {
        container.stop(0);
        bodies.clear();
        open(answering);
    }

    /// On the port of the one before.
    private void open(Answering answering) throws IOException {
        container = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 50);
        port = container.getAddress().getPort();
        container.setExecutor(threads);
        container.createContext("/prefix/ping", request -> answer(request, 200, ""));
        container.createContext("/prefix/invocations", request -> {
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

    private JobRunner runner(JobOption... switches) {
        return new JobRunner(job.read(switches), new Unwatched());
    }

    private JobReport run(JobOption... switches) {
        return run(runner(switches));
    }

    private JobReport run(JobRunner runner) {
        return TestJob.run(runner, URI.create("http://127.0.0.1:%d/prefix".formatted(port)));
    }
}
