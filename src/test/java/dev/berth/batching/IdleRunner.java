package dev.berth.batching;

/// A worker that takes nothing: tests take from the queue themselves.
final class IdleRunner extends Runner<String, String> {

  IdleRunner(int worker) {
    super(null, worker, null);
  }

  @Override
  void serve() {}

  @Override
  void predictWhatWaits() {}
}
