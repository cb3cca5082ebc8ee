package dev.berth;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// `docs/internals/contract.md` names the tests of each row, by the tags of those tests.
class ContractDocTest {

    private static final Path PAGE = Path.of("docs/internals/contract.md");
    private static final Path TESTS = Path.of("src");
    private static final Pattern ROW = Pattern.compile("(?m)^(\\| ([A-Z]+-\\d+) \\|.*\\|) [^|]*\\|$");
    private static final Pattern TAG_OR_METHOD = Pattern.compile(
            "@Tag\\(\"([A-Z]+-\\d+)\"\\)|^(?:    )?(?:public )?(?:class|void|Stream<\\w+>) (\\w+)", Pattern.MULTILINE);
    private static final int MOST = 3;

    private static final String UPDATE = "update it with: mvn test -Dtest=ContractDocTest -Dberth.update.docs=true";

    @Test
    void eachRowNamesItsTests() throws IOException {
        var tests = tests();
        var page = Files.readString(PAGE);
        var rows = new LinkedHashSet<String>();
        var expected = ROW.matcher(page).replaceAll(row -> {
            rows.add(row.group(2));
            return row.group(1).replace("\\", "\\\\").replace("$", "\\$")
                    + " "
                    + column(tests.getOrDefault(row.group(2), List.of()))
                    + " |";
        });
        assertThat(rows).as("rows of %s, which tests name", PAGE).containsAll(tests.keySet());
        if (Boolean.getBoolean("berth.update.docs")) {
            Files.writeString(PAGE, expected);
            return;
        }
        assertThat(expected.lines().filter(row -> !page.contains(row)))
                .as("rows of %s as they should be; %s", PAGE, UPDATE)
                .isEmpty();
    }

    private static String column(List<String> tests) {
        var some = tests.stream().limit(MOST).map("`%s`"::formatted).collect(joining(", "));
        return tests.isEmpty()
                ? "none"
                : tests.size() > MOST ? some + " and %d more".formatted(tests.size() - MOST) : some;
    }

    /// By their rows, in the order of their files.
    private static Map<String, List<String>> tests() throws IOException {
        var tests = new TreeMap<String, List<String>>();
        try (var files = Files.walk(TESTS)) {
            files.filter(file -> file.toString().endsWith("Test.java")).sorted().forEach(file -> read(file, tests));
        }
        return tests;
    }

    private static void read(Path file, Map<String, List<String>> tests) {
        Set<String> rows = new LinkedHashSet<>();
        var name = file.getFileName().toString().replace(".java", "");
        var found = TAG_OR_METHOD.matcher(text(file));
        while (found.find()) {
            if (found.group(1) != null) {
                rows.add(found.group(1));
            } else {
                var test = found.group(2).equals(name) ? name : name + "." + found.group(2);
                rows.forEach(row ->
                        tests.computeIfAbsent(row, _ -> new ArrayList<>()).add(test));
                rows.clear();
            }
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
