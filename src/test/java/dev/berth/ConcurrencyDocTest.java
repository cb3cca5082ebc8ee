package dev.berth;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// docs/concurrency.md names what the sources have.
class ConcurrencyDocTest {

    private static final Pattern THREAD =
            Pattern.compile("Thread\\.of(?:Virtual|Platform)\\(\\)\\s*\\.name\\(\"([^\"]+)\"");
    private static final Pattern LOCK = Pattern.compile("new (?:ReentrantLock|Semaphore)\\(|\\bsynchronized\\b");
    private static final Pattern UNNAMED = Pattern.compile(
            "newVirtualThreadPerTaskExecutor\\(|newFixedThreadPool\\(|Thread\\.ofVirtual\\(\\)\\.factory\\(");

    private static String threads;
    private static String locks;

    /// The text of each source by the name of its class.
    private static Map<String, String> sources;

    @BeforeAll
    static void read() throws IOException {
        var page = Files.readString(Path.of("docs/concurrency.md"));
        int begin = page.indexOf("## Locks");
        threads = page.substring(0, begin);
        locks = page.substring(begin, page.indexOf("\n## ", begin));
        sources = Stream.of("src", "spark", "columnar")
                .flatMap(ConcurrencyDocTest::sources)
                .collect(toMap(
                        file -> file.getFileName().toString().replace(".java", ""),
                        ConcurrencyDocTest::text,
                        String::concat));
    }

    @Test
    void everyThreadIsNamed() {
        var names = sources.values().stream()
                .flatMap(text -> THREAD.matcher(text).results())
                .map(match -> match.group(1))
                .toList();
        assertThat(names)
                .contains("berth-log", "transform-lock")
                .allSatisfy(name -> assertThat(threads).contains('`' + name));
    }

    @Test
    void everyClassWithLocksIsNamed() {
        assertThat(classesWith(LOCK))
                .contains("WorkerPool", "Leftovers")
                .allSatisfy(name -> assertThat(locks).containsPattern("`" + name + "\\b"));
    }

    @Test
    void everyClassWhoseThreadsHaveNoNameIsNamed() {
        assertThat(classesWith(UNNAMED))
                .contains("JobRunner")
                .allSatisfy(name -> assertThat(threads).contains('`' + name + '`'));
    }

    private static Stream<String> classesWith(Pattern pattern) {
        return sources.entrySet().stream()
                .filter(source -> pattern.matcher(source.getValue()).find())
                .map(Map.Entry::getKey);
    }

    private static Stream<Path> sources(String module) {
        try (var files = Files.walk(Path.of(module))) {
            return files.filter(file -> file.toString().matches(".*/main/.*\\.java")).toList().stream();
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
