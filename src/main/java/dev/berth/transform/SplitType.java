package dev.berth.transform;

/// `TransformInput.SplitType`: where the records of an object end.
enum SplitType {
  /// The whole object is one record.
  NONE("None"),
  /// At each newline.
  LINE("Line"),
  /// [dev.berth.content.RecordIo].
  RECORD_IO("RecordIO"),
  /// [dev.berth.content.TfRecord].
  TF_RECORD("TFRecord");

  private final String word;

  SplitType(String word) {
    this.word = word;
  }

  /// As the API spells it.
  @Override
  public String toString() {
    return word;
  }
}
