package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Chooses the type of a response from `Accept`, as RFC 9110 §12.5.1 has it: the highest quality wins, then the caller's
/// order. `*/*`, or no header at all, means the server's default type.
final class Accept {

  private static final Pattern OUTSIDE_QUOTES = Pattern.compile(",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)");
  private static final Pattern QUALITY = Pattern.compile("0(\\.\\d{0,3})?|1(\\.0{0,3})?");

  private record Range(MediaType type, double quality) {}

  private Accept() {}

  /// @param header the value of `Accept`, all of its fields joined by commas
  /// @param offered what the hooks write, the preferred one first; empty: anything
  /// @param defaultType the type for callers who take any
  /// @throws ServingException [ErrorType#NOT_ACCEPTABLE] naming what was found and what is offered
  static MediaType choose(Optional<String> header, List<MediaType> offered, MediaType defaultType) {
    var text = header.filter(value -> !value.isBlank()).orElse("*/*");
    var ranges = ranges(text);
    return ranges.stream()
        .filter(range -> range.quality > 0)
        .sorted(Comparator.comparingDouble(Range::quality).reversed())
        .flatMap(range -> covered(range.type, offered, defaultType))
        .filter(type -> !refused(ranges, type))
        .findFirst()
        .orElseThrow(() -> new ServingException(
            ErrorType.NOT_ACCEPTABLE,
            "Accept: found %s, expected %s".formatted(Text.quoted(text), offered.isEmpty() ? "a media type" : "one of " + offered)));
  }

  private static List<Range> ranges(String text) {
    var ranges = new ArrayList<Range>();
    for (var part : OUTSIDE_QUOTES.split(text)) {
      MediaType.parse(part).ifPresent(type -> {
        var quality = type.parameters().getOrDefault("q", "1");
        ranges.add(new Range(type.withoutParameters(), QUALITY.matcher(quality).matches() ? Double.parseDouble(quality) : 1));
      });
    }
    return ranges;
  }

  /// What a range stands for, the preferred type first.
  private static Stream<MediaType> covered(MediaType range, List<MediaType> offered, MediaType defaultType) {
    if (!range.isRange()) {
      return Stream.of(range).filter(type -> offered.isEmpty() || offered.contains(type));
    }
    var preferred = Stream.of(defaultType).filter(type -> offered.isEmpty() || offered.contains(type));
    return Stream.concat(preferred, offered.stream()).filter(range::includes);
  }

  /// Whether the caller rules the type out by name, as in `*/*, text/csv;q=0`.
  private static boolean refused(List<Range> ranges, MediaType type) {
    return ranges.stream().anyMatch(range -> range.quality == 0 && range.type.equals(type));
  }
}
