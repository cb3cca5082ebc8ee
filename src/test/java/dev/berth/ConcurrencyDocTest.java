package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// docs/internals/concurrency.md names the threads and locks of the base, and the README of an extension its own.
class ConcurrencyDocTest {

    private static final Path EXTENSIONS = Path.of("src", "extensions");
    private static final Pattern THREAD =
            Pattern.compile("Thread\\.of(?:Virtual|Platform)\\(\\)\\s*\\.name\\(\"([^\"]+)\"");
    private static final Pattern LOCK = Pattern.compile("new (?:ReentrantLock|Semaphore)\\(|\\bsynchronized\\b");
    private static final Pattern UNNAMED = Pattern.compile(
            "newVirtualThreadPerTaskExecutor\\(|newFixedThreadPool\\(|Thread\\.ofVirtual\\(\\)\\.factory\\(");

    private static List<Path> sources;

    @BeforeAll
    static void find() throws IOException {
        try (var files = Files.walk(Path.of("src"))) {
            sources = files.filter(file -> file.toString().matches(".*/main/java/.*\\.java"))
                    .toList();
        }
    }

    @Test
    void everyThreadIsNamed() {
        assertThat(sources)
                .anyMatch(source -> THREAD.matcher(text(source)).find())
                .allSatisfy(source -> assertThat(THREAD.matcher(text(source)).results())
                        .allSatisfy(thread -> assertThat(page(source)).contains('`' + thread.group(1))));
    }

    @Test
    void everyClassWithLocksIsNamed() {
        assertNamed(LOCK, "SharedThreads", "S3Connection");
    }

    @Test
    void everyClassWhoseThreadsHaveNoNameIsNamed() {
        assertNamed(UNNAMED, "JobRunner");
    }

    private static void assertNamed(Pattern pattern, String... some) {
        var found = sources.stream()
                .filter(source -> pattern.matcher(text(source)).find())
                .toList();
        assertThat(found).extracting(ConcurrencyDocTest::name).contains(some).doesNotHaveDuplicates();
        assertThat(found).allSatisfy(source -> assertThat(page(source)).containsPattern("`" + name(source) + "\\b"));
    }

    private static String name(Path source) {
        return source.getFileName().toString().replace(".java", "");
    }

    private static String page(Path source) {
        return text(
                source.startsWith(EXTENSIONS)
                        ? source.subpath(0, EXTENSIONS.getNameCount() + 1).resolve("README.md")
                        : Path.of("docs", "internals", "concurrency.md"));
    }

    private static String text(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }
}
