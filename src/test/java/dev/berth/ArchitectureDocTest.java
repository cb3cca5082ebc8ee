package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// docs/internals/architecture.md names files that are there, and few for each change.
class ArchitectureDocTest {

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern CLASS = Pattern.compile("(?:[a-z]+\\.)*([A-Z]\\w+)");
    private static final int MOST_FILES = 3;

    private static String page;
    private static Set<String> classes;

    @BeforeAll
    static void read() throws IOException {
        page = Files.readString(Path.of("docs", "internals", "architecture.md"));
        try (var files = Files.walk(Path.of("src"))) {
            classes = files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".java"))
                    .map(name -> name.replace(".java", ""))
                    .collect(Collectors.toSet());
        }
    }

    @Test
    void eachChangeTouchesFewFilesAndTheyAreThere() {
        var rows = rows("## Where do I");
        assertThat(rows).hasSizeGreaterThan(15);
        for (var row : rows) {
            var files = code(row.getLast()).toList();
            assertThat(files).as(row.getFirst()).hasSizeBetween(1, MOST_FILES).allMatch(this::isThere);
        }
    }

    @Test
    void theStepsOfARequestNameClassesThatAreThere() {
        for (var row : rows("## The way of `POST /invocations`")) {
            assertThat(code(row.get(1))).as(row.getFirst()).isNotEmpty().allMatch(this::isThere);
        }
    }

    private boolean isThere(String name) {
        var type = CLASS.matcher(name);
        return type.matches() ? classes.contains(type.group(1)) : Files.exists(Path.of(name));
    }

    /// The cells of each row of the tables below a heading, without the head.
    private static List<List<String>> rows(String heading) {
        int begin = page.indexOf(heading);
        int end = page.indexOf("\n## ", begin + 1);
        return page.substring(begin, end < 0 ? page.length() : end)
                .lines()
                .filter(line -> line.startsWith("| ") && line.contains("`"))
                .map(line -> List.of(line.substring(2).split(" \\|(?: |$)")))
                .toList();
    }

    private static Stream<String> code(String cell) {
        return CODE.matcher(cell).results().map(match -> match.group(1));
    }
}
