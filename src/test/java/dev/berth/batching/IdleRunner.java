package dev.berth.batching;

/// A worker that takes nothing: tests take from the queue themselves.
record IdleRunner(int worker) implements Runner {

  @Override
  public void serve() {}

  @Override
  public void close() {}

  @Override
  public boolean isClosed() {
    return true;
  }
}
