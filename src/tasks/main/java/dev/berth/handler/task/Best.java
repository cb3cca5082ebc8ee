package dev.berth.handler.task;

import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.function.LongToDoubleFunction;
import java.util.stream.LongStream;

/// The best of many candidates, without an object for each.
public final class Best {

    private record Candidate(long number, int place, double score) {}

    /// The better first; of equal ones the one that was found first.
    private static final Comparator<Candidate> BEST_FIRST =
            Comparator.comparingDouble(Candidate::score).reversed().thenComparingInt(Candidate::place);

    private Best() {}

    /// The numbers of the best candidates, the best first.
    ///
    /// @param candidates what they are numbered, in the order in which equal ones are to stand
    public static List<Long> of(LongStream candidates, LongToDoubleFunction scores, int most) {
        var kept = new PriorityQueue<>(BEST_FIRST.reversed());
        var numbers = candidates.iterator();
        for (int place = 0; numbers.hasNext(); place++) {
            long number = numbers.nextLong();
            double score = scores.applyAsDouble(number);
            if (kept.size() < most || score > kept.element().score) {
                kept.add(new Candidate(number, place, score));
                if (kept.size() > most) {
                    kept.remove();
                }
            }
        }
        return kept.stream().sorted(BEST_FIRST).map(Candidate::number).toList();
    }
}
