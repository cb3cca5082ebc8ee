package dev.berth.engine.cores;

/// Whether a model's forwards are faster on several cores, as measured. Used by many threads.
///
/// Mostly they are. Beside another process that wants the same cores they may take ten times as
/// long. So the slower way is tried from time to time, more and more rarely.
final class Speedup {

    /// Several cores are tried for so many forwards. The first of them have threads to wake and do
    /// not count. A neighbour that computes and pauses in turn needs more than one of the others to
    /// be seen. One that takes more than twice as long as on one core ends the trial, the first one too.
    private static final int TRIAL = 9;

    private static final int COUNTED = 6;

    private static final int FORWARDS_BETWEEN_TRIALS = 32;

    /// They take 1.5 to 2 s with the sample. So long a neighbour that has gone may stay unnoticed.
    private static final int MOST_FORWARDS_BETWEEN_TRIALS = 128;

    private static final double WEIGHT_OF_LATEST = 0.1;

    /// Nanoseconds for an element of the input, averages.
    private double withOneCore = Double.POSITIVE_INFINITY;

    private double withSeveral = Double.POSITIVE_INFINITY;
    private boolean isQuicker = true;

    private int trial = TRIAL;

    private int pause = FORWARDS_BETWEEN_TRIALS;
    private int sinceOtherWay;

    /// Whether the next forward should have several cores where it can: they are quicker, or their
    /// turn has come.
    synchronized boolean isWorthwhile() {
        return trial > 0 || isQuicker == sinceOtherWay < pause;
    }

    /// Takes down how long a forward took.
    ///
    /// @param cores that it used
    /// @param elements of its input
    synchronized void record(int cores, long elements, long nanos) {
        double latest = (double) nanos / Math.max(1, elements);
        boolean isOtherWay = cores > 1 != isQuicker;
        sinceOtherWay = isOtherWay ? 0 : sinceOtherWay + 1;
        if (cores == 1) {
            withOneCore = average(withOneCore, latest, WEIGHT_OF_LATEST);
        } else {
            recordSeveral(latest, isOtherWay);
        }
        if (trial > 0) {
            return;
        }
        if (withSeveral < withOneCore != isQuicker) {
            isQuicker = !isQuicker;
            pause = FORWARDS_BETWEEN_TRIALS;
        } else if (isOtherWay) {
            pause = Math.min(MOST_FORWARDS_BETWEEN_TRIALS, 2 * pause);
        }
    }

    private void recordSeveral(double latest, boolean isOtherWay) {
        if (isOtherWay && trial == 0) {
            trial = TRIAL;
            withSeveral = Double.POSITIVE_INFINITY;
        }
        if (trial <= COUNTED) {
            double weight = trial == 0 ? WEIGHT_OF_LATEST : 1.0 / (COUNTED - trial + 1);
            withSeveral = average(withSeveral, latest, weight);
        }
        trial = latest > 2 * withOneCore ? 0 : Math.max(0, trial - 1);
    }

    private static double average(double before, double latest, double weight) {
        return Double.isInfinite(before) ? latest : before + weight * (latest - before);
    }
}
