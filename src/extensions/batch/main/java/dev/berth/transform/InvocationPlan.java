package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.BatchStrategy;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;

/// How a job is run: what the job says, else what the container answers to `/execution-parameters`,
/// else the platform's default.
record InvocationPlan(int concurrent, Splitting splitting) {

    private static final int DEFAULT_PAYLOAD_IN_MB = 6;

    /// More connections than any machine has.
    private static final int MOST_CONCURRENT = 10_000;

    /// Such records are lines, each a request of its own.
    private static final Splitting OF_ENVELOPES =
            Splitting.ofMebibytes(FramedSplit.LINE, BatchStrategy.SINGLE_RECORD, 0);

    /// @param container its answer; a missing node where it does not know the question
    static InvocationPlan of(TransformJob job, JsonNode container) {
        int concurrent = positive(job.invocations().maxConcurrent())
                .or(() -> positive(number(container, "MaxConcurrentTransforms")))
                .orElse(1);
        if (job.kind() instanceof Envelopes) {
            return new InvocationPlan(concurrent, OF_ENVELOPES);
        }
        var records = job.kind().records();
        var strategy = records.strategy().or(() -> strategy(container)).orElse(BatchStrategy.MULTI_RECORD);
        var payload =
                records.maxPayloadInMb().isPresent() ? records.maxPayloadInMb() : number(container, "MaxPayloadInMB");
        // An object that is one request can't be shared, whatever the container says.
        int most = payload.stream()
                .filter(n -> n > 0 || !job.has(JobOption.SPLIT_OBJECTS))
                .findFirst()
                .orElse(DEFAULT_PAYLOAD_IN_MB);
        return new InvocationPlan(
                concurrent, Splitting.ofMebibytes(records.formats().splitType(), strategy, most));
    }

    /// 0 leaves it to the next one to say.
    private static Optional<Integer> positive(OptionalInt number) {
        return number.stream()
                .filter(n -> n > 0)
                .map(n -> Math.min(n, MOST_CONCURRENT))
                .boxed()
                .findFirst();
    }

    private static OptionalInt number(JsonNode container, String name) {
        var value = container.path(name);
        return value.isInt() && value.intValue() >= 0 ? OptionalInt.of(value.intValue()) : OptionalInt.empty();
    }

    /// The platform's containers spell it in capitals, the API does not.
    private static Optional<BatchStrategy> strategy(JsonNode container) {
        var text = container.path("BatchStrategy").asText();
        return Arrays.stream(BatchStrategy.values())
                .filter(strategy ->
                        strategy.name().equals(text) || strategy.toString().equals(text))
                .findFirst();
    }
}
