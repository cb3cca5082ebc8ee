package dev.berth.batching;

import java.time.Duration;

/// How long the predictions of a request took.
///
/// @param queued from the request's arrival until a worker took its first piece
/// @param predicted from then on until the last piece was predicted
public record PredictionTimes(Duration queued, Duration predicted) {

    /// For a request without records.
    public static final PredictionTimes NONE = new PredictionTimes(Duration.ZERO, Duration.ZERO);
}
