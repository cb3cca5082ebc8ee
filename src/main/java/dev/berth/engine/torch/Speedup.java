package dev.berth.engine.torch;

/// Whether more than one core is worth while for a model's forwards, as measured of late. Used by many threads.
///
/// Mostly it does. Where another process wants the same cores it may take ten times as long: the threads of a forward
/// wait for each other hundreds of times, each time until the one that is held up has had its turn. What a process can't
/// see it can measure: both ways are tried from time to time, the longer one rarely.
final class Speedup {

  /// A trial of more cores is so many forwards long, of which the shortest counts: the first have threads to wake.
  private static final int TRIAL = 4;

  private static final int FORWARDS_BETWEEN_TRIALS = 32;
  private static final int MOST_FORWARDS_BETWEEN_TRIALS = 256;

  /// Inputs of different lengths take different times for an element; what is not clearly longer is not worth a change.
  private static final double CLEARLY = 1.25;

  private static final double WEIGHT_OF_LATEST = 0.1;

  /// Nanoseconds for an element of the input, averages.
  private double withOneCore = Double.POSITIVE_INFINITY;
  private double withMore = Double.POSITIVE_INFINITY;
  private int trial = TRIAL;
  private int pause = FORWARDS_BETWEEN_TRIALS;
  private int sinceOneCore;
  private int sinceMore;

  /// Whether the next forward should have more than one core where it can.
  synchronized boolean isWorthwhile() {
    if (trial > 0) {
      return true;
    }
    return isQuickEnough() ? sinceOneCore < FORWARDS_BETWEEN_TRIALS : sinceMore >= pause;
  }

  /// Takes down how long a forward took.
  ///
  /// @param cores that it used
  /// @param elements of its input
  synchronized void record(int cores, long elements, long nanos) {
    double latest = (double) nanos / Math.max(1, elements);
    if (cores == 1) {
      withOneCore = average(withOneCore, latest);
      sinceOneCore = 0;
      sinceMore++;
    } else {
      recordMore(latest);
      sinceMore = 0;
      sinceOneCore++;
    }
  }

  private void recordMore(double latest) {
    if (trial == 0 && sinceMore >= pause) {
      trial = TRIAL;
      withMore = Double.POSITIVE_INFINITY;
    }
    if (trial > 0) {
      trial--;
      withMore = Math.min(withMore, latest);
    } else {
      withMore = average(withMore, latest);
    }
    if (isQuickEnough()) {
      pause = FORWARDS_BETWEEN_TRIALS;
    } else if (trial == 0) {
      pause = Math.min(MOST_FORWARDS_BETWEEN_TRIALS, 2 * pause);
    }
  }

  private boolean isQuickEnough() {
    return withMore < CLEARLY * withOneCore;
  }

  private static double average(double before, double latest) {
    return Double.isInfinite(before) ? latest : before + WEIGHT_OF_LATEST * (latest - before);
  }
}
