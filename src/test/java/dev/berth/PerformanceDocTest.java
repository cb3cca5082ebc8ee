package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The ledger in docs/internals/performance.md says what each trick costs. Its lines come from the sources.
class PerformanceDocTest {

    private static final Path PAGE = Path.of("docs", "internals", "performance.md");
    private static final String UPDATE = "update it with: mvn test -Dtest=PerformanceDocTest -Dberth.update.docs=true";

    /// A row that ends its first cell with classes or options of the JVM in brackets, and its lines.
    private static final Pattern ROW =
            Pattern.compile("(?m)^(\\| [^|]*\\((?:`[^`]+`(?:, )?)+\\) \\| )([^|]+)( \\|.*)$");

    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern NO_CODE = Pattern.compile("\\s*(//.*|[{}()\\[\\];]*|package .*|import .*)");

    @Test
    void theLinesOfEachPartAreThoseOfItsSources() throws IOException {
        var page = Files.readString(PAGE);
        int begin = page.indexOf("## What stays");
        int end = page.indexOf("\n## ", begin);
        var ledger = page.substring(begin, end);
        var rows = new ArrayList<String>();
        var counted = ROW.matcher(ledger).replaceAll(row -> {
            rows.add(row.group());
            return Matcher.quoteReplacement(row.group(1) + lines(row.group(1)) + row.group(3));
        });
        if (Boolean.getBoolean("berth.update.docs")) {
            Files.writeString(PAGE, page.substring(0, begin) + counted + page.substring(end));
            return;
        }
        assertThat(rows).as("rows that name their sources").hasSizeGreaterThan(8);
        assertThat(ledger).as(UPDATE).isEqualTo(counted);
    }

    /// What is in the last brackets: the code of a class without comments, or one line for an option
    /// that the JVM gets.
    private static long lines(String cell) {
        var names = CODE.matcher(cell.substring(cell.lastIndexOf('('))).results();
        return names.map(name -> name.group(1))
                .mapToLong(name -> name.startsWith("-") ? option(name) : code(name))
                .sum();
    }

    private static long option(String option) {
        assertThat(launcher()).as("what starts the JVM").contains(option);
        return 1;
    }

    private static String launcher() {
        return Stream.of("serve", "jvm.options")
                .map(Path::of)
                .filter(Files::exists)
                .map(PerformanceDocTest::text)
                .reduce("", String::concat);
    }

    private static long code(String type) {
        try (var files = Files.walk(Path.of("src"))) {
            List<Path> sources = files.filter(
                            file -> file.getFileName().toString().equals(type + ".java"))
                    .toList();
            assertThat(sources).as(type).hasSize(1);
            return text(sources.getFirst())
                    .lines()
                    .filter(line -> !NO_CODE.matcher(line).matches())
                    .count();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
