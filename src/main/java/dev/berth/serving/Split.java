package dev.berth.serving;

import dev.berth.batching.Pieces;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InferenceHandler;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/// The records of one request and the pieces that are queued for them, mostly the records
/// themselves. Calls the hooks `split`, `length` and `join`, on a thread of the pool.
///
/// @param pieces the records where none was split
/// @param counts how many pieces each record has
record Split<I>(List<I> records, List<I> pieces, int[] counts) {

  static <I> Split<I> of(List<I> input, InferenceHandler<?, I, ?> handler, HookNames names) {
    // The hook's own list is read here and never again, when others wait for the thread.
    var records = new ArrayList<>(input);
    List<I> pieces = records;
    boolean isSplit = false;
    var counts = new int[records.size()];
    int number = 0;
    for (var record : records) {
      if (record == null) {
        throw internal(
            "%s returned null as record %d of %d, expected a record"
                .formatted(names.inputFn(), number + 1, records.size()));
      }
      var parts = handler.split(record);
      if (parts == null || parts.isEmpty() || parts.stream().anyMatch(part -> part == null)) {
        throw internal(
            "%s returned %s, expected one record or several"
                .formatted(
                    names.split(),
                    parts == null ? "null" : parts.isEmpty() ? "[]" : "a list with null"));
      }
      if (!isSplit && (parts.size() > 1 || !parts.getFirst().equals(record))) {
        isSplit = true;
        pieces = new ArrayList<>(records.subList(0, number));
      }
      if (isSplit) {
        pieces.addAll(parts);
      }
      counts[number++] = parts.size();
    }
    return new Split<>(records, pieces, counts);
  }

  boolean isEmpty() {
    return records.isEmpty();
  }

  /// Asks for the length of each piece.
  Pieces<I> measured(InferenceHandler<?, I, ?> handler, HookNames names) {
    var lengths = new int[pieces.size()];
    int next = 0;
    for (var piece : pieces) {
      int length = handler.length(piece);
      if (length < 0) {
        throw internal(
            "%s returned %d, expected a positive number".formatted(names.length(), length));
      }
      lengths[next++] = length;
    }
    return new Pieces<>(pieces, lengths, counts);
  }

  /// One prediction for each record.
  ///
  /// @param predictions one for each piece
  <O> List<O> join(List<O> predictions, InferenceHandler<?, I, O> handler, HookNames names) {
    if (pieces.size() == records.size()) {
      return predictions;
    }
    var joined = new ArrayList<O>(records.size());
    int from = 0;
    for (var record : records) {
      int to = from + counts[joined.size()];
      var prediction =
          to == from + 1
              ? predictions.get(from)
              : handler.join(record, predictions.subList(from, to));
      if (prediction == null) {
        throw internal("%s returned null, expected a prediction".formatted(names.join()));
      }
      joined.add(prediction);
      from = to;
    }
    return Collections.unmodifiableList(joined);
  }

  private static ServingException internal(String message) {
    return new ServingException(ErrorType.INTERNAL, message);
  }
}
