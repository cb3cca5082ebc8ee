package dev.berth.batching;

import dev.berth.metrics.ModelMetrics;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.Consumer;
import java.util.stream.Stream;

/// The requests of which pieces wait, and whose turn it is. Guarded by the lock of the [Batcher].
///
/// A batch begins with a piece of a request that has had nothing, so that a request of thousands does
/// not hold up one of a few that came later. Of several such requests the first one is served. But
/// when more requests come than can be answered, the first ones are about to leave: then the newest is
/// served first. That is so when requests have waited for longer than the target delay without having
/// had anything, and some were not answered at all. A few turns still go to the first one: where others
/// leave, it is the most patient. Every fourth turn goes to the requests that have begun: to the one that
/// is finished soonest, and to the oldest, which would never end otherwise. If all took turns, many of
/// the same length would end at the time of the last one, which may be too late for each.
///
/// How long the line takes follows from how fast it has moved since it was empty last: what comes
/// after a pause may be of another kind. That rate has the number of workers and the turns of other
/// models in it. It counts by length and not by record: a question of 400 tokens says nothing of how
/// long one of 20 takes. A batch that nobody waited behind is no measure: it was not full, and may have
/// had more cores.
final class Line<I, O> {

    /// How often in a row the requests that have begun may be passed over.
    private static final int PATIENCE = 3;

    /// How many turns others may have before the first request has one, while the newest is served first.
    private static final int MOST_SINCE_FIRST = 31;

    /// Over how many requests the part of those without an answer is taken.
    private static final int MEMORY = 32;

    /// From this part on, more requests come than can be answered. A long wait alone does not say so:
    /// clients that ask again as soon as they have their answer would keep the newest first for ever,
    /// and the first would never be served. One impatient client of 16 leaves less often.
    private static final double TOO_MANY = 1.0 / 16;

    /// Over how many batches the rate is taken. Of records that are predicted in steps each is one:
    /// those of a step may all end in the same one, and with 16 in it the rate goes up and down by an
    /// eighth.
    private static final int BATCHES = 64;

    private final BatchLimits limits;
    private final ModelMetrics metrics;

    /// Those that have had nothing, in the order of their arrival.
    private final SequencedSet<Submission<I, O>> untouched = new LinkedHashSet<>();

    /// Those that have had something and have pieces left, the oldest first.
    private final SequencedSet<Submission<I, O>> begun = new LinkedHashSet<>();

    private int passedOver;

    /// Of those that have begun, in place of the one that is finished soonest.
    private boolean isTurnOfOldest;

    /// Turns of others since the first request had one.
    private int sinceFirst;

    /// The part of the latest requests that had no answer, because there was no room or their callers
    /// did not wait.
    private double unanswered;

    /// When the last batch left the line, or the first request came to an empty one.
    private long stillSince;

    /// Whether a batch has left the line since it was empty, and when the first one did.
    private boolean hasMoved;

    private long movingSince;

    /// The time between two batches, and the length of a batch, on average.
    private double nanosBetween;

    private double length;

    Line(BatchLimits limits, ModelMetrics metrics) {
        this.limits = limits;
        this.metrics = metrics;
    }

    /// One of which some pieces wait counts as one.
    int size() {
        return untouched.size() + begun.size();
    }

    private Stream<Submission<I, O>> requests() {
        return Stream.concat(untouched.stream(), begun.stream());
    }

    int pieces() {
        return requests().mapToInt(request -> request.left).sum();
    }

    /// How long the last piece of a request of `count` pieces would wait, in nanoseconds.
    long expectedWait(int count) {
        return length == 0
                ? 0
                : (long) (requests()
                                .mapToLong(request -> request.lengthBefore(count))
                                .sum()
                        * (nanosBetween / length));
    }

    /// For how long no batch has left the line.
    long stillFor(long now) {
        return now - stillSince;
    }

    /// A batch has left the line, and others may wait behind it.
    ///
    /// @param taken the lengths of its pieces, all together
    void moved(long taken, long now) {
        if (hasMoved) {
            nanosBetween += (now - stillSince - nanosBetween) / BATCHES;
            length += (Math.max(1, taken) - length) / BATCHES;
        }
        movingSince = hasMoved ? movingSince : now;
        hasMoved = true;
        stillSince = now;
    }

    /// How long its rate has been taken for.
    long measuredFor(long now) {
        return hasMoved ? now - movingSince : 0;
    }

    void add(Submission<I, O> request, long now) {
        if (size() == 0) {
            stillSince = now;
            hasMoved = false;
            nanosBetween = 0;
            length = 0;
        }
        untouched.addLast(request);
        metrics.requestQueued(request.recordsNotStarted);
    }

    void remove(Submission<I, O> request) {
        if (untouched.remove(request) || begun.remove(request)) {
            metrics.requestDequeued();
        }
    }

    /// Says that a request has its answer.
    void answered() {
        unanswered -= unanswered / MEMORY;
    }

    /// Says that a request has gone without an answer, or was not let in.
    void leftUnanswered() {
        unanswered += (1 - unanswered) / MEMORY;
    }

    /// Whether more requests come than can be answered, so that the newest is served first.
    private boolean isNewestFirst(long now) {
        long targetDelay = limits.targetDelay().toNanos();
        return targetDelay > 0
                && unanswered > TOO_MANY
                && !untouched.isEmpty()
                && now - untouched.getFirst().arrivedAt > targetDelay;
    }

    /// In how long a batch should be made of what waits; zero or less: now; [Long#MAX_VALUE]: nothing
    /// waits.
    long ripeInNanos(long now) {
        if (size() == 0) {
            return Long.MAX_VALUE;
        }
        long delay = limits.maxBatchDelay().toNanos();
        if (delay == 0 || fillsBatch()) {
            return 0;
        }
        long oldest =
                requests().mapToLong(request -> now - request.arrivedAt).max().orElseThrow();
        return delay - oldest;
    }

    /// Goes through no more requests than a batch has room for.
    private boolean fillsBatch() {
        return size() >= limits.maxBatchSize()
                || requests().mapToLong(request -> request.leftSize).sum() >= limits.maxBatchSize()
                || requests().mapToLong(request -> request.leftLength).sum() >= limits.maxBatchTokens();
    }

    /// Takes pieces that go together out of the line: the one whose turn it is, then others of its request,
    /// then those of others in their turn, all of one bucket.
    ///
    /// @param most how many
    /// @param expired ends a request whose time is over, so that it waits no more
    List<Piece<I, O>> take(int most, long now, Consumer<Submission<I, O>> expired) {
        var chosen = new ArrayList<Piece<I, O>>();
        while (chosen.isEmpty() && size() > 0) {
            var next = next(now);
            if (next.isExpired(now)) {
                expired.accept(next);
            } else {
                sinceFirst = !untouched.isEmpty() && next == untouched.getFirst() ? 0 : sinceFirst + 1;
                take(next.nextWaiting(), chosen);
            }
        }
        if (chosen.isEmpty()) {
            return chosen;
        }
        var first = chosen.getFirst();
        int longest = first.length;
        int size = first.size;
        // Whose next block does not fit, where that of another may.
        Submission<I, O> tooLarge = null;
        // Limited, for a stream that may stop anywhere collects all pieces of all requests first.
        for (var piece : inTurn(first.request, now)
                .filter(request -> !request.isExpired(now))
                .flatMap(request -> request.waitingIn(first.bucket()).stream())
                .limit(most - 1)
                .toList()) {
            if (piece.request == tooLarge) {
                continue;
            }
            if (!limits.hasRoom(size, longest, piece.size, piece.length)) {
                if (piece.size == 1) {
                    break;
                }
                tooLarge = piece.request;
                continue;
            }
            size += piece.size;
            longest = Math.max(longest, piece.length);
            take(piece, chosen);
        }
        return chosen;
    }

    /// The request whose turn it is.
    private Submission<I, O> next(long now) {
        if (untouched.isEmpty() || (passedOver == PATIENCE && !begun.isEmpty())) {
            passedOver = 0;
            isTurnOfOldest = !isTurnOfOldest;
            return isTurnOfOldest ? begun.getFirst() : soonest().findFirst().orElseThrow();
        }
        passedOver = begun.isEmpty() ? 0 : passedOver + 1;
        return isNewestFirst(now) && sinceFirst < MOST_SINCE_FIRST ? untouched.getLast() : untouched.getFirst();
    }

    /// The requests that have begun, the one with the least left first.
    private Stream<Submission<I, O>> soonest() {
        return begun.stream().sorted(Comparator.comparingLong(request -> request.leftLength));
    }

    private Stream<Submission<I, O>> inTurn(Submission<I, O> first, long now) {
        return Stream.of(
                        Stream.of(first),
                        (isNewestFirst(now) ? untouched.reversed() : untouched).stream(),
                        soonest().filter(request -> request != first))
                .flatMap(requests -> requests);
    }

    private void take(Piece<I, O> piece, List<Piece<I, O>> chosen) {
        var request = piece.request;
        untouched.remove(request);
        request.take(piece);
        if (request.left > 0) {
            begun.add(request);
        } else {
            begun.remove(request);
            metrics.requestDequeued();
        }
        chosen.add(piece);
    }
}
