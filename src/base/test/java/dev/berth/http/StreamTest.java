package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static dev.berth.testing.TestServer.session;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.SessionHandler;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.Leftovers;
import dev.berth.testing.RawConnection;
import dev.berth.testing.SpellingHandler;
import dev.berth.testing.TestServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Answers that leave part by part.
@Timeout(600)
class StreamTest {

    private static final String EVENTS = "text/event-stream";
    private static final String ID = "X-Amzn-SageMaker-Session-Id";
    private static final String LINES = "application/jsonlines";

    private final SpellingHandler spelling = new SpellingHandler();

    @AutoClose
    private TestServer server;

    /// Makes each step wait until the test lets it go.
    private static final class SteppedHandler extends SpellingHandler {
        private final Semaphore allowed = new Semaphore(0);

        @Override
        public void stepFn(List<PartStream<Spelling, String>> streams, Object model) throws Exception {
            allowed.acquire();
            super.stepFn(streams, model);
        }
    }

    @Test
    @Tag("STR-01")
    void theFirstPartLeavesBeforeTheSecondIsMade() throws Exception {
        var handler = new SteppedHandler();
        server = TestServer.with(handler).start();
        try (var client = new RawConnection(server.port())) {
            client.send(post("ab", EVENTS));
            handler.allowed.release();
            var head = client.readResponse();
            assertThat(head)
                    .startsWith("HTTP/1.1 200")
                    .contains("Transfer-Encoding: chunked", "Content-Type: text/event-stream");
            assertThat(client.readLine()).isEqualTo("9");
            assertThat(client.readLine()).isEqualTo("data: A");
            assertThat(handler.steps()).hasSize(1);
            handler.allowed.release();
            assertThat(client.readLine()).isEmpty();
            assertThat(client.readLine()).isEmpty();
            assertThat(client.readLine()).isEqualTo("9");
            assertThat(client.readLine()).isEqualTo("data: B");
        }
    }

    @Test
    @Tag("STR-02")
    void whateverPiecesAReaderTakesTheContentIsTheSame() throws Exception {
        var random = new Random(22);
        var text = random.ints(20_000, 'a', 'z' + 1)
                .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append);
        server = TestServer.with(spelling).start();
        var request = HttpRequest.newBuilder(server.uri("/invocations"))
                .header("Accept", LINES)
                .POST(BodyPublishers.ofString(text.toString()))
                .build();
        var body = server.send(request, BodyHandlers.ofInputStream()).body();
        var all = new ByteArrayOutputStream();
        for (int count = 0; count >= 0; ) {
            var piece = new byte[1 + random.nextInt(3000)];
            count = body.read(piece);
            all.write(piece, 0, Math.max(0, count));
        }
        assertThat(all.toString(StandardCharsets.UTF_8).replace("\n", ""))
                .isEqualTo(text.toString().toUpperCase(Locale.ROOT));
    }

    @Test
    @Tag("STR-03")
    void aFailureBeforeTheFirstPartIsAProperStatus() throws Exception {
        server = TestServer.with(spelling).start();
        var refused = server.invoke("?", "Accept", EVENTS);
        assertStatus(refused, 400, "line: found a ?, expected letters");
        assertThat(refused.headers().firstValue("Content-Type"))
                .hasValueSatisfying(type -> assertThat(type).startsWith("application/json"));
        var notBegun = server.invoke("0", "Accept", EVENTS);
        assertStatus(notBegun, 400, "line: found a 0, expected letters");
        assertThat(server.invoke("!", "Accept", EVENTS).statusCode()).isEqualTo(500);
        var unencoded = server.invoke("#", "Accept", EVENTS);
        assertStatus(unencoded, 500, "partFn failed", "can't encode #");
        assertThat(server.invoke("ab", "Accept", "image/png").body()).isEqualTo("AB");
    }

    @Test
    @Tag("STR-04")
    void aFailureAfterTheFirstPartIsToldInAnEventOrALineAndCutsOffWhatCannotTellIt() throws Exception {
        server = TestServer.with(spelling).start();
        try (var log = new CapturedLog();
                var client = new RawConnection(server.port())) {
            assertThat(server.invoke("a!", "Accept", EVENTS).body())
                    .startsWith("data: A\n\nevent: error\ndata: {\"error\":{\"message\":\"stepFn failed")
                    .endsWith("\"code\":500}}\n\n");
            assertThat(server.invoke("ab?", "Accept", LINES).body())
                    .isEqualTo(
                            "A\nB\n{\"error\":{\"message\":\"line: found a ?, expected letters\",\"type\":\"bad_input\",\"code\":400}}\n");
            await().untilAsserted(() -> assertThat(log.text()).contains("500 in", "400 in", "BAD_INPUT"));
            assertThat(server.get("/metrics").body())
                    .contains(
                            "berth_requests_total{route=\"/invocations\",status=\"500\"} 1.0",
                            "berth_model_requests_total{model=\"model\",status=\"500\"} 1.0",
                            "berth_model_requests_total{model=\"model\",status=\"400\"} 1.0",
                            "berth_streams_broken_total{model=\"model\"} 2.0")
                    .doesNotContain("status=\"200\"");
            assertThat(log.events().stream().filter(event -> event.getThrowableProxy() != null))
                    .hasSize(1);
            assertThat(client.send(post("ab!", "text/plain")).readAll())
                    .startsWith("HTTP/1.1 200")
                    .contains("A")
                    .doesNotEndWith("0\r\n\r\n");
        }
    }

    @Test
    @Tag("slow")
    @Tag("STR-05")
    void partsMayGoOnLongAfterTheTimeForTheFirst() throws Exception {
        var handler = new SpellingHandler() {
            @Override
            public void stepFn(List<PartStream<Spelling, String>> streams, Object model) throws Exception {
                super.stepFn(streams, model);
                streams.forEach(stream -> stream.pause(Duration.ofMillis(300)));
            }
        };
        server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=1");
        assertThat(server.invoke("abcdefghij", "Accept", LINES).body()).isEqualTo("A\nB\nC\nD\nE\nF\nG\nH\nI\nJ\n");
    }

    @Test
    @Tag("slow")
    void anAnswerWithoutAFirstPartInTimeIs504() throws Exception {
        server = TestServer.with(spelling).start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=1");
        assertThat(server.invoke("_a", "Accept", LINES).statusCode()).isEqualTo(504);
        assertThat(server.invoke("_a").statusCode()).isEqualTo(504);
    }

    @Test
    @Tag("slow")
    void anAnswerIsEndedWhenAPartOrTheWholeTakesTooLong() throws Exception {
        server = TestServer.with(spelling).start("BERTH_STREAM_PART_TIMEOUT=1");
        assertThat(server.invoke("a_b", "Accept", LINES).body())
                .startsWith("A\n{\"error\":")
                .contains("deadline_exceeded");
        await().until(() -> spelling.open() == 0);
        server.close();
        var endless = new SpellingHandler() {
            @Override
            public Spelling beginFn(String line, Object model) {
                return super.beginFn("a".repeat(1 << 20), model);
            }

            @Override
            public void stepFn(List<PartStream<Spelling, String>> streams, Object model) throws Exception {
                super.stepFn(streams, model);
                streams.forEach(stream -> stream.pause(Duration.ofMillis(10)));
            }
        };
        server = TestServer.with(endless).start("BERTH_STREAM_TIMEOUT=2");
        assertThat(server.invoke("a", "Accept", LINES).body())
                .startsWith("A\nA\n")
                .contains("deadline_exceeded");
        await().until(() -> endless.open() == 0);
    }

    @Test
    @Tag("STR-06")
    void aReaderWhoLeavesEndsTheWork() throws Exception {
        server = TestServer.with(spelling).start();
        for (var text : List.of("a_b", "%".repeat(1 << 20))) {
            try (var client = new RawConnection(server.port())) {
                client.send(post(text, EVENTS));
                assertThat(client.readResponse()).startsWith("HTTP/1.1 200");
                assertThat(spelling.open()).isEqualTo(1);
            }
            await().until(() -> spelling.open() == 0);
        }
        server.awaitMetrics("berth_streams{model=\"model\"} 0");
    }

    @Test
    @Tag("STR-07")
    void eventsHaveADataLineForEachLineOfAPart() throws Exception {
        var handler = new SpellingHandler() {
            @Override
            public byte[] partFn(String part, int record, InvocationRequest request) {
                return (part + "1\n" + part + "2\r\n\r" + record).getBytes(StandardCharsets.UTF_8);
            }
        };
        server = TestServer.with(handler).start();
        var response = server.invoke("a", "Accept", EVENTS);
        assertThat(response.body()).isEqualTo("data: A1\ndata: A2\ndata: \ndata: 0\n\n");
        assertThat(response.headers().firstValue("Cache-Control")).hasValue("no-cache");
        assertThat(response.headers().firstValue("Content-Length")).isEmpty();
    }

    @Test
    void whoeverWantsOneBodyGetsIt() throws Exception {
        server = TestServer.with(spelling).start();
        var response = server.invoke("abc\n\nde", "Accept", "application/json");
        assertThat(response.body()).isEqualTo("ABC\n\nDE");
        assertThat(response.headers().firstValue("Content-Length")).hasValue("7");
        assertThat(server.invoke("", "Accept", "application/json").body()).isEmpty();
        assertThat(server.invoke("a!").statusCode()).isEqualTo(500);
        assertThat(server.invoke("a?").statusCode()).isEqualTo(400);
    }

    @Test
    void aBatchTransformJobGetsWholeAnswers() throws Exception {
        server = TestServer.with(spelling).start("SAGEMAKER_BATCH=true");
        assertThat(server.invoke("abc", "Accept", LINES).body()).isEqualTo("ABC");
        assertThat(server.invoke("a!", "Accept", LINES).statusCode()).isEqualTo(500);
    }

    @Test
    void partsOfSeveralRecordsShareAnAnswer() throws Exception {
        var handler = new SpellingHandler() {
            @Override
            public byte[] partFn(String part, int record, InvocationRequest request) {
                return "%d%s".formatted(record, part).getBytes(StandardCharsets.UTF_8);
            }
        };
        server = TestServer.with(handler).start();
        assertThat(server.invoke("abc\n\nde", "Accept", LINES).body().lines())
                .containsExactlyInAnyOrder("0A", "0B", "0C", "2D", "2E")
                .containsSubsequence("0A", "0B", "0C")
                .containsSubsequence("2D", "2E");
    }

    @Test
    void aRecordJoinsTheStepsOfOthersAndLeavesThem() throws Exception {
        var handler = new SteppedHandler();
        server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=1");
        var slow = server.invokeAsync("abcdef", "Accept", LINES);
        handler.allowed.release(2);
        await().until(() -> handler.steps().size() == 2 && handler.allowed.hasQueuedThreads());
        var quick = server.invokeAsync("xy", "Accept", LINES);
        var whole = server.invokeAsync("z");
        server.awaitQueued(2);
        handler.allowed.release(100);
        assertThat(quick.join().body()).isEqualTo("X\nY\n");
        assertThat(whole.join().body()).isEqualTo("Z");
        assertThat(slow.join().body()).isEqualTo("A\nB\nC\nD\nE\nF\n");
        // The third step had begun when the two came.
        assertThat(handler.steps()).hasSize(6);
        assertThat(handler.steps().get(3)).containsExactlyInAnyOrder("abcdef", "xy", "z");
        assertThat(handler.steps().get(4)).containsExactlyInAnyOrder("abcdef", "xy");
        assertThat(handler.steps().get(5)).containsExactly("abcdef");
    }

    /// A worker that has taken the last record is the only one that knows of it until it has begun
    /// it.
    @Test
    void aRecordThatIsBegunWhileAnotherWorkerGoesIdleGoesOn() throws Exception {
        var slow = new Gate(1);
        var handler = new SpellingHandler() {
            @Override
            public Spelling beginFn(String line, Object model) {
                if (line.startsWith("slow")) {
                    slow.passWhateverInterrupts();
                }
                return super.beginFn(line, model);
            }
        };
        server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=2");
        var first = server.invokeAsync("slow", "Accept", LINES);
        slow.awaitArrival();
        assertThat(server.invoke("quick", "Accept", LINES).body()).isEqualTo("Q\nU\nI\nC\nK\n");
        slow.open();
        assertThat(first.join().body()).isEqualTo("S\nL\nO\nW\n");
    }

    @Test
    @Tag("SES-03")
    void aStreamIsInItsSessionUntilItsLastPart() throws Exception {
        var handler = new Remembering();
        server = TestServer.with(handler).start();
        try (var client = new RawConnection(server.port())) {
            var id = session(server.invoke("a", ID, "NEW_SESSION", "Accept", LINES));
            client.send(post("b_c", LINES).replace("Host: x", "Host: x\r\nX-Amzn-SageMaker-Session-Id: " + id));
            assertThat(client.readResponse()).startsWith("HTTP/1.1 200");
            var second = server.invokeAsync("d", ID, id, "Accept", LINES);
            assertThat(handler.lines).containsExactly("a", "b_c");
            client.close();
            assertThat(second.join().body()).isEqualTo("D\n");
            assertThat(handler.lines).containsExactly("a", "b_c", "d");
        }
    }

    /// Has its session remember the lines that it was asked.
    private static final class Remembering extends SpellingHandler implements SessionHandler<List<String>> {
        private final List<String> lines = new CopyOnWriteArrayList<>();

        @Override
        @SuppressWarnings("unchecked")
        public List<String> inputFn(InvocationRequest request) throws IOException {
            var records = super.inputFn(request);
            request.session(List.class).orElseThrow().addAll(records);
            return records;
        }

        @Override
        public List<String> openSession(InvocationRequest request) {
            return lines;
        }
    }

    @Test
    void noMoreThanABatchMayHoldAreInAStep() throws Exception {
        server = TestServer.with(spelling).start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_MAX_BATCH_SIZE=3");
        var answers = IntStream.range(0, 10)
                .mapToObj(i -> server.invokeAsync("abcd", "Accept", LINES))
                .toList();
        answers.forEach(answer -> assertThat(answer.join().body()).isEqualTo("A\nB\nC\nD\n"));
        assertThat(spelling.steps()).allSatisfy(step -> assertThat(step).hasSizeLessThanOrEqualTo(3));
    }

    @Test
    void aSlowReaderSlowsItsOwnStreamAndNobodyElses() throws Exception {
        server = TestServer.with(spelling).start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_MAX_BATCH_SIZE=2");
        try (var one = new RawConnection(server.port());
                var two = new RawConnection(server.port());
                var three = new RawConnection(server.port())) {
            // 1 GiB each, of which nothing is read.
            for (var client : List.of(one, two, three)) {
                client.send(post("%".repeat(1 << 16), EVENTS));
                assertThat(client.readResponse()).startsWith("HTTP/1.1 200");
            }
            assertThat(server.invoke("abc", "Accept", LINES).body()).isEqualTo("A\nB\nC\n");
            await().until(() -> {
                int before = spelling.steps().size();
                return server.invoke("abc").body().equals("ABC")
                        && spelling.steps().size() == before + 3;
            });
            await().until(() -> spelling.open() == 3);
            assertThat(spelling.steps()).hasSizeLessThan(1 << 14);
        }
        server.close();
        await().until(() -> spelling.open() == 0);
    }

    @Test
    @Tag("slow")
    void aReaderWhoDoesNotReadAtAllIsCutOffWhenItsTimeIsOver() throws Exception {
        server = TestServer.with(spelling).start("BERTH_STREAM_PART_TIMEOUT=2");
        try (var client = new RawConnection(server.port())) {
            client.send(post("%".repeat(1 << 16), EVENTS));
            await().until(() -> spelling.open() == 1);
            await().until(() -> spelling.open() == 0);
            assertThat(client.readAll()).doesNotEndWith("0\r\n\r\n");
            assertThat(server.invoke("a").body()).isEqualTo("A");
        }
    }

    @Test
    void aRecordThatThrowsFailsItsOwnStreamOnly() throws Exception {
        var gate = new Gate(1);
        var handler = new SpellingHandler() {
            @Override
            public void stepFn(List<PartStream<Spelling, String>> streams, Object model) throws Exception {
                gate.pass();
                super.stepFn(streams, model);
            }
        };
        server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=1");
        var answers = List.of("abcdefgh", "ab!", "a#b", "abc?", "xyz").stream()
                .map(text -> server.invokeAsync(text, "Accept", LINES))
                .toList();
        gate.awaitArrival();
        gate.open();
        assertThat(answers.get(0).join().body()).isEqualTo("A\nB\nC\nD\nE\nF\nG\nH\n");
        assertThat(answers.get(1).join().body()).startsWith("A\nB\n{\"error\"").contains("no such letter");
        assertThat(answers.get(2).join().body()).startsWith("A\n{\"error\"").contains("can't encode #");
        assertThat(answers.get(3).join().body())
                .startsWith("A\nB\nC\n{\"error\"")
                .contains("found a ?");
        assertThat(answers.get(4).join().body()).isEqualTo("X\nY\nZ\n");
        server.close();
        assertThat(handler.open()).isZero();
    }

    @Test
    @Tag("slow")
    void aStepThatHangsForOneRecordFailsThatOneOnly() throws Exception {
        var allowed = new Semaphore(2);
        var handler = new SpellingHandler() {
            @Override
            public void stepFn(List<PartStream<Spelling, String>> streams, Object model) throws Exception {
                allowed.acquire();
                if (streams.stream().anyMatch(stream -> stream.state().line().startsWith("hang"))) {
                    Thread.sleep(Duration.ofMinutes(10));
                }
                super.stepFn(streams, model);
            }
        };
        server = TestServer.with(handler)
                .start(
                        "SAGEMAKER_MODEL_SERVER_WORKERS=1",
                        "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=10",
                        "BERTH_STREAM_PART_TIMEOUT=3600");
        var good = server.invokeAsync("abcdefgh\nxyz", "Accept", LINES);
        await().until(() -> handler.steps().size() == 2 && allowed.hasQueuedThreads());
        var hanging = server.invokeAsync("hang", "Accept", LINES);
        server.awaitQueued(1);
        allowed.release(1000);
        assertThat(good.join().body().lines()).contains("A", "H", "X", "Z").hasSize(11);
        assertThat(hanging.join().statusCode()).isEqualTo(504);
    }

    @Test
    void twoHundredStreamsThatFailAnywhereLeaveNothing() throws Exception {
        var random = new Random(4);
        var handler = new Remembering();
        server = TestServer.with(handler).start();
        failAnywhere(server, random);
        var leftovers = Leftovers.since(server);
        failAnywhere(server, random);
        leftovers.assertNone();
        await().until(() -> handler.open() == 0);
        assertThat(server.invoke("abc", "Accept", LINES, ID, "NEW_SESSION").body())
                .isEqualTo("A\nB\nC\n");
    }

    /// A request whose first part came has told its caller the session that it opened, which goes on.
    private static void failAnywhere(TestServer server, Random random) throws Exception {
        var answers = new ArrayList<CompletableFuture<HttpResponse<String>>>();
        var expected = new ArrayList<String>();
        for (int i = 0; i < 200; i++) {
            int at = random.nextInt(30);
            answers.add(server.invokeAsync(
                    "a".repeat(at) + "!?#".charAt(i % 3) + "b".repeat(10), "Accept", LINES, ID, "NEW_SESSION"));
            expected.add("A\n".repeat(at));
        }
        for (int i = 0; i < 200; i++) {
            var answer = answers.get(i).join();
            assertThat(answer.body()).startsWith(expected.get(i)).contains("\"message\"");
            boolean isOpened = answer.headers().firstValue(ID).isPresent();
            assertThat(isOpened).isEqualTo(answer.statusCode() == 200);
            if (isOpened) {
                server.invoke("{\"requestType\": \"CLOSE\"}", ID, session(answer));
            }
        }
    }

    @Test
    void idleStreamsCostNoThreadEach() throws Exception {
        server = TestServer.with(spelling).start("BERTH_STREAM_PART_TIMEOUT=3600");
        server.invoke("abc", "Accept", LINES);
        int before = Thread.getAllStackTraces().size();
        var clients = new ArrayList<RawConnection>();
        try {
            for (int i = 0; i < 500; i++) {
                var client = new RawConnection(server.port());
                clients.add(client);
                client.send(post("a_b", LINES));
            }
            for (var client : clients) {
                assertThat(client.readResponse()).startsWith("HTTP/1.1 200");
            }
            await().until(() -> spelling.open() == 500);
            assertThat(Thread.getAllStackTraces().size()).isLessThan(before + 50);
            assertThat(server.invoke("abc", "Accept", LINES).body()).isEqualTo("A\nB\nC\n");
        } finally {
            for (var client : clients) {
                client.close();
            }
        }
        await().until(() -> spelling.open() == 0);
    }

    @Test
    @Tag("slow")
    void aServerThatStopsEndsItsStreams() throws Exception {
        server = TestServer.with(spelling).start("BERTH_DRAIN_SECONDS=1");
        var answer = server.invokeAsync("a_b", "Accept", LINES);
        await().until(() -> spelling.steps().size() == 2);
        server.server().close();
        // Before the server's client is closed, which would cut it off.
        assertThat(answer.join().body()).startsWith("A\n{\"error\":").contains("not_ready");
        assertThat(spelling.open()).isZero();
    }

    private static String post(String body, String accept) {
        return "POST /invocations HTTP/1.1\r\nHost: x\r\nAccept: %s\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(accept, body.length(), body);
    }
}
