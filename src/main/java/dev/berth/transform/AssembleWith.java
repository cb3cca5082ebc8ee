package dev.berth.transform;

import org.apache.commons.text.CaseUtils;

/// `TransformOutput.AssembleWith`: what is written after each answer.
enum AssembleWith {
  NONE,
  /// A newline.
  LINE;

  /// As the API spells it.
  @Override
  public String toString() {
    return CaseUtils.toCamelCase(name(), true, '_');
  }
}
