package dev.berth.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.function.Supplier;

/// Some series of a model under the names that vLLM has for them, for dashboards that were made for
/// it.
///
/// What stands for what is a guess: vLLM counts sequences that are generated, Berth requests and
/// records.
final class VllmNames extends Instruments {

    final Timer requestTime = timer(
            "vllm:e2e_request_latency",
            "from the first byte read to the answer, one request (berth_model_request_seconds)");

    VllmNames(MeterRegistry registry, String model, Supplier<Number> inFlight, Supplier<Number> queueDepth) {
        super(registry, Tags.of("model_name", model));
        gauge("vllm:num_requests_running", "requests without an answer (berth_requests_in_flight)", inFlight);
        gauge("vllm:num_requests_waiting", "requests that wait (berth_queue_depth)", queueDepth);
    }
}
