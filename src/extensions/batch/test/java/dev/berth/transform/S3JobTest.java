package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.content.Sha256;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.testing.FaultyProxy;
import dev.berth.testing.FaultyProxy.Fault;
import dev.berth.testing.FaultyProxy.Request;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.S3Server;
import dev.berth.testing.TestServer;
import dev.berth.testing.TestThreads;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;

/// Jobs from S3 to S3, on a real server of its protocol, with and without faults on the way to it.
@Tag("slow")
class S3JobTest {

    private static final String BUCKET = "jobs";
    private static final int OBJECTS = 40;

    /// Its output has several parts: the others are put in one piece.
    private static final int LARGE = 7;

    private static final int POISONED = 13;
    private static final int RECORDS_OF_LARGE = 12_000;

    private static final class Words extends TextHandler {
        private final Queue<String> asked = new ConcurrentLinkedQueue<>();

        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            var records = super.inputFn(request);
            asked.addAll(records);
            if (records.contains("slow")) {
                LockSupport.parkNanos(10_000_000);
            }
            if (records.contains("poison")) {
                throw new BadInputException("word: found poison, expected something else");
            }
            return records;
        }
    }

    private static final Map<String, String> EXPECTED = new TreeMap<>();
    private static final Words WORDS = new Words();
    private static S3Server s3;
    private static TestServer container;

    @TempDir
    private Path directory;

    private TestJob job;

    @BeforeAll
    static void start() throws Exception {
        container = TestServer.with(WORDS).set("SAGEMAKER_BATCH", "true").start();
        s3 = S3Server.start().createBucket(BUCKET);
        for (int i = 0; i < OBJECTS; i++) {
            var lines = new ArrayList<String>();
            for (int record = 0; record < (i == LARGE ? RECORDS_OF_LARGE : 200 + 5 * i); record++) {
                lines.add("word-%d of object %d%s".formatted(record, i, i == LARGE ? " and more".repeat(110) : ""));
            }
            if (i == POISONED) {
                lines.set(150, "poison");
            }
            var text = lines.stream().map(line -> line + "\n").collect(Collectors.joining());
            var key = "%s%02d.txt".formatted(i % 10 == 0 ? "deep/er/" : "", i);
            s3.put(BUCKET, "in/" + key, text);
            if (i != POISONED) {
                EXPECTED.put(key, text.toUpperCase(Locale.ROOT));
            }
        }
    }

    @AfterAll
    static void stop() throws Exception {
        WORDS.asked.clear();
        container.close();
        s3.close();
    }

    @BeforeEach
    void prepare() {
        WORDS.asked.clear();
        job = new TestJob(
                directory,
                "--input s3://jobs/in/ --content-type text/plain --accept text/plain --split-type Line --assemble-with Line --max-payload-in-mb 1 --max-concurrent-transforms 8");
    }

    @Test
    @Tag("BAT-20")
    @Tag("BAT-21")
    void eachObjectThatCanBeDoneHasItsOutput() throws Exception {
        var report = run("plain", s3.endpoint());
        isAsExpected(report);
        assertThat(outputs("plain")).isEqualTo(named());
        for (int object : List.of(1, LARGE)) {
            assertThat(s3.contentType(BUCKET, "plain/%02d.txt.out".formatted(object)))
                    .isEqualTo("text/plain");
        }
        assertThat(s3.unfinishedUploads(BUCKET)).isEmpty();
    }

    @Test
    @Tag("BAT-22")
    void aManifestAndItsObjectsAreBothInS3() throws Exception {
        s3.put(
                BUCKET,
                "manifest.json",
                "[{\"prefix\": \"s3://jobs/in/\"}, \"01.txt\", \"deep/er/10.txt\", \"none.txt\"]");
        job.set("--input s3://jobs/manifest.json --data-type ManifestFile");
        var report = run("listed", s3.endpoint());
        assertThat(report.failures()).extracting(ObjectOutcome::key).containsExactly("none.txt");
        assertThat(outputs("listed"))
                .containsOnlyKeys("01.txt.out", "deep/er/10.txt.out")
                .containsEntry("01.txt.out", EXPECTED.get("01.txt"));
    }

    @Test
    void twoObjectsWithOneOutputAreNotWrittenOverEachOther() throws Exception {
        for (var key : List.of("a/in-2/x.txt", "a/in/in-2/x.txt", "a/in/y.txt")) {
            s3.put(BUCKET, key, key);
        }
        job.set("--input s3://jobs/a/in");
        var report = run("twins", s3.endpoint());
        assertThat(report.failures())
                .singleElement()
                .extracting(ObjectOutcome::key, ObjectOutcome::failure)
                .containsExactly("in-2/x.txt", "s3://jobs/twins/in-2/x.txt.out would be written twice");
        assertThat(outputs("twins"))
                .containsOnlyKeys("in-2/x.txt.out", "y.txt.out")
                .containsEntry("in-2/x.txt.out", "A/IN-2/X.TXT\n");
    }

    /// What may happen to the first two attempts of every request.
    static Stream<Fault> faults() {
        return Stream.of(
                Fault.slowDown(),
                new Fault.Answer(500, "InternalError"),
                new Fault.CutRequest(0),
                new Fault.CutRequest(1000),
                new Fault.CutRequest(100_000),
                new Fault.LoseAnswer(),
                new Fault.CutAnswer(0),
                new Fault.CutAnswer(1000));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void whatGoesWrongTwiceChangesNothing(Fault fault) throws Exception {
        var output = "twice-" + fault.toString().replaceAll("\\W", "-");
        isUndisturbed(output, request -> request.attempt() <= 2 ? fault : new Fault.Pass());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void whateverGoesWrongInWhicheverOrderChangesNothing(int seed) throws Exception {
        var all = faults().toList();
        isUndisturbed("mixed-" + seed, request -> {
            // By the request alone, so that a seed is a schedule however the threads run.
            var name = request.method() + withoutUpload(request.target()) + request.attempt() + "-" + seed;
            var random = new Random(name.hashCode());
            random.nextInt();
            return request.attempt() <= 3 && random.nextInt(3) < 2
                    ? all.get(random.nextInt(all.size()))
                    : new Fault.Pass();
        });
    }

    @Test
    void aRunAgainDoesWhatAnS3ThatFailedForGoodLeftUndone() throws Exception {
        var down = ConcurrentHashMap.<String>newKeySet();
        try (var proxy = new FaultyProxy(s3.endpoint(), request -> {
            if (request.method().equals("PUT") && request.target().matches(".*/3\\d.txt.out")) {
                down.add(request.target());
                return Fault.slowDown();
            }
            return new Fault.Pass();
        })) {
            var report = run("again", proxy.endpoint());
            assertThat(down).hasSize(10);
            assertThat(report.failures())
                    .extracting(ObjectOutcome::key)
                    .hasSize(11)
                    .contains("13.txt", "31.txt", "39.txt");
            assertThat(report.tally().succeeded()).isEqualTo(OBJECTS - 11);
        }
        var report = run("again", s3.endpoint());
        assertThat(report.tally().skipped()).isEqualTo(OBJECTS - 11);
        assertThat(report.tally().succeeded()).isEqualTo(10);
        assertThat(outputs("again")).isEqualTo(named());
    }

    /// Outputs that must not be written, a token that expires, and an S3 that is away for good, each
    /// after some objects.
    static Stream<Arguments> ends() {
        return Stream.of(
                Arguments.of("PUT .*[.]out.*", new Fault.Answer(403, "AccessDenied"), 20, "access denied"),
                Arguments.of(".*", new Fault.Answer(400, "ExpiredToken"), 20, "S3 refused (400"),
                Arguments.of(
                        "PUT .*[.]out.*", Fault.slowDown(), 150, "the storage has failed with 50 objects in a row: "));
    }

    @ParameterizedTest
    @MethodSource("ends")
    void whatAllObjectsWouldMeetEndsTheJob(String requests, Fault fault, int mostAsked, String problem)
            throws Exception {
        few("ending", 300);
        job.set("--max-concurrent-transforms 2");
        var output = "ended-" + problem.replaceAll("\\W", "-");
        var written = new AtomicInteger();
        Function<Request, Fault> schedule = request -> {
            boolean isOutput =
                    request.method().equals("PUT") && request.target().contains(".out");
            boolean isLate = (isOutput ? written.incrementAndGet() : written.get()) > 5;
            return isLate && (request.method() + " " + request.target()).matches(requests) ? fault : new Fault.Pass();
        };
        try (var proxy = new FaultyProxy(s3.endpoint(), schedule)) {
            WORDS.asked.clear();
            var report = run(output, proxy.endpoint());
            assertThat(report.status()).isEqualTo(JobStatus.FAILED);
            assertThat(report.problem()).contains(problem);
            assertThat(report.tally().succeeded()).isEqualTo(5);
            assertThat(WORDS.asked).as("the others are not begun").hasSizeLessThan(mostAsked);
        }
        try (var storage = Impatient.storage(s3.endpoint())) {
            // Who has no token can't remove it, and this process has not ended.
            storage.at("s3://jobs/%s/.berth-lock-0-of-1".formatted(output)).delete();
        }
        assertThat(run(output, s3.endpoint()))
                .matches(JobReport::isComplete)
                .extracting("tally.succeeded", "tally.skipped")
                .containsExactly(295L, 5L);
    }

    @Test
    void anObjectGoesOnBehindThePartsThatAreInS3() throws Exception {
        s3.put(BUCKET, "slow/a.txt", "slow\n".repeat(200) + "poison\n" + "slow\n");
        var another = "parts/.berth-parts/0123456789abcdef.parts/0123456789abcdef/000000000000000001-2";
        s3.put(BUCKET, another, "that of another object");
        job.set("--input s3://jobs/slow/ --batch-strategy SingleRecord --max-concurrent-transforms 1");
        assertThat(run("parts", s3.endpoint()).failures())
                .singleElement()
                .extracting(ObjectOutcome::failure)
                .asString()
                .startsWith("record 201");
        var own = "parts/.berth-parts/%s.parts/".formatted(Sha256.hex("00000-of-00001 a.txt"));
        assertThat(s3.keys(BUCKET)).anyMatch(key -> key.startsWith(own));
        WORDS.asked.clear();
        s3.put(BUCKET, "slow/a.txt", "slow\n".repeat(200) + "potion\n" + "slow\n");
        assertThat(run("parts", s3.endpoint()))
                .matches(JobReport::isComplete)
                .extracting("tally.records")
                .isEqualTo(202L);
        assertThat(WORDS.asked).as("those that had no answer").containsExactlyInAnyOrder("potion", "slow");
        assertThat(outputs("parts")).containsEntry("a.txt.out", "SLOW\n".repeat(200) + "POTION\nSLOW\n");
        assertThat(s3.keys(BUCKET))
                .filteredOn(key -> key.startsWith("parts/.berth-parts/"))
                .containsExactly(another);
    }

    /// One request at a time: the first object is with the model all the while.
    @Test
    void otherObjectsAreOpenedWhileOneIsWithTheModel() throws Exception {
        var gate = new Gate(1);
        try (var held = held(gate);
                var proxy = new FaultyProxy(s3.endpoint(), _ -> new Fault.Pass());
                var threads = new TestThreads()) {
            few("ahead", 100);
            var running = threads.submit(() -> run("ahead-out", proxy.endpoint(), held.uri("/")));
            try {
                gate.awaitArrival();
                await().until(() -> gets(proxy, "/ahead/") > 30);
                assertThat(gets(proxy, "/ahead/")).as("not all of them").isLessThan(100);
            } finally {
                gate.open();
            }
            assertThat(running.get())
                    .matches(JobReport::isComplete)
                    .extracting("tally.succeeded")
                    .isEqualTo(100L);
        }
    }

    @Test
    void theModelGoesOnWhileAnOutputIsOnItsWay() throws Exception {
        var gate = new Gate(1);
        try (var proxy = new FaultyProxy(s3.endpoint(), request -> {
                    if (request.method().equals("PUT") && request.target().contains("/behind-out/000.txt")) {
                        gate.passWhateverInterrupts();
                    }
                    return new Fault.Pass();
                });
                var threads = new TestThreads()) {
            few("behind", 20);
            WORDS.asked.clear();
            var running = threads.submit(() -> run("behind-out", proxy.endpoint()));
            try {
                gate.awaitArrival();
                await().until(() -> WORDS.asked.size() == 20);
                // What is listed may have got its name since.
                await().ignoreException(NoSuchKeyException.class)
                        .until(() -> outputs("behind-out").keySet().stream()
                                        .filter(key -> key.endsWith(".out"))
                                        .count()
                                == 19);
                assertThat(running.isDone())
                        .as("an object has succeeded when its output is there")
                        .isFalse();
            } finally {
                gate.open();
            }
            assertThat(running.get())
                    .matches(JobReport::isComplete)
                    .extracting("tally.succeeded")
                    .isEqualTo(20L);
            assertThat(outputs("behind-out")).hasSize(20).containsEntry("007.txt.out", "WORD 7\n");
        }
    }

    @Test
    void aStoppedJobPutsInPlaceWhatIsAnsweredAndBeginsNothingElse() throws Exception {
        var gate = new Gate(1);
        try (var held = held(gate);
                var storage = Impatient.storage(s3.endpoint());
                var threads = new TestThreads()) {
            few("stopped", 50);
            job.set("--output s3://jobs/stopped-out");
            var runner = new JobRunner(job.read(storage), new Unwatched());
            var running = threads.submit(() -> runner.run(held.uri("/")));
            try {
                gate.awaitArrival();
                runner.stop();
            } finally {
                gate.open();
            }
            assertThat(running.get())
                    .extracting("status", "tally.objects", "tally.succeeded")
                    .containsExactly(JobStatus.STOPPED, 1L, 1L);
            assertThat(outputs("stopped-out"))
                    .as("and no lock")
                    .hasSize(1)
                    .allSatisfy((key, _) -> assertThat(key).endsWith(".out"));
        }
    }

    private void few(String prefix, int objects) {
        for (int i = 0; i < objects; i++) {
            s3.put(BUCKET, "%s/%03d.txt".formatted(prefix, i), "word %d\n".formatted(i));
        }
        job.set("--input %s --max-concurrent-transforms 1", "s3://jobs/%s/".formatted(prefix));
    }

    private static TestServer held(Gate gate) throws Exception {
        return TestServer.with(new GatedHandler(gate)).start("SAGEMAKER_BATCH=true");
    }

    private static long gets(FaultyProxy proxy, String part) {
        return proxy.requests().stream()
                .filter(request ->
                        request.method().equals("GET") && request.target().contains(part))
                .count();
    }

    private void isUndisturbed(String output, Function<Request, Fault> schedule) throws Exception {
        try (var proxy = new FaultyProxy(s3.endpoint(), schedule)) {
            isAsExpected(run(output, proxy.endpoint()));
            assertThat(proxy.requests()).as("of which many failed").hasSizeGreaterThan(4 * OBJECTS);
        }
        assertThat(outputs(output)).isEqualTo(named());
        assertThat(s3.unfinishedUploads(BUCKET)).isEmpty();
    }

    private static void isAsExpected(JobReport report) {
        assertThat(report.problem()).isEmpty();
        assertThat(report.failures()).singleElement().satisfies(failure -> {
            assertThat(failure.key()).isEqualTo("13.txt");
            assertThat(failure.failure()).startsWith("records 1 to 265: status 400: word: found poison");
        });
        assertThat(report)
                .extracting("tally.objects", "tally.succeeded", "tally.failed", "tally.skipped")
                .containsExactly((long) OBJECTS, OBJECTS - 1L, 1L, 0L);
        assertThat(report.tally().records())
                .isEqualTo(EXPECTED.values().stream()
                        .mapToLong(text -> text.lines().count())
                        .sum());
    }

    /// An upload's name differs from run to run.
    private static String withoutUpload(String target) {
        return target.replaceAll("uploadId=[^&]*", "uploadId");
    }

    private static Map<String, String> named() {
        return EXPECTED.entrySet().stream()
                .collect(Collectors.toMap(
                        entry -> entry.getKey() + ".out", Map.Entry::getValue, (one, _) -> one, TreeMap::new));
    }

    private static Map<String, String> outputs(String prefix) {
        return s3.texts(BUCKET, prefix + "/");
    }

    private JobReport run(String output, URI endpoint) throws Exception {
        return run(output, endpoint, container.uri("/"));
    }

    private JobReport run(String output, URI endpoint, URI container) throws Exception {
        job.set("--output s3://jobs/%s".formatted(output));
        try (var storage = Impatient.storage(endpoint)) {
            return TestJob.run(job.read(storage), container);
        }
    }
}
