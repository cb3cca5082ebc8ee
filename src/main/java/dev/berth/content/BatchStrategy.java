package dev.berth.content;

import org.apache.commons.text.CaseUtils;

/// `BatchStrategy` of a transform job: how many records a request may hold. [#name()] is as the
/// environment spells it, [#toString()] as the API does.
public enum BatchStrategy {
  SINGLE_RECORD,
  MULTI_RECORD;

  @Override
  public String toString() {
    return CaseUtils.toCamelCase(name(), true, '_');
  }
}
