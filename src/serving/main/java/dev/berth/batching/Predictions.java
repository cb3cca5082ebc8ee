package dev.berth.batching;

import java.time.Duration;
import java.util.List;

/// The predictions of one request's pieces, in their order.
///
/// @param queued from the request's arrival until a worker took its first piece
/// @param predicted from then on until the last piece was predicted
public record Predictions<O>(List<O> values, Duration queued, Duration predicted) {

    /// For a request without records.
    public static <O> Predictions<O> none() {
        return new Predictions<>(List.of(), Duration.ZERO, Duration.ZERO);
    }
}
