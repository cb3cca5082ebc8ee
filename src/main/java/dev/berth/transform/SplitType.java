package dev.berth.transform;

import dev.berth.content.Framing;

/// `TransformInput.SplitType`: where the records of an object end.
enum SplitType {
  /// The whole object is one record.
  NONE("None", Framing.NONE),
  /// At each newline.
  LINE("Line", Framing.LINES),
  /// [dev.berth.content.RecordIo].
  RECORD_IO("RecordIO", Framing.RECORD_IO),
  /// [dev.berth.content.TfRecord].
  TF_RECORD("TFRecord", Framing.TF_RECORD);

  private final String word;
  private final Framing framing;

  SplitType(String word, Framing framing) {
    this.word = word;
    this.framing = framing;
  }

  Framing framing() {
    return framing;
  }

  /// As the API spells it.
  @Override
  public String toString() {
    return word;
  }
}
