package dev.berth.batching;

/// One record of a request or a piece of one, waiting or running. Compared by identity, as records
/// of callers are equal in any way that they like.
///
/// @param index its place in the request
/// @param record the number of its record
/// @param length its cost in a batch, in tokens
record Pending<I, O>(Submission<I, O> submission, int index, int record, I value, int length) {

  Pending {
    if (length < 0) {
      throw new IllegalArgumentException(
          "length: found %d, expected zero or more".formatted(length));
    }
  }

  /// Whether it is the first piece of its record.
  boolean isFirst() {
    return index == 0 || submission.pending.get(index - 1).record != record;
  }

  int bucket() {
    return BatchPolicy.bucket(length);
  }

  long arrivedAt() {
    return submission.arrivedAt;
  }

  @Override
  public boolean equals(Object other) {
    return this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }
}
