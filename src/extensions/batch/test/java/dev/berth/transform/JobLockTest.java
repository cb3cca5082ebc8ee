package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.json.JsonText;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.testing.FaultyProxy;
import dev.berth.testing.FaultyProxy.Fault;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.Pipes;
import dev.berth.testing.S3Server;
import dev.berth.testing.TestServer;
import dev.berth.testing.TestThreads;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Locks in a directory and in a real server of S3's protocol.
class JobLockTest {

    private static final JobLock.Timing PATIENT = new JobLock.Timing(Duration.ofHours(1), Duration.ofHours(1));
    private static final JobLock.Timing NONE_COUNTS = new JobLock.Timing(Duration.ofHours(1), Duration.ZERO);
    private static final JobLock.Timing BUSY = new JobLock.Timing(Duration.ofMillis(1), Duration.ofHours(1));
    private static final JobLock.Owner OWN = JobLock.Owner.own();
    private static final JobLock.Owner ELSEWHERE = new JobLock.Owner(
            "process %d on worker-3".formatted(OWN.process()), "another machine", OWN.process(), OWN.started());

    @AutoClose
    private static S3Server s3;

    @AutoClose
    private static Storage storage;

    @TempDir
    private Path directory;

    private final List<String> lost = new CopyOnWriteArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        s3 = S3Server.start().createBucket("locks");
        storage = Impatient.storage(s3.endpoint());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aSecondRunnerOnThisMachineIsRefusedAtOnce(boolean remote) throws Exception {
        var location = location(remote, "second");
        try (var _ = take(location, OWN, PATIENT)) {
            assertThatThrownBy(() -> take(location, OWN, PATIENT))
                    .isInstanceOf(TransformException.class)
                    .hasMessageMatching(("\\Q%s: found the lock of %s, renewed \\E\\d+\\Q s ago, which does this job. "
                                    + "Wait for its end or stop it; after 3600 s without renewal the lock no longer counts\\E")
                            .formatted(location, OWN.name()));
        }
        assertThat(location.exists()).isFalse();
        take(location, OWN, PATIENT).close();
    }

    @ParameterizedTest
    @Tag("slow")
    @ValueSource(booleans = {false, true})
    void aLockThatIsRenewedElsewhereIsRefused(boolean remote) throws Exception {
        var location = location(remote, "renewed");
        try (var _ = take(location, ELSEWHERE, BUSY)) {
            assertThatThrownBy(() -> take(location, OWN, PATIENT))
                    .isInstanceOf(TransformException.class)
                    .hasMessageContaining("on worker-3, renewed ");
        }
        assertThat(lost).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aStaleLockIsBrokenAndOneOfTheTwoIsTold(boolean remote) throws Exception {
        var location = location(remote, "stale");
        try (var _ = take(location, ELSEWHERE, new JobLock.Timing(Duration.ofMillis(50), Duration.ofHours(1)));
                var _ = take(location, OWN, new JobLock.Timing(Duration.ofMillis(50), Duration.ZERO))) {
            await().until(() -> !lost.isEmpty());
            assertThat(lost)
                    .singleElement()
                    .asString()
                    .startsWith("%s: found the lock of process %d on ".formatted(location, OWN.process()))
                    .endsWith("expected this job's: it was taken over");
        }
        assertThat(location.exists()).as("the one that has it removes it").isFalse();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theLockOfADeadProcessOfThisMachineIsBrokenAtOnce(boolean remote) throws Exception {
        var location = location(remote, "dead");
        var ended = new ProcessBuilder("true").start();
        ended.waitFor();
        var others = List.of(
                new JobLock.Owner(OWN.name(), OWN.system(), ended.pid(), 0),
                // Its id was given again.
                new JobLock.Owner(OWN.name(), OWN.system(), OWN.process(), OWN.started() - 1000));
        for (var dead : others) {
            assertThat(location.mark(text(dead), Optional.empty())).isTrue();
            take(location, OWN, PATIENT).close();
            assertThat(location.exists()).isFalse();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void whatSaysNothingCountsUntilItIsOld(boolean remote) throws Exception {
        var location = location(remote, "torn");
        assertThat(location.mark("{\"ow", Optional.empty())).isTrue();
        assertThatThrownBy(() -> take(location, OWN, PATIENT, () -> true))
                .hasMessageContaining("the lock of an unknown process");
        take(location, OWN, NONE_COUNTS).close();
        assertThat(location.exists()).isFalse();
    }

    @Test
    void whatIsNoFileIsNoLock() throws Exception {
        var link = location(false, "link");
        Files.createSymbolicLink(directory.resolve("link"), Path.of("nothing"));
        assertThatThrownBy(() -> take(link, OWN, PATIENT))
                .hasMessage(link + ": can't be read: found a link, expected a file");
        Pipes.make(directory.resolve("pipe"));
        assertThatThrownBy(() -> take(location(false, "pipe"), OWN, PATIENT))
                .hasMessageContaining("found a pipe, a socket or a device");
    }

    /// A server that says that the lock is there, and has none.
    @Test
    @Tag("slow")
    void aLockThatIsThereAndNotThereIsNotWaitedForForEver() throws Exception {
        try (var proxy = new FaultyProxy(
                        s3.endpoint(),
                        request -> request.method().equals("PUT")
                                ? new Fault.Answer(412, "PreconditionFailed")
                                : new Fault.Pass());
                var storage = Impatient.storage(proxy.endpoint())) {
            for (boolean isOver : new boolean[] {true, false}) {
                assertThatThrownBy(() ->
                                JobLock.take(storage.at("s3://locks/none"), OWN, PATIENT, () -> isOver, lost::add))
                        .isInstanceOf(TransformException.class)
                        .hasMessageStartingWith("s3://locks/none: found a lock that can neither be read");
            }
        }
    }

    @Test
    void theAgeOfAFileIsThatOfItsDirectorysClock() throws Exception {
        var location = location(false, "old");
        assertThat(location.mark(text(ELSEWHERE), Optional.empty())).isTrue();
        var file = directory.resolve("old");
        Files.setLastModifiedTime(
                file, FileTime.from(Files.getLastModifiedTime(file).toInstant().minusSeconds(3601)));
        take(location, OWN, PATIENT).close();
        assertThat(directory).isEmptyDirectory();
    }

    /// Not with the S3 of the tests: it looks at a condition and writes in two steps.
    @Test
    void ofManyThatBreakOneLockOneHasIt() throws Exception {
        var location = location(false, "many");
        assertThat(location.mark(text(new JobLock.Owner(OWN.name(), OWN.system(), OWN.process(), 1)), Optional.empty()))
                .isTrue();
        try (var threads = new TestThreads()) {
            var taken = Stream.generate(() -> threads.submit(() -> take(location, OWN, PATIENT)))
                    .limit(8)
                    .toList();
            await().until(() -> taken.stream().allMatch(Future::isDone));
            var owners = taken.stream()
                    .filter(lock -> lock.state() == Future.State.SUCCESS)
                    .toList();
            assertThat(owners).hasSize(1);
            owners.getFirst().get().close();
        }
        assertThat(location.exists()).isFalse();
    }

    /// Some servers know no conditions. The proxy says so, for the first attempt of each: the second
    /// one has none.
    @Test
    void aServerWithoutConditionsIsAskedBeforeAndAfter() throws Exception {
        var refused = new CopyOnWriteArrayList<String>();
        try (var proxy = new FaultyProxy(s3.endpoint(), request -> {
                    if (request.method().equals("PUT") && request.attempt() % 2 == 1) {
                        refused.add(request.target());
                        return new Fault.Answer(501, "NotImplemented");
                    }
                    return new Fault.Pass();
                });
                var simple = Impatient.storage(proxy.endpoint())) {
            var location = simple.at("s3://locks/simple");
            assertThat(location.mark("one", Optional.empty())).isTrue();
            assertThat(location.mark("two", Optional.empty())).isFalse();
            assertThat(s3.text("locks", "simple")).isEqualTo("one");
            assertThat(refused).hasSize(2);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aMarkerThatChangedIsNotReplaced(boolean remote) throws Exception {
        var location = location(remote, "changed");
        assertThat(location.mark("one", Optional.empty())).isTrue();
        var one = location.marker().orElseThrow();
        assertThat(location.renew("a longer text", one)).isTrue();
        var two = location.marker().orElseThrow();
        assertThat(location.renew("2", two)).isTrue();
        assertThat(location.marker().orElseThrow().text()).isEqualTo("2");
        assertThat(location.mark("three", Optional.of(one))).isFalse();
        assertThat(location.renew("three", one)).isFalse();
        assertThat(location.marker().orElseThrow().text()).isEqualTo("2");
        location.delete();
        assertThat(location.mark("three", Optional.of(two))).isFalse();
        assertThat(location.renew("three", two)).isFalse();
        assertThat(location.marker()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void twoRunnersOfOneJobAreOne(boolean remote) throws Exception {
        var gate = new Gate(1);
        try (var server = TestServer.with(new GatedHandler(gate)).start("SAGEMAKER_BATCH=true");
                var threads = new TestThreads()) {
            var job = new TestJob(directory, "--content-type text/plain --split-type Line");
            job.write("a.txt", "words\n");
            s3.put("locks", "job/a.txt", "words\n");
            if (remote) {
                job.set("--input s3://locks/job/ --output s3://locks/out");
            }
            var first = threads.submit(() -> run(job, 1, server.uri("/")));
            gate.awaitArrival();
            var refused = run(job, 1, server.uri("/"));
            var other = threads.submit(() -> run(job, 2, server.uri("/")));
            gate.open();
            assertThat(refused).extracting("status", "tally.objects").containsExactly(JobStatus.FAILED, 0L);
            assertThat(refused.problem()).contains("/.berth-lock-0-of-1: found the lock of process ");
            assertThat(first.get())
                    .matches(JobReport::isComplete)
                    .extracting("tally.objects")
                    .isEqualTo(1L);
            assertThat(other.get().problem())
                    .as("another share has a lock of its own")
                    .isEmpty();
            assertThat(location(remote, "out/.berth-lock-0-of-1").exists()).isFalse();
        }
    }

    /// What a job keeps beside its outputs is no input of the next one.
    @Test
    void locksAndPartsInS3AreNoObjects() throws Exception {
        for (var key : List.of(
                "chain/a",
                "chain/.berth-lock-0-of-1",
                "chain/.berth-parts/a.parts/0123456789abcdef/000000000000000001-2",
                "chain/b.berth-x")) {
            s3.put("locks", key, key);
        }
        var job = new TestJob(directory, "--input s3://locks/chain/ --output s3://locks/chained");
        try (var objects = job.read(storage).source().objects()) {
            assertThat(objects).extracting(object -> object.key()).containsExactly("a", "b.berth-x");
        }
    }

    /// Runs the last of so many instances: of one object, the second has nothing.
    private static JobReport run(TestJob job, int instances, URI endpoint) {
        job.set("--instance-count %s --instance-index %s", instances, instances - 1);
        return TestJob.run(job.read(storage), endpoint);
    }

    private Location location(boolean remote, String name) {
        return remote
                ? storage.at("s3://locks/" + name)
                : storage.at(directory.resolve(name).toString());
    }

    private static String text(JobLock.Owner owner) {
        return JsonText.write(Map.of("owner", owner, "run", "x", "renewals", 0));
    }

    private JobLock take(Location location, JobLock.Owner own, JobLock.Timing timing) throws InterruptedException {
        return take(location, own, timing, () -> false);
    }

    private JobLock take(Location location, JobLock.Owner own, JobLock.Timing timing, BooleanSupplier isOver)
            throws InterruptedException {
        return JobLock.take(location, own, timing, isOver, lost::add);
    }
}
