package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Every message that `docs/troubleshooting.md` quotes is in the sources, so that a search for it
/// finds it.
class TroubleshootingTest {

    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([^`]+)` \\|");
    private static final Pattern FOUND = Pattern.compile("(.+: )?(?<name>[^:]+): found …, expected (?<expected>.+)");
    private static final Pattern JOIN = Pattern.compile("\"\\s*(?:\\+\\s*|\\.concat\\(\\s*)\"");

    /// An `…` stands for a value, so the parts between them must occur, in this order and near each
    /// other.
    @Test
    void theMessagesItQuotesAreTheServers() throws IOException {
        var sources = sources();
        var messages = ROW.matcher(Files.readString(Path.of("docs/troubleshooting.md")))
                .results()
                .map(row -> row.group(1))
                .toList();
        assertThat(messages).hasSizeGreaterThan(25);
        assertThat(messages).filteredOn(message -> !sources.find(message)).isEmpty();
    }

    private record Sources(String text) {
        /// What was found of something may be said by `ErrorType.found`, and the name of a file is put in
        /// front by its reader.
        boolean find(String message) {
            var found = FOUND.matcher(message);
            if (occurs(message)) {
                return true;
            }
            return found.matches()
                    && (occurs(message.substring(found.start("name")))
                            || (occurs("\"%s\"".formatted(found.group("name"))) && occurs(found.group("expected"))));
        }

        private boolean occurs(String message) {
            var parts = Stream.of(message.split("…"))
                    .filter(part -> !part.isBlank())
                    .map(Pattern::quote)
                    .toList();
            return Pattern.compile(String.join("[^\\n]{1,80}?", parts))
                    .matcher(text)
                    .find();
        }
    }

    private static Sources sources() throws IOException {
        var text = new StringBuilder(Files.readString(Path.of("serve")));
        text.append(Files.readString(Path.of("find-java.sh")));
        try (var files = Files.walk(Path.of("src"))) {
            for (var file : files.filter(TroubleshootingTest::isSource).toList()) {
                text.append(JOIN.matcher(Files.readString(file)).replaceAll(""));
            }
        }
        return new Sources(text.toString());
    }

    private static boolean isSource(Path file) {
        return file.toString().endsWith(".java")
                && !List.of("test", "image").contains(file.getName(1).toString());
    }
}
