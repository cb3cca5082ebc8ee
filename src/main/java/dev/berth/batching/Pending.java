package dev.berth.batching;

/// One record of a request, waiting or running. Immutable; compared by identity.
final class Pending<I, O> {

  private final Submission<I, O> submission;
  private final int index;
  private final I value;
  private final int length;

  /// @param index its place in the request
  /// @param length its cost in a batch, in tokens
  Pending(Submission<I, O> submission, int index, I value, int length) {
    if (length < 0) {
      throw new IllegalArgumentException("length: found %d, expected zero or more".formatted(length));
    }
    this.submission = submission;
    this.index = index;
    this.value = value;
    this.length = length;
  }

  Submission<I, O> submission() {
    return submission;
  }

  int index() {
    return index;
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
