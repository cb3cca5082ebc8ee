package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// docs/internals/architecture.md has each module, what it may use, and how many lines it may have.
class ModulesTest {

    private static final Path SRC = Path.of("src");
    private static final Path PAGE = Path.of("docs", "internals", "architecture.md");
    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| `src/(\\S+)` \\| [^|]+ \\| ([^|]+) \\| ([0-9,]+) \\|$");
    private static final Pattern OWN = Pattern.compile(
            "<artifactId>berth-((?!parent|module|testing)\\S+)</artifactId>(?!\\s*<version>[^<]*</version>\\s*<scope>test)");
    private static final String EXTENSIONS = "extensions/";

    /// The rows by the folder below `src`.
    private static Map<String, MatchResult> rows;

    private static Set<String> modules;

    @BeforeAll
    static void read() throws IOException {
        rows = ROW.matcher(Files.readString(PAGE)).results().collect(Collectors.toMap(row -> row.group(1), row -> row));
        try (var files = Files.find(SRC, 3, (file, _) -> file.endsWith("pom.xml"))) {
            modules = files.map(pom -> SRC.relativize(pom).getParent())
                    .filter(folder -> folder != null)
                    .map(Path::toString)
                    .filter(folder ->
                            !Set.of("parent", "extensions", "testing", "base").contains(folder))
                    .collect(Collectors.toSet());
        }
    }

    @Test
    void eachModuleHasARow() {
        assertThat(rows.keySet()).containsAll(modules);
        // An extension may have been deleted.
        assertThat(modules)
                .containsAll(rows.keySet().stream()
                        .filter(name -> !name.startsWith(EXTENSIONS))
                        .toList());
    }

    @Test
    void whatAModuleMayUseIsWhatItsPomSays() {
        var said = new TreeMap<String, Set<String>>();
        var used = new TreeMap<String, Set<String>>();
        for (var module : modules) {
            said.put(module, new TreeSet<>(List.of(rows.get(module).group(2).split(", "))));
            used.put(module, uses(module));
        }
        assertThat(used).isEqualTo(said);
    }

    @Test
    void nothingOfTheBaseUsesAnExtension() {
        var extensions = modules.stream()
                .filter(module -> module.startsWith(EXTENSIONS))
                .map(module -> module.substring(EXTENSIONS.length()))
                .toList();
        for (var module : modules) {
            if (!module.startsWith(EXTENSIONS)) {
                assertThat(uses(module)).as(module).doesNotContainAnyElementsOf(extensions);
            }
        }
    }

    /// Who needs more raises the number in the same commit, and says why.
    @Test
    void noModuleHasMoreLinesThanItMay() throws IOException {
        var more = new TreeMap<String, String>();
        for (var module : modules) {
            long most = Long.parseLong(rows.get(module).group(3).replace(",", ""));
            long lines = lines(SRC.resolve(module).resolve(module.equals("hooks") ? "java" : "main/java"));
            if (lines > most) {
                more.put(module, "found %d, expected at most %d".formatted(lines, most));
            }
        }
        assertThat(more)
                .as("lines of main code; a commit that needs more raises the number in %s and says why", PAGE)
                .isEmpty();
    }

    private static Set<String> uses(String module) {
        var pom = text(SRC.resolve(module).resolve("pom.xml"));
        var own = "berth-" + Path.of(module).getFileName();
        var uses = OWN.matcher(pom)
                .results()
                .filter(artifact -> !artifact.group().contains(">" + own + "<"))
                .map(artifact -> artifact.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        return uses.isEmpty() ? Set.of("–") : uses;
    }

    private static long lines(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(file -> file.toString().endsWith(".java"))
                    .mapToLong(file -> text(file).lines().count())
                    .sum();
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
