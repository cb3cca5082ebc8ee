package dev.berth.transform;

import org.apache.commons.text.CaseUtils;

/// `DataProcessing.JoinSource`: what the answers are joined with.
enum JoinSource {
  NONE,
  /// The records as they were before `InputFilter`.
  INPUT;

  /// As the API spells it.
  @Override
  public String toString() {
    return CaseUtils.toCamelCase(name(), true, '_');
  }
}
