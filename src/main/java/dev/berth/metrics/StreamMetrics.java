package dev.berth.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/// What a model that answers part by part counts and times besides. Each method is an event, as in
/// [ModelMetrics].
public final class StreamMetrics {

  private final Timer stepTime;
  private final Timer firstPart;
  private final Counter parts;
  private final Counter broken;
  private final AtomicInteger streams;
  private final DistributionSummary batchSize;

  StreamMetrics(ModelMetrics model, DistributionSummary batchSize) {
    this.batchSize = batchSize;
    stepTime = model.timer("berth.step", "stepFn, one step of all records in the batch");
    firstPart =
        model.timer(
            "berth.first.part", "from the first byte read to the first part, one streamed answer");
    parts = model.counter("berth.parts", "parts of streamed answers");
    broken =
        model.counter(
            "berth.streams.broken",
            "streamed answers that failed after their first part, whose clients had read a 200");
    streams =
        model.gauge(
            "berth.streams",
            "records that are being predicted in steps, those that wait for their readers included");
  }

  /// A step was made for so many records, whether it failed or not.
  public void stepped(int size, Duration took) {
    batchSize.record(size);
    stepTime.record(took);
  }

  /// A record is predicted in steps from now on.
  public void begun() {
    streams.incrementAndGet();
  }

  public void ended() {
    streams.decrementAndGet();
  }

  /// The first part of an answer is there.
  public void firstPart(Duration took) {
    firstPart.record(took);
  }

  /// A part of an answer is there.
  public void partEmitted() {
    parts.increment();
  }

  /// An answer has failed whose first part is there.
  public void broken() {
    broken.increment();
  }
}
