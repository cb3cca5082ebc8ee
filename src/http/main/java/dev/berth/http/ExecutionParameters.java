package dev.berth.http;

import dev.berth.config.ServingConfig;
import dev.berth.content.BatchStrategy;
import dev.berth.error.ErrorType;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.Served;
import io.javalin.http.Context;
import io.javalin.http.Handler;

/// `GET /execution-parameters`: how a batch-transform job should call this container, for what the
/// job's author left open.
///
/// The values are those that the platform set in the environment, else one request for each worker
/// at a time. SageMaker's API holds concurrency × payload to 100 MB, so this does too.
record ExecutionParameters(ServerParts parts) implements Handler {

    private static final int MAX_CONCURRENCY_TIMES_PAYLOAD = 100;
    private static final int DEFAULT_PAYLOAD_IN_MB = 6;

    @Override
    public void handle(Context ctx) {
        var config = parts.config();
        var strategy = config.find(ServingConfig.BATCH_STRATEGY).orElse(BatchStrategy.MULTI_RECORD);
        var spelled = switch (config.get(ServingConfig.EXECUTION_PARAMETERS)) {
            case SAGEMAKER -> strategy.name();
            // Local mode hands the value on to a factory that only knows the API's spelling.
            case LOCAL_MODE -> strategy.toString();
            case OFF ->
                throw ErrorType.NOT_FOUND.because(
                        "/execution-parameters is switched off by BERTH_EXECUTION_PARAMETERS");
        };
        int concurrency = Math.min(
                config.find(ServingConfig.MAX_CONCURRENT_TRANSFORMS).orElseGet(this::workers),
                MAX_CONCURRENCY_TIMES_PAYLOAD);
        int payload = Math.min(
                config.find(ServingConfig.MAX_PAYLOAD_IN_MB).orElse(DEFAULT_PAYLOAD_IN_MB),
                MAX_CONCURRENCY_TIMES_PAYLOAD / Math.max(1, concurrency));
        ctx.contentType("application/json")
                .result("{\"MaxConcurrentTransforms\":%d,\"BatchStrategy\":\"%s\",\"MaxPayloadInMB\":%d}"
                        .formatted(concurrency, spelled, payload));
    }

    /// Those that can predict.
    private int workers() {
        var deadline = Deadline.in(parts.config().get(ServingConfig.TIMEOUT), System::nanoTime);
        try (var visit = parts.models().enter(Served.NAME, deadline)) {
            return visit.liveWorkers();
        }
    }
}
