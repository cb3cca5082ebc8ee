package dev.berth.config;

/// When the models of a directory are loaded.
public enum LoadModels {
  /// By the first request for each.
  LAZY,
  /// Before the server says that it is ready, as many as fit.
  START
}
