package dev.berth.conformance;

import dev.berth.conformance.Outcome.Result;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/// The ways in which outcomes are written.
final class Reports {

    private Reports() {}

    static String plain(Outcome outcome) {
        var row = outcome.row();
        var word = outcome.result().toString();
        var line = "%-8s %-2s  %-9s  %s"
                .formatted(
                        row.id(),
                        row.mark(),
                        outcome.is(Result.MISSED) ? word.toUpperCase(Locale.ROOT) : word,
                        outcome.found());
        var indent = "\n" + " ".repeat(24);
        return outcome.is(Result.MISSED)
                ? "%s%ssent: %s%sexpected: %s (%s)"
                        .formatted(line, indent, row.sent(), indent, row.expected(), row.source())
                : line;
    }

    static String markdown(Outcome outcome) {
        var row = outcome.row();
        return "| %s | %s | %s | %s | %s | %s |"
                .formatted(
                        row.id(),
                        row.mark(),
                        row.expected(),
                        row.source(),
                        outcome.is(Result.MISSED) ? "**missed**" : outcome.result(),
                        outcome.found().replace("|", "\\|").replace("<", "&lt;"));
    }

    static String counts(List<Outcome> outcomes) {
        long skipped = count(outcomes, Result.SKIPPED);
        return "holds: %d, missed: %d, not asked: %d"
                        .formatted(
                                count(outcomes, Result.HOLDS),
                                count(outcomes, Result.MISSED),
                                count(outcomes, Result.NOT_ASKED))
                + (skipped == 0 ? "" : ", skipped: " + skipped);
    }

    private static long count(List<Outcome> outcomes, Result result) {
        return outcomes.stream().filter(outcome -> outcome.is(result)).count();
    }

    /// JUnit's XML, as CI systems read it. A row that is missed and need not hold is skipped there,
    /// so that the report and the exit code say the same.
    static void junit(Path file, Options options, List<Outcome> outcomes) throws IOException {
        var cases = new StringBuilder();
        int failures = 0;
        int skipped = 0;
        for (var outcome : outcomes) {
            var row = outcome.row();
            cases.append("  <testcase classname=\"conformance.%s\" name=\"%s\" time=\"%s\">"
                    .formatted(row.id().split("-")[0], xml(row.id() + " " + row.sent()), seconds(outcome)));
            if (outcome.is(Result.MISSED) && options.failsOn(row.mark())) {
                failures++;
                cases.append("<failure message=\"%s\">%s</failure>"
                        .formatted(
                                xml(outcome.found()), xml("expected: " + row.expected() + " (" + row.source() + ")")));
            } else if (!outcome.is(Result.HOLDS)) {
                skipped++;
                cases.append("<skipped message=\"%s\"/>".formatted(xml(outcome.result() + ": " + outcome.found())));
            }
            cases.append("</testcase>\n");
        }
        Files.writeString(
                file, """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuite name="conformance of %s" tests="%d" failures="%d" errors="0" skipped="%d">
        %s</testsuite>
        """.formatted(xml(options.url().toString()), outcomes.size(), failures, skipped, cases));
    }

    static void json(Path file, Options options, List<Outcome> outcomes) throws IOException {
        var rows = outcomes.stream()
                .map(outcome -> """
                    {"row": %s, "mark": %s, "result": %s, "found": %s, "sent": %s, "expected": %s, "source": %s, "seconds": %s}\
                    """.formatted(
                                Json.string(outcome.row().id()),
                                Json.string(outcome.row().mark()),
                                Json.string(outcome.result().toString()),
                                Json.string(outcome.found()),
                                Json.string(outcome.row().sent()),
                                Json.string(outcome.row().expected()),
                                Json.string(outcome.row().source()),
                                seconds(outcome)))
                .toList();
        Files.writeString(file, """
        {"url": %s, "holds": %d, "missed": %d, "notAsked": %d, "skipped": %d, "rows": [
          %s
        ]}
        """.formatted(
                        Json.string(options.url().toString()),
                        count(outcomes, Result.HOLDS),
                        count(outcomes, Result.MISSED),
                        count(outcomes, Result.NOT_ASKED),
                        count(outcomes, Result.SKIPPED),
                        String.join(",\n  ", rows)));
    }

    private static String seconds(Outcome outcome) {
        return String.format(Locale.ROOT, "%.3f", outcome.time().toMillis() / 1000.0);
    }

    /// XML has no way to write most control characters.
    private static String xml(String text) {
        return text.replaceAll("[^\\t\\n\\r\\x20-\\uD7FF\\uE000-\\uFFFD\\x{10000}-\\x{10FFFF}]", "\ufffd")
                .replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
