package dev.berth.batching;

import java.time.Duration;
import java.util.List;

/// The answers to one request's records, in the order of the records.
///
/// @param queued from the request's arrival until a worker took its first record
/// @param predicted from then on until the last record was answered
public record Predictions<O>(List<O> values, Duration queued, Duration predicted) {

  /// For a request without records.
  public static <O> Predictions<O> none() {
    return new Predictions<>(List.of(), Duration.ZERO, Duration.ZERO);
  }
}
