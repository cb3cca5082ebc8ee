package dev.berth.transform;

/// `DataProcessing.JoinSource`: what the answers are joined with.
enum JoinSource {
  NONE("None"),
  /// The records as they were before `InputFilter`.
  INPUT("Input");

  private final String word;

  JoinSource(String word) {
    this.word = word;
  }

  /// As the API spells it.
  @Override
  public String toString() {
    return word;
  }
}
