package dev.berth.config;

/// `BatchStrategy` of a transform job, as the environment spells it: how many records a request may hold.
public enum BatchStrategy {
  SINGLE_RECORD,
  MULTI_RECORD
}
