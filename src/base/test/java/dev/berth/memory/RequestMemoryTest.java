package dev.berth.memory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.memory.RequestMemory.ProcessMemory;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class RequestMemoryTest {

    private static final long MEBIBYTE = 1 << 20;
    private static final long LATER = 1_000_000_000_000L;

    private final AtomicLong clock = new AtomicLong();

    /// Medium requests have up to 10 MiB, all of them 100; large ones 400.
    private final ProcessMemory process = ProcessMemory.ofHeap(1000 * MEBIBYTE, clock::get);

    private final AtomicInteger waits = new AtomicInteger();

    private final RequestMemory request = request();

    private RequestMemory request() {
        return new RequestMemory(process, LATER, waits::incrementAndGet);
    }

    private static void assertUntouched(MemoryBudget budget) {
        budget.tryTake(budget.bytes()).orElseThrow().close();
    }

    @AfterEach
    void nothingIsHeldThen() {
        request.close();
        assertNothingIsHeld();
    }

    private void assertNothingIsHeld() {
        assertUntouched(process.few());
        assertUntouched(process.medium());
        assertUntouched(process.large());
    }

    @Test
    void aSmallRequestNeedsNothingOfTheOthers() {
        request.add(200 << 10);
        assertUntouched(process.medium());
        assertUntouched(process.large());
        assertThat(process.few().tryTake(process.few().bytes())).isEmpty();
        request.close();
        // When the first part is full, it takes of the next.
        try (var _ = process.few().tryTake(process.few().bytes()).orElseThrow();
                var next = request()) {
            next.add(1);
            assertThat(process.medium().tryTake(process.medium().bytes())).isEmpty();
        }
    }

    @Test
    void aRequestThatGrowsLargeGivesBackWhatMediumOnesMayHave() {
        request.add(5 * MEBIBYTE);
        assertUntouched(process.large());
        request.add(50 * MEBIBYTE);
        assertUntouched(process.medium());
        assertThat(process.large().tryTake(345 * MEBIBYTE)).isEmpty();
    }

    @Test
    void aRequestThatGrowsLargeUnexpectedlyDoesNotWait() {
        try (var _ = process.large().tryTake(400 * MEBIBYTE).orElseThrow()) {
            request.add(5 * MEBIBYTE);
            assertThatThrownBy(() -> request.add(50 * MEBIBYTE))
                    .isInstanceOf(ServingException.class)
                    .hasMessageContaining("needs 62 MB")
                    .hasMessageEndingWith("try again later");
        }
        assertThat(waits).hasValue(0);
    }

    @Test
    void whatIsExpectedToBeLargeWaitsForItsPlace() throws Exception {
        var others = process.large().tryTake(400 * MEBIBYTE).orElseThrow();
        var expected = CompletableFuture.runAsync(() -> request.expect(50 * MEBIBYTE));
        await().until(() -> process.large().waiting() == 1);
        assertThat(waits).hasValue(1);
        others.close();
        expected.get();
        request.add(50 * MEBIBYTE);
    }

    @Test
    void whoseDeadlineComesOrWhoIsInterruptedWaitsNoLonger() {
        try (var _ = process.large().tryTake(400 * MEBIBYTE).orElseThrow()) {
            Thread.currentThread().interrupt();
            assertThatThrownBy(() -> request.expect(50 * MEBIBYTE)).hasMessageContaining("interrupted");
            assertThat(Thread.interrupted()).isTrue();
            clock.set(LATER);
            assertThatThrownBy(() -> request.expect(50 * MEBIBYTE)).hasMessageEndingWith("try again later");
        }
    }

    @Test
    void whatThereIsNotInAllIsTooLarge() {
        for (long bytes : new long[] {401 * MEBIBYTE, Long.MAX_VALUE, -1}) {
            assertThatThrownBy(() -> request.add(bytes))
                    .hasMessage(
                            "the request: found data that need more memory than the 400 MB that there are for"
                                    + " one, expected fewer or smaller records, or a server with a larger heap (-Xmx in JAVA_OPTS)")
                    .matches(e -> ((ServingException) e).type() == ErrorType.PAYLOAD_TOO_LARGE);
        }
        // What is only expected may turn out to be less.
        request.expect(401 * MEBIBYTE);
    }

    @Test
    void whatIsHeldIsGivenBackBefore() {
        request.call(() -> {
            try (var _ = RequestMemory.hold(340 * MEBIBYTE)) {
                RequestMemory.charge(MEBIBYTE);
                assertThat(process.large().tryTake(60 * MEBIBYTE)).isEmpty();
            }
            process.large().tryTake(390 * MEBIBYTE).orElseThrow().close();
            RequestMemory.charge(340 * MEBIBYTE);
            return process;
        });
    }

    @Test
    void aThreadThatWorksForNoRequestHoldsOfTheProcess() {
        var all = ProcessMemory.ofThisProcess().large();
        RequestMemory.charge(Long.MAX_VALUE);
        RequestMemory.waiting();
        try (var _ = RequestMemory.hold(all.bytes())) {
            assertThat(all.tryTake(1)).isEmpty();
        }
        assertUntouched(all);
        assertThatThrownBy(() -> RequestMemory.hold(all.bytes() + 1)).isInstanceOf(ServingException.class);
    }

    @Test
    void theRequestsOfOneModelHoldNoMoreThanHalfOfAPart() {
        var wedged = new Object();
        try (var first = request();
                var second = request();
                var other = request()) {
            first.countFor(wedged);
            second.countFor(wedged);
            other.countFor(new Object());
            first.add(150 * MEBIBYTE);
            // It does not wait, or those of other models would wait behind it.
            assertThatThrownBy(() -> second.expect(50 * MEBIBYTE))
                    .isInstanceOf(ServingException.class)
                    .hasMessageContaining("needs 51 MB")
                    .hasMessageEndingWith("try again later");
            second.expect(5 * MEBIBYTE);
            other.expect(150 * MEBIBYTE);
        }
        assertNothingIsHeld();
        try (var again = request();
                var second = request()) {
            again.countFor(wedged);
            second.countFor(wedged);
            again.add(100 * MEBIBYTE);
            second.add(30 * MEBIBYTE);
        }
        try (var alone = request()) {
            alone.countFor(wedged);
            alone.add(300 * MEBIBYTE);
        }
    }

    @Test
    void afterItsEndARequestTakesNothing() {
        request.close();
        assertThatThrownBy(() -> request.add(1)).isInstanceOf(ServingException.class);
    }
}
