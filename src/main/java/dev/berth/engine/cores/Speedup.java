package dev.berth.engine.cores;

/// Whether a model's forwards are faster on several cores, as measured. Used by many threads.
///
/// Mostly they are. Beside another process that wants the same cores they may take ten times as
/// long. So the slower way is tried from time to time, several cores more and more rarely.
final class Speedup {

  /// A trial of several cores is so many forwards long and the shortest counts: the first have
  /// threads to wake.
  private static final int TRIAL = 4;

  private static final int FORWARDS_BETWEEN_TRIALS = 32;
  private static final int MOST_FORWARDS_BETWEEN_TRIALS = 256;

  /// Inputs of different lengths take different times for an element. Less of a difference is not
  /// worth a change.
  private static final double CLEARLY = 1.25;

  private static final double WEIGHT_OF_LATEST = 0.1;

  /// Nanoseconds for an element of the input, averages.
  private double withOneCore = Double.POSITIVE_INFINITY;

  private double withSeveral = Double.POSITIVE_INFINITY;
  private int trial = TRIAL;
  private int pause = FORWARDS_BETWEEN_TRIALS;
  private int sinceOtherWay;

  /// Whether the next forward should have several cores where it can: they are quicker, or their
  /// turn has come.
  synchronized boolean isWorthwhile() {
    return trial > 0 || isQuicker() == (sinceOtherWay < pause);
  }

  /// Takes down how long a forward took.
  ///
  /// @param cores that it used
  /// @param elements of its input
  synchronized void record(int cores, long elements, long nanos) {
    double latest = (double) nanos / Math.max(1, elements);
    sinceOtherWay = (cores > 1) == isQuicker() ? sinceOtherWay + 1 : 0;
    if (cores == 1) {
      withOneCore = average(withOneCore, latest);
      return;
    }
    if (trial == 0 && !isQuicker()) {
      trial = TRIAL;
      withSeveral = Double.POSITIVE_INFINITY;
    }
    withSeveral = trial > 0 ? Math.min(withSeveral, latest) : average(withSeveral, latest);
    if (trial > 0 && --trial == 0) {
      pause =
          isQuicker() ? FORWARDS_BETWEEN_TRIALS : Math.min(MOST_FORWARDS_BETWEEN_TRIALS, 2 * pause);
    }
  }

  private boolean isQuicker() {
    return withSeveral < CLEARLY * withOneCore;
  }

  private static double average(double before, double latest) {
    return Double.isInfinite(before) ? latest : before + WEIGHT_OF_LATEST * (latest - before);
  }
}
