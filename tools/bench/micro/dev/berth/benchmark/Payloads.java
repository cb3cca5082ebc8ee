package dev.berth.benchmark;

import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// What callers send, as the benchmarks read it. Each question takes 175 tokens in the row that the
/// sample model gets.
public final class Payloads {

    public static final String QUESTION = "When did the lighthouse get an electric lamp?";

    public static final String CONTEXT = """
      The lighthouse stands on a rock four miles from the harbour, and for most of its life it could be reached only \
      in calm weather. It was built between 1836 and 1841, of granite that was cut on the mainland and numbered \
      stone by stone. Its first light was a ring of oil lamps, which two keepers trimmed every four hours through \
      the night, while a third slept. In 1907 the lamps gave way to a burner of paraffin vapour, and the rock was \
      given a fog signal that could be heard in the town. The "new" lamp, an electric one, came as late as 1962, \
      together with a diesel generator, a telephone, and a flat roof for helicopters. The last keepers left in 1988. \
      Since then the light is watched from the mainland, and nobody lives on the rock.\
      """;

    private Payloads() {}

    /// One question as a JSON object.
    public static String json() {
        return "{\"question\": \"%s\", \"context\": \"%s\"}".formatted(QUESTION, CONTEXT.replace("\"", "\\\""));
    }

    public static String jsonLines(int count) {
        return IntStream.range(0, count).mapToObj(_ -> json()).collect(Collectors.joining("\n"));
    }

    /// Rows of `question,context`, both quoted, without a header.
    public static String csv(int count) {
        var row = "\"%s\",\"%s\"".formatted(QUESTION, CONTEXT.replace("\"", "\"\""));
        return IntStream.range(0, count).mapToObj(_ -> row).collect(Collectors.joining("\n"));
    }
}
