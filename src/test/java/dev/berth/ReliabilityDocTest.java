package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// docs/internals/reliability.md names tests that are there.
class ReliabilityDocTest {

    private static final Pattern TEST = Pattern.compile("`(\\w+Test)#(\\w+)`");

    @Test
    void eachPromiseHasItsTests() throws IOException {
        var page = Files.readString(Path.of("docs/internals/reliability.md"));
        var tests = TEST.matcher(page).results().toList();
        assertThat(tests).hasSizeGreaterThan(20);
        for (var test : tests) {
            try (var files = Files.find(Path.of("src"), 12, (file, _) -> file.endsWith(test.group(1) + ".java"))) {
                assertThat(files.toList())
                        .as(test.group())
                        .singleElement()
                        .satisfies(file -> assertThat(Files.readString(file)).contains("void " + test.group(2) + "("));
            }
        }
    }
}
