package dev.berth.batching;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;

/// Whose turn it is, among the requests that have pieces in the line. Guarded by the lock of the
/// [WorkerPool].
///
/// A batch begins with a piece of a request that has had nothing, so that a request of thousands does
/// not hold up one of a few that came later. Of several such requests the first one is served. But
/// when more requests come than can be answered, the first ones are about to leave: then the newest is
/// served first. That is so when requests have waited for longer than the target delay without having
/// had anything, and some were not answered at all. Every fourth turn goes to the requests that have
/// begun, one after another, so that they are finished.
final class Turns<I, O> {

    /// How often in a row the requests that have begun may be passed over.
    private static final int PATIENCE = 3;

    /// Over how many requests the part of those without an answer is taken.
    private static final int MEMORY = 32;

    /// From this part on, more requests come than can be answered. A long wait alone does not say so:
    /// clients that ask again as soon as they have their answer would keep the newest first for ever,
    /// and the first would never be served. One impatient client of 16 leaves less often.
    private static final double TOO_MANY = 1.0 / 16;

    private final long targetDelay;

    /// Those that have had nothing, in the order of their arrival.
    private final SequencedSet<Submission<I, O>> untouched = new LinkedHashSet<>();

    /// The same, in the order in which their callers are to be asked whether they have gone.
    private final SequencedSet<Submission<I, O>> unasked = new LinkedHashSet<>();

    /// Those that have had something and have pieces left, the one whose turn it is first in front.
    private final SequencedSet<Submission<I, O>> begun = new LinkedHashSet<>();

    private int passedOver;

    /// The part of the latest requests that had no answer, because there was no room or their callers
    /// did not wait.
    private double unanswered;

    /// @param targetDelay zero: never the newest first
    Turns(Duration targetDelay) {
        this.targetDelay = targetDelay.toNanos();
    }

    /// The number of requests that have pieces in the line.
    int size() {
        return untouched.size() + begun.size();
    }

    void add(Submission<I, O> submission) {
        untouched.addLast(submission);
        unasked.addLast(submission);
    }

    void remove(Submission<I, O> submission) {
        if (untouched.remove(submission)) {
            unasked.remove(submission);
        } else {
            begun.remove(submission);
        }
    }

    /// Says that a piece of a request has left the line.
    void taken(Submission<I, O> submission) {
        remove(submission);
        if (submission.left() > 0) {
            begun.addLast(submission);
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
    boolean isNewestFirst(long now) {
        return targetDelay > 0
                && unanswered > TOO_MANY
                && !untouched.isEmpty()
                && now - untouched.getFirst().arrivedAt > targetDelay;
    }

    /// The request whose turn it is. There must be one with a piece in the line.
    Submission<I, O> next(long now) {
        if (untouched.isEmpty() || (passedOver == PATIENCE && !begun.isEmpty())) {
            passedOver = 0;
            return begun.getFirst();
        }
        passedOver = begun.isEmpty() ? 0 : passedOver + 1;
        return isNewestFirst(now) ? untouched.getLast() : untouched.getFirst();
    }

    /// Up to `count` of the requests that have had nothing, to ask whether their callers have gone:
    /// others at each call, until all have been asked.
    List<Submission<I, O>> toAsk(int count) {
        var asked = new ArrayList<Submission<I, O>>(Math.min(count, unasked.size()));
        for (int left = Math.min(count, unasked.size()); left > 0; left--) {
            asked.add(unasked.removeFirst());
        }
        asked.forEach(unasked::addLast);
        return asked;
    }
}
