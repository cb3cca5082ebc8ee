package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// tools/release/api.txt names what hooks may use.
class ApiTest {

    private static final Pattern IMPORT = Pattern.compile("(?m)^import (?:static )?(dev\\.berth\\.[a-z.]+[A-Z]\\w*)");

    private static Set<String> names;

    @BeforeAll
    static void read() throws IOException {
        names = Files.readAllLines(Path.of("tools", "release", "api.txt")).stream()
                .filter(line -> line.startsWith("dev."))
                .collect(Collectors.toSet());
    }

    @Test
    void eachTypeIsThereAndPublic() throws Exception {
        var types = names.stream().filter(name -> !isPackage(name)).toList();
        assertThat(types).hasSizeGreaterThan(50);
        for (var type : types) {
            assertThat(Class.forName(type)).isPublic();
        }
    }

    @Test
    void hooksOfExamplesAndTemplatesUseNothingElse() throws IOException {
        var imported = Stream.of("examples", "tools/migration", "src/extensions/authoring/main/templates")
                .map(Path::of)
                .flatMap(ApiTest::hooks)
                .flatMap(text -> IMPORT.matcher(text).results())
                .map(found -> found.group(1))
                .collect(Collectors.toSet());
        assertThat(imported).hasSizeGreaterThan(30).allMatch(ApiTest::isApi);
    }

    private static boolean isApi(String type) {
        return names.contains(type) || names.contains(type.substring(0, type.lastIndexOf('.')));
    }

    private static boolean isPackage(String name) {
        return Character.isLowerCase(name.charAt(name.lastIndexOf('.') + 1));
    }

    /// The Java of hooks and of their tests below a folder.
    private static Stream<String> hooks(Path folder) {
        try (var files = Files.walk(folder)) {
            return files.filter(file -> file.toString().endsWith(".java")).map(ApiTest::text).toList().stream();
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
