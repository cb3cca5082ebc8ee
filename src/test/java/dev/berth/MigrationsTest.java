package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The table of `docs/migrate.md` has a row for each directory of `tools/migration`, with its lines
/// of code as [AuthorsTest] counts them. What is recorded there can be read, and its hooks compile.
class MigrationsTest {

    private static final Path MIGRATIONS = Path.of("tools/migration");
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| \\[([a-z-]+)]\\(\\.\\./tools/migration/\\1\\) \\| (.*?) \\| (.*?) \\|");

    @TempDir
    private Path classes;

    private static List<Path> migrations() throws IOException {
        try (var found = Files.list(MIGRATIONS)) {
            return found.filter(path -> Files.exists(path.resolve("inference.py")))
                    .toList();
        }
    }

    @Test
    void theTableHasTheLinesOfEachDirectory() throws IOException {
        var counted = new ArrayList<String>();
        for (var migration : migrations()) {
            var hooks = migration.resolve("Inference.java");
            counted.add("%s: %s, %s"
                    .formatted(
                            migration.getFileName(),
                            AuthorsTest.count(Files.readString(migration.resolve("inference.py"))),
                            Files.exists(hooks) ? AuthorsTest.count(Files.readString(hooks)) : "none"));
        }
        var rows = ROW.matcher(Files.readString(Path.of("docs/migrate.md")))
                .results()
                .map(row -> "%s: %s, %s".formatted(row.group(1), row.group(2), row.group(3)));
        assertThat(rows).containsExactlyInAnyOrderElementsOf(counted);
    }

    @Test
    void eachHasAnAnswerToEachOfSixRequests() throws IOException {
        var json = new ObjectMapper();
        for (var migration : migrations()) {
            var asked =
                    json.readTree(migration.resolve("requests.json").toFile()).path("requests");
            var answers = json.readTree(migration.resolve("answers.json").toFile());
            assertThat(asked).as(migration.toString()).hasSize(6);
            assertThat(answers)
                    .hasSize(6)
                    .allSatisfy(it -> assertThat(it.path("status").isInt()).isTrue());
            assertThat(asked.findValuesAsText("name")).anyMatch(name -> name.startsWith("bad: "));
        }
    }

    @Test
    void theirHooksCompile() throws IOException {
        for (var migration : migrations()) {
            var hooks = migration.resolve("Inference.java");
            if (Files.exists(hooks)) {
                var path = System.getProperty("java.class.path");
                int failed = ToolProvider.getSystemJavaCompiler()
                        .run(null, null, null, "-proc:none", "-cp", path, "-d", "" + classes, "" + hooks);
                assertThat(failed).as(hooks.toString()).isZero();
            }
        }
    }
}
