package dev.berth.serving;

import dev.berth.metrics.ModelMetrics;
import java.util.LinkedHashSet;
import java.util.SequencedSet;
import java.util.concurrent.atomic.AtomicInteger;

/// What the hooks of one model have in common: where they find classes, their metrics, and how many
/// of them wait, have their turn, read and are stuck.
final class HookScope {

  final ClassLoader classes;
  final ModelMetrics metrics;
  private final InFlight inside;

  /// How many wait for a thread or for their turn.
  final AtomicInteger waiting = new AtomicInteger();

  /// Written under the monitor of the pool.
  volatile int stuck;

  /// How many read; guarded by the monitor of the pool.
  int reading;

  /// Those that have their turn. Guarded by the monitor of the pool, as all that follows, and only
  /// used by [HookTurns].
  int turns;

  int largeTurns;

  /// Those that wait for their turn.
  final SequencedSet<HookRun> line = new LinkedHashSet<>();

  final SequencedSet<HookRun> largeLine = new LinkedHashSet<>();

  /// @param classes where libraries that look for services find those of the hooks
  /// @param inside counts the hooks that run, those left behind included
  HookScope(ClassLoader classes, InFlight inside, ModelMetrics metrics) {
    this.classes = classes;
    this.inside = inside;
    this.metrics = metrics;
  }

  InFlight inside() {
    return inside;
  }
}
