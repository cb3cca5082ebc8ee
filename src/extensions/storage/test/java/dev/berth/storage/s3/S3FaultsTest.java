package dev.berth.storage.s3;

import static dev.berth.storage.s3.S3ErrorsTest.assertPermanent;
import static dev.berth.storage.s3.S3ErrorsTest.assertRetryable;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.FaultyProxy;
import dev.berth.testing.FaultyProxy.Fault;
import dev.berth.testing.FaultyProxy.Request;
import dev.berth.testing.S3Server;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// An S3 that throttles, fails, and loses connections, between a real client and a real server.
class S3FaultsTest {

    private static final String BUCKET = "faults";
    private static final String OBJECT = "s3://faults/object";
    private static final String LARGE = "s3://faults/large";
    private static final byte[] BYTES = new byte[20 << 20];

    @AutoClose
    private static S3Server server;

    @BeforeAll
    static void start() throws Exception {
        new Random(1).nextBytes(BYTES);
        server = S3Server.start().createBucket(BUCKET);
        server.put(BUCKET, "large", BYTES);
    }

    @Test
    void anObjectWhoseConnectionIsLostAgainAndAgainIsReadToItsEnd() throws IOException {
        try (var proxy = proxy(_ -> new Fault.CutAnswer(700_000));
                var storage = Impatient.storage(proxy.endpoint());
                var in = storage.at(LARGE).open()) {
            assertThat(in.readAllBytes()).isEqualTo(BYTES);
            assertThat(proxy.requests()).hasSize(BYTES.length / 700_000 + 1);
        }
    }

    @Test
    @Tag("slow")
    void anObjectOfWhichHardlyAnythingComesIsGivenUp() throws IOException {
        try (var proxy = proxy(_ -> new Fault.CutAnswer(100));
                var storage = Impatient.storage(proxy.endpoint());
                var in = storage.at(LARGE).open()) {
            assertRetryable(in::readAllBytes)
                    .hasMessageStartingWith(
                            "s3://faults/large: the connection was lost 6 times, last after 600 of 20971520 bytes: ");
            assertThat(proxy.requests()).hasSize(Impatient.RETRIES.attempts());
        }
    }

    @Test
    void anObjectThatIsReplacedWhileItIsReadIsAnErrorAndNoMixture() throws IOException {
        server.put(BUCKET, "replaced", new byte[200_000]);
        try (var proxy = proxy(_ -> new Fault.CutAnswer(100_000));
                var storage = Impatient.storage(proxy.endpoint());
                var in = storage.at("s3://faults/replaced").open()) {
            assertThat(in.readNBytes(100_000)).containsOnly(0);
            server.put(BUCKET, "replaced", BYTES);
            assertPermanent(in::read).hasMessage("s3://faults/replaced: changed while it was read");
        }
    }

    @Test
    @Tag("slow")
    void aConnectionThatFallsSilentIsTakenForLost() throws IOException {
        var patience = new RetryPolicy(6, Duration.ofMillis(1), Duration.ofMillis(4), Duration.ofSeconds(1));
        try (var proxy = proxy(request -> request.attempt() == 1 ? new Fault.Stall(10_000) : new Fault.Pass());
                var storage = Impatient.storage(
                        new S3Options(Optional.of(proxy.endpoint()), false, Optional.empty(), false, patience));
                var in = storage.at(LARGE).open()) {
            assertThat(in.readAllBytes()).isEqualTo(BYTES);
        }
    }

    @Test
    void anAnswerMayComeByteByByte() throws IOException {
        server.put(BUCKET, "slow", Arrays.copyOf(BYTES, 10_000));
        try (var proxy = proxy(_ -> new Fault.Trickle());
                var storage = Impatient.storage(proxy.endpoint())) {
            assertThat(storage.at("s3://faults/slow").open()).hasBinaryContent(Arrays.copyOf(BYTES, 10_000));
            assertThat(storage.at("s3://faults/slow").list()).hasSize(1);
            Impatient.write(storage.at(OBJECT), Arrays.copyOf(BYTES, 9 << 20));
        }
        assertThat(server.bytes(BUCKET, "object")).isEqualTo(Arrays.copyOf(BYTES, 9 << 20));
    }

    private static FaultyProxy proxy(Function<Request, Fault> schedule) throws IOException {
        return new FaultyProxy(server.endpoint(), schedule);
    }
}
