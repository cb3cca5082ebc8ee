package dev.berth.engine;

/// A tensor that stays in the engine's memory from one forward to the next, such as the key/value
/// cache of a text.
///
/// Used by one thread at a time. It is freed when it is closed, at the latest with the graph that
/// made it.
public interface KeptTensor extends AutoCloseable {

  /// What it takes, in bytes; 0 when it is closed.
  long bytes();

  /// May be called again.
  @Override
  void close();
}
