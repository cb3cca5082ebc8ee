package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import dev.berth.telemetry.RequestTrace;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Who is let in, and whose turn it is, with a clock that only the test moves. The test's thread is the
/// only worker.
class BatcherTest {

    private static final long DEADLINE = Duration.ofHours(10).toNanos();
    private static final int TARGET = 100;

    private final AtomicLong now = new AtomicLong();

    @AutoClose
    private final ServingMetrics metrics = new ServingMetrics();

    private final Map<String, Submission<String, String>> asked = new HashMap<>();
    private Batcher<String, String> queue = queue(1, TARGET, 1_000);

    /// In these scripts `ask` queues a request of such records, `take` predicts a batch of these, `slow` in
    /// a second, and `begin` does not end it. A `crowd` is taken one by one. Callers `leave`, or one does
    /// (`gone`). The time is set by `at`, moved by `after`. With so much left one finds `room` or is `refused`.
    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
      the first is served as long as nobody has waited for too long | 1 100 1000 | ask a; ask b; at 100; take a; take b
      the newest is served while one waits for too long and others leave | 1 100 1000 | leave 3; ask a; at 50; ask b; ask c; at 101; ask d; take d; take c; ask e; take e; take b; ask f; take f; take a; after 100; ask g; ask h; take g
      clients that ask again at once are served in turn | 1 100 1000 | ask a; ask b; ask c; at 101; take a; ask a; after 100; take b; ask b; after 100; take c; ask c; after 100; take a; ask a; after 100; take b; take c
      a patient request is served in a crowd | 1 100 1000 | leave 32; ask patient; at 101; crowd 31; ask b; take patient; take b
      one that leaves is no reason to serve the newest | 1 100 1000 | leave 1; ask a; at 101; ask b; take a
      refusals are a reason to serve the newest | 1 100 2 | ask a; at 101; ask b; refused 5s overloaded; refused 5s overloaded; refused 5s overloaded; take b
      refusals of requests with little time are none | 1 100 2 | ask a; at 101; ask b; refused 4s overloaded; refused 4s overloaded; refused 4s overloaded; take a
      without a target the first is served | 1 0 1000 | leave 3; ask a; after 1000s; ask b; take a
      work that has begun is finished meanwhile | 1 100 1000 | leave 32; ask a1 a2 a3; take a1; ask old; ask old8; at 101; ask n0; ask n1; ask n2; ask n3; ask n4; ask n5; ask n6; take n6; take n5; take n4; take a2; take n3; take n2; take n1; take a3; take n0; take old8; take old
      of those that have begun the oldest and the one with the least left are finished | 1 0 1000 | ask a1 a2 a3 a4 a5; ask b1 b2 b3; ask c1 c2; take a1; take b1; take c1; take a2; take c2; take a3; take a4; take a5; take b2; take b3
      a request that has begun is no reason to serve the newest | 1 100 1000 | leave 3; ask a1 a2 a3; take a1; at 101; ask b; ask c; take b
      a batch is filled with the newest | 3 100 1000 | leave 3; ask a; ask b; ask c; ask d; at 101; take d c b
      a request of many records holds up no others | 1 100 1000 | ask a a a a; ask b b b b; take a; take b; take a; take a; ask c; take c
      the record whose turn it is chooses the bucket | 4 0 10 | ask a wwwwwwwwwwwwwwwwwwww; ask b; ask wwwwwwwwwwwwwwwwwwwwx; take a b; take wwwwwwwwwwwwwwwwwwwwx wwwwwwwwwwwwwwwwwwww
      a batch stays within its padded cost, and one beyond it is served alone | 4 0 6 30 | ask wwwwwwwwww wwwwwwwwwwwwwww w; ask xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; take wwwwwwwwww wwwwwwwwwwwwwww; take xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; take w; take yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy
      a request that cannot be in time is refused | 1 0 100 | ask z a b c; slow z; slow a; refused 1s words is overloaded: its records would wait 1.0 s, and the request's time is over in 1.0 s; room 2s
      a moment is no measure for one with much time | 1 0 100 | ask z; ask a; ask b; ask c; ask d; ask e; ask f; ask g; ask h; ask i; ask j; ask k; ask l; ask m; ask n; ask o; ask p; ask q; ask r; ask s; ask t; ask u; ask v; ask w; ask x; ask y; ask A; ask B; ask C; ask D; slow z; slow a; room 40s; slow b; slow c; refused 40s would wait 26.0 s; refused 16s would wait
      a request waits in turn and not for all that a larger one has | 1 0 100 | ask a b c d; ask e f; slow a; slow e; refused 2s would wait 2.0 s; room 4s
      what a record takes alone is no measure | 1 0 100 | ask a; slow a; ask b; room 1
      a wait is estimated by length and not by record | 1 0 100 | ask llllllllllllllllllllllllllllllllllllllllllllllllll; ask mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm; ask a b c; slow llllllllllllllllllllllllllllllllllllllllllllllllll; slow mmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmmm; room 1s
      a queue that was idle refuses nobody for what it once took | 1 0 100 | ask a b; slow a; slow b; ask c; room 1
      a stream that would not begin in time is refused | 1 0 100 steps | ask a; ask b; ask c; ask d; ask e; ask f; ask g; ask h; begin a; room 1; after 1s; begin b; after 1s; begin c; refused 8s would wait 5.0 s; room 10s
      a line of streams that does not move refuses more | 1 0 100 steps | ask a; begin a; after 100s; ask b; ask c; after 5s; refused 19s would wait 10.0 s; room 20s
      the time without a line is no measure for streams | 1 0 100 steps | ask a; ask b; begin a; begin b; after 100s; ask c; ask d; begin c; room 1
      a line whose callers have gone is no measure for streams | 1 0 100 steps | ask a; ask b; begin a; gone b; after 100s; ask c; ask d; begin c; room 1
      one that leaves in the midst of an answer is no reason to serve the newest | 1 100 100 steps | ask s; begin s; gone s; ask s; begin s; gone s; ask s; begin s; gone s; ask a; at 101; ask b; begin a
      """)
    void requestsAreLetInAndTakeTurns(String promise, String limits, String script) {
        var numbers = limits.split(" ");
        boolean inSteps = limits.endsWith(" steps");
        int tokens = numbers.length > 3 && !inSteps ? Integer.parseInt(numbers[3]) : 1_000;
        queue = queue(number(numbers[0]), number(numbers[1]), number(numbers[2]), tokens);
        if (inSteps) {
            queue.inSteps = true;
        }
        for (var step : script.split("; ")) {
            var words = step.split(" ", 2);
            var what = words[1];
            switch (words[0]) {
                case "ask" -> ask(what.split(" "));
                case "leave" -> leave(number(what));
                case "gone" -> queue.abandon(asked.get(what));
                case "crowd" ->
                    IntStream.range(0, number(what)).forEach(_ -> {
                        ask("impatient");
                        assertThat(take()).as(step).containsExactly("impatient");
                    });
                case "at" -> now.set(number(what));
                case "after" -> now.addAndGet(nanos(what));
                case "take" -> assertThat(take()).as(step).containsExactly(what.split(" "));
                case "slow" -> {
                    var pieces = begin();
                    assertThat(values(pieces)).as(step).containsExactly(what);
                    now.addAndGet(nanos("1s"));
                    pieces.forEach(queue::answer);
                }
                case "begin" -> assertThat(values(begin())).as(step).containsExactly(what);
                case "room" -> queue.requireRoom(1, now.get() + nanos(what));
                case "refused" -> {
                    var left = what.split(" ", 2);
                    assertThatThrownBy(() -> queue.requireRoom(1, now.get() + nanos(left[0])))
                            .isInstanceOfSatisfying(
                                    ServingException.class,
                                    e -> assertThat(e.type()).isEqualTo(ErrorType.OVERLOADED))
                            .hasMessageContaining(left[1]);
                }
                default -> throw new IllegalArgumentException(step);
            }
        }
    }

    private static int number(String word) {
        return Integer.parseInt(word);
    }

    private static long nanos(String word) {
        return word.endsWith("s")
                ? Duration.ofSeconds(number(word.replace("s", ""))).toNanos()
                : number(word);
    }

    @Test
    void theFirstIsServedAgainWhenOthersLeaveNoMore() {
        leave(4);
        ask("first");
        now.set(TARGET + 1);

        int before = 0;
        List<String> taken;
        do {
            ask("client");
            taken = take();
            before++;
        } while (taken.equals(List.of("client")) && before < 100);
        assertThat(before).isBetween(2, 32);
    }

    /// Nobody comes to the first ones while the newest is served first, or to any in a full queue.
    @Test
    void callersWhoHaveGoneKeepNoPlaceOnceTheyAreAsked() {
        queue = queue(1, TARGET, 2);
        var gone = new AtomicBoolean();
        ask("a");
        var leaves = submit(gone::get, Serving.pieces(List.of("b", "c")), sink(new AtomicInteger()));
        queue.ask(leaves);
        assertThatThrownBy(() -> ask("d")).hasMessageContaining("found 2 requests waiting, expected fewer than 2");
        gone.set(true);
        queue.ask(leaves);
        ask("d", "e");

        assertThat(List.of(take(), take(), take())).containsExactly(List.of("a"), List.of("d"), List.of("e"));
        assertMetrics("berth_abandoned_total{model=\"words\"} 2.0", "berth_queue_depth{model=\"words\"} 0.0");
    }

    @Test
    void piecesAreOneRequestToTheQueueAndOneRecordToAllCounts() {
        queue = queue(4, TARGET, 2);
        var pieces = List.of("a1", "a2", "a3", "a4", "b", "c1", "c2");
        submit(() -> false, pieces(pieces, 4, 1, 2), sink(new AtomicInteger()));
        assertThat(take()).containsExactly("a1", "a2", "a3", "a4");
        ask("d");
        assertThatThrownBy(() -> ask("e")).hasMessageContaining("found 2 requests waiting, expected fewer than 2");
        assertMetrics(
                "berth_records_total{model=\"words\"} 4.0",
                "berth_queue_depth{model=\"words\"} 2.0",
                "berth_queue_wait_seconds_count{model=\"words\"} 1");

        assertThat(take()).containsExactly("d", "b", "c1", "c2");
        assertMetrics("berth_queue_depth{model=\"words\"} 0.0", "berth_queue_wait_seconds_count{model=\"words\"} 4");
    }

    @Test
    void aRecordOfWhichSomePiecesAreLeftIsDroppedOnce() {
        queue = queue(2, TARGET, 10);
        var gone = new AtomicBoolean();
        submit(
                () -> gone.getAndSet(true),
                pieces(List.of("a1", "a2", "a3", "b1", "b2"), 3, 2),
                sink(new AtomicInteger()));
        assertThat(take()).containsExactly("a1", "a2");
        ask("c");

        assertThat(take()).containsExactly("c");
        assertMetrics("berth_abandoned_total{model=\"words\"} 2.0", "berth_queue_depth{model=\"words\"} 0.0");
    }

    /// The last one may be in a bucket that comes first.
    @Test
    void aRecordIsDroppedWhicheverOfItsPiecesIsLeft() {
        var pieces =
                new Pieces<>(List.of(), List.of("a1", "a2"), new int[] {100, 1}, new int[] {2}, Serving.ones(1, 2));
        var request = submit(() -> false, pieces, sink(new AtomicInteger()));
        assertThat(take()).containsExactly("a2");
        queue.abandon(request);

        assertMetrics("berth_abandoned_total{model=\"words\"} 1.0");
    }

    @Test
    void aBatchLooksAtNoMoreRequestsThanItHasRoomFor() {
        queue = queue(4, TARGET, 1_000);
        var looks = new AtomicInteger();
        for (int i = 0; i < 100; i++) {
            submit(() -> false, Serving.pieces(List.of("a")), sink(looks));
        }
        looks.set(0);

        assertThat(take()).hasSize(4);
        assertThat(looks).hasValueLessThan(10);
    }

    @Test
    void aBlockOfRowsTakesAsManyPlacesOfABatch() {
        queue = queue(4, TARGET, 1_000);
        for (int size : new int[] {3, 2, 1}) {
            var sizes = new Pieces.Sizes(new int[] {size}, new int[] {size});
            var block = new Pieces<>(List.of(), List.of("b" + size), new int[] {1}, new int[] {1}, sizes);
            submit(() -> false, block, sink(new AtomicInteger()));
        }

        assertThat(take())
                .as("what fits goes beside, and what does not comes next")
                .containsExactly("b3", "b1");
        assertThat(take()).containsExactly("b2");
        assertMetrics("berth_queue_depth{model=\"words\"} 0.0");
    }

    private void assertMetrics(String... lines) {
        assertThat(metrics.scrape().lines()).contains(lines);
    }

    private Batcher<String, String> queue(int size, int target, int capacity) {
        return queue(size, target, capacity, 1_000);
    }

    private Batcher<String, String> queue(int size, int target, int capacity, int tokens) {
        var limits = new BatchLimits(size, tokens, Duration.ZERO, capacity, Duration.ofNanos(target));
        var queue =
                new Batcher<String, String>("the model", Serving.pool(0), limits, now::get, metrics.ofModel("words"));
        queue.liveWorkers = 1;
        return queue;
    }

    private Submission<String, String> ask(String... words) {
        var request = submit(() -> false, Serving.pieces(List.of(words)), sink(new AtomicInteger()));
        asked.put(words[0], request);
        return request;
    }

    private static Pieces<String> pieces(List<String> values, int... counts) {
        return new Pieces<>(
                List.of(), values, new int[values.size()], counts, Serving.ones(counts.length, values.size()));
    }

    private Submission<String, String> submit(BooleanSupplier hasGone, Pieces<String> pieces, PartSink<String> sink) {
        var caller = new Caller(hasGone, Map.of(), RequestTrace.NONE);
        return queue.submit(pieces, sink, caller);
    }

    /// @param looks counts how often it is looked at
    private static PartSink<String> sink(AtomicInteger looks) {
        return new PartSink<>() {
            @Override
            public void take(int index, String part) {}

            @Override
            public long deadlineNanos() {
                looks.incrementAndGet();
                return DEADLINE;
            }
        };
    }

    /// So many callers give up before they have an answer.
    private void leave(int callers) {
        for (int i = 0; i < callers; i++) {
            queue.abandon(ask("impatient"));
        }
    }

    /// Predicts a batch.
    private List<String> take() {
        var pieces = begin();
        pieces.forEach(queue::answer);
        return values(pieces);
    }

    private List<Piece<String, String>> begin() {
        var pieces = new ArrayList<Piece<String, String>>();
        queue.take(queue.limits.maxBatchSize(), pieces);
        return pieces;
    }

    private static List<String> values(List<Piece<String, String>> pieces) {
        return pieces.stream().map(piece -> piece.value).toList();
    }
}
