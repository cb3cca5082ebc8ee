package dev.berth.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/// What a model that answers part by part counts and times besides.
public final class StreamMetrics {

    public final Timer firstPart;
    public final Counter parts;
    public final Counter broken;
    public final AtomicInteger streams;
    private final Timer stepTime;
    private final DistributionSummary batchSize;

    StreamMetrics(Instruments model, DistributionSummary batchSize) {
        this.batchSize = batchSize;
        stepTime = model.timer("berth.step", "stepFn, one step of all records in the batch");
        firstPart = model.timer("berth.first.part", "from the first byte read to the first part, one streamed answer");
        parts = model.counter("berth.parts", "parts of streamed answers");
        broken = model.counter(
                "berth.streams.broken",
                "streamed answers that failed after their first part, whose clients had read a 200");
        streams = model.gauge(
                "berth.streams",
                "records that are being predicted in steps, those that wait for their readers included");
    }

    /// A step was made for so many records, whether it failed or not.
    public void stepped(int size, Duration took) {
        batchSize.record(size);
        stepTime.record(took);
    }
}
