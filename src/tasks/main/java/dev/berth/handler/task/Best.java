package dev.berth.handler.task;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/// The best of many candidates, without an object for each. Used by one thread, once.
public final class Best {

    /// One that is among the best so far.
    ///
    /// @param place how many were found before it
    public record Candidate(long number, int place, double score) {}

    /// The better first; of equal ones the one that was found first.
    private static final Comparator<Candidate> BEST_FIRST =
            Comparator.comparingDouble(Candidate::score).reversed().thenComparingInt(Candidate::place);

    private final int most;
    private final PriorityQueue<Candidate> kept = new PriorityQueue<>(BEST_FIRST.reversed());
    private int count;

    public Best(int most) {
        this.most = most;
    }

    public void add(long number, double score) {
        if (kept.size() < most || score > kept.element().score) {
            kept.add(new Candidate(number, count, score));
            if (kept.size() > most) {
                kept.remove();
            }
        }
        count++;
    }

    /// The best of all that were found, the best first.
    public List<Candidate> found() {
        return kept.stream().sorted(BEST_FIRST).toList();
    }
}
