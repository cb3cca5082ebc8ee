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

/// Chooses the type of a response from `Accept`, as RFC 9110 §12.5.1 has it: each type has the
/// quality of the most specific range that covers it; the highest quality wins, then the caller's
/// order. `*/*`, or no header at all, means the server's default type.
public final class Accept {

    /// SageMaker's own limit for the header.
    private static final int MAX_LENGTH = 1024;

    private static final Pattern OUTSIDE_QUOTES = Pattern.compile(",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)");
    private static final Pattern QUALITY = Pattern.compile("0(\\.\\d{0,3})?|1(\\.0{0,3})?");

    /// @param position its place in the header
    private record Range(MediaType type, double quality, int position) {
        int specificity() {
            return type.isRange() ? (type.type().equals("*") ? 0 : 1) : 2;
        }
    }

    private record Candidate(MediaType type, Range range) {}

    private Accept() {}

    /// @param header the value of `Accept`, all of its fields joined by commas
    /// @param offered what the hooks write, the preferred one first; empty: anything
    /// @param defaultType the type for callers who take any
    /// @throws ServingException [ErrorType#NOT_ACCEPTABLE] naming what was found and what is offered
    public static MediaType choose(Optional<String> header, List<MediaType> offered, MediaType defaultType) {
        var text = header.filter(value -> !value.isBlank()).orElse("*/*");
        if (text.length() > MAX_LENGTH) {
            throw ErrorType.NOT_ACCEPTABLE.found("Accept", text.length() + " characters", "at most " + MAX_LENGTH);
        }
        if (text.equals("*/*")) {
            return offered.isEmpty() || offered.contains(defaultType) ? defaultType : offered.getFirst();
        }
        var ranges = ranges(text);
        return candidates(ranges, offered, defaultType)
                .flatMap(type -> mostSpecific(ranges, type).map(range -> new Candidate(type, range)).stream())
                .filter(candidate -> candidate.range.quality > 0)
                .min(Comparator.<Candidate>comparingDouble(candidate -> -candidate.range.quality)
                        .thenComparingInt(candidate -> candidate.range.position))
                .map(Candidate::type)
                .orElseThrow(() -> ErrorType.NOT_ACCEPTABLE.found(
                        "Accept", CallerText.quoted(text), offered.isEmpty() ? "a media type" : "one of " + offered));
    }

    private static List<Range> ranges(String text) {
        var ranges = new ArrayList<Range>();
        for (var part : OUTSIDE_QUOTES.split(text)) {
            MediaType.parse(part).ifPresent(type -> {
                var quality = type.parameters().getOrDefault("q", "1");
                ranges.add(new Range(
                        type.withoutParameters(),
                        QUALITY.matcher(quality).matches() ? Double.parseDouble(quality) : 1,
                        ranges.size()));
            });
        }
        return ranges;
    }

    /// What may be chosen, the preferred type first: what is offered, or what the caller names.
    private static Stream<MediaType> candidates(List<Range> ranges, List<MediaType> offered, MediaType defaultType) {
        var types = offered.isEmpty()
                ? ranges.stream()
                        .map(Range::type)
                        .filter(type -> !type.isRange())
                        .toList()
                : offered;
        return Stream.concat(
                Stream.of(defaultType).filter(type -> offered.isEmpty() || offered.contains(type)), types.stream());
    }

    private static Optional<Range> mostSpecific(List<Range> ranges, MediaType type) {
        return ranges.stream()
                .filter(range -> range.type.includes(type))
                .max(Comparator.comparingInt(Range::specificity));
    }
}
