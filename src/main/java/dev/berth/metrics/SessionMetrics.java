package dev.berth.metrics;

import io.micrometer.core.instrument.Counter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/// What a model with sessions counts besides. Each method is an event, as in [ModelMetrics].
public final class SessionMetrics {

  private final ModelMetrics model;
  private final AtomicInteger sessions;
  private final Counter opened;
  private final Counter refused;
  private final Map<String, Counter> closed = new ConcurrentHashMap<>();

  SessionMetrics(ModelMetrics model) {
    this.model = model;
    sessions = model.gauge("berth.sessions", "sessions that are open");
    opened = model.counter("berth.sessions.opened", "sessions that were opened");
    refused =
        model.counter(
            "berth.sessions.refused", "sessions that were not opened because there were too many");
  }

  public void opened() {
    sessions.incrementAndGet();
    opened.increment();
  }

  public void refused() {
    refused.increment();
  }

  /// @param reason one of a few words
  public void closed(String reason) {
    sessions.decrementAndGet();
    closed
        .computeIfAbsent(
            reason,
            _ ->
                model.counter(
                    "berth.sessions.closed", "sessions that have ended, and why", "reason", reason))
        .increment();
  }
}
