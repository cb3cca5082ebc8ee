package dev.berth.handler.tensor;

import dev.berth.hooks.InvocationRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;

/// The bad lines of a request that keeps them: their place among all lines, and what is wrong with each. `inputFn`
/// leaves them with the request, and `outputFn` puts an error in each one's place.
@SuppressWarnings("serial")
final class RejectedLines extends TreeMap<Integer, String> {

  private static final String NAME = RejectedLines.class.getName();

  static RejectedLines of(InvocationRequest request) {
    return (RejectedLines) request.attributes().computeIfAbsent(NAME, _ -> new RejectedLines());
  }

  /// The values of the good lines with the errors among them.
  <T> List<T> among(List<T> values, Function<String, T> error) {
    var all = new ArrayList<>(values);
    forEach((place, message) -> all.add(place, error.apply(message)));
    return all;
  }
}
