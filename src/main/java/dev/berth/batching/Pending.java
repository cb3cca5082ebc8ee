package dev.berth.batching;

/// One record of a request or a piece of one, waiting or running. Immutable; compared by identity.
final class Pending<I, O> {

  private final Submission<I, O> submission;
  private final int index;
  private final int record;
  private final I value;
  private final int length;

  /// @param index its place in the request
  /// @param record the number of its record
  /// @param length its cost in a batch, in tokens
  Pending(Submission<I, O> submission, int index, int record, I value, int length) {
    if (length < 0) {
      throw new IllegalArgumentException(
          "length: found %d, expected zero or more".formatted(length));
    }
    this.submission = submission;
    this.index = index;
    this.record = record;
    this.value = value;
    this.length = length;
  }

  Submission<I, O> submission() {
    return submission;
  }

  int index() {
    return index;
  }

  int record() {
    return record;
  }

  /// Whether it is the first piece of its record.
  boolean isFirst() {
    return index == 0 || submission.pending().get(index - 1).record != record;
  }

  I value() {
    return value;
  }

  int length() {
    return length;
  }

  int bucket() {
    return BatchPolicy.bucket(length);
  }

  long arrivedAt() {
    return submission.arrivedAt();
  }
}
