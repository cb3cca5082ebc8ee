package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.jar.JarFile;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `berth-hooks`, the jar that authors of hooks compile against, as the build leaves it.
@Tag("packaged")
class HooksJarTest {

    @Test
    void itHasNothingButTheHooks() throws IOException {
        try (var jar = new JarFile(jar().toFile())) {
            var classes = jar.stream()
                    .map(Object::toString)
                    .filter(name -> name.endsWith(".class"))
                    .toList();
            assertThat(classes)
                    .contains("dev/berth/hooks/InferenceHandler.class")
                    .allSatisfy(name -> assertThat(name).matches("dev/berth/hooks/[^/]+"));
            assertThat(jar.getManifest().getMainAttributes().getValue("Automatic-Module-Name"))
                    .isEqualTo("dev.berth.hooks");
        }
    }

    @Test
    void itNeedsTheJdkAndJacksonOnlyForJson() throws IOException {
        assertThat(run("jdeps", "-verbose:class", "-filter:none", jar().toString())
                        .lines())
                .filteredOn(line -> line.startsWith(" ") && line.endsWith("not found"))
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line).contains("com.fasterxml.jackson.databind.JsonNode"));
        try (var jar = new JarFile(jar().toFile());
                var pom = jar.getInputStream(jar.getEntry("META-INF/maven/dev.berth/berth-hooks/pom.xml"))) {
            assertThat(new String(pom.readAllBytes(), StandardCharsets.UTF_8))
                    .containsOnlyOnce("<dependency>")
                    .contains("<optional>true</optional>");
        }
    }

    @Test
    void hooksCompileWithItAlone(@TempDir Path directory) throws IOException {
        var source = Files.writeString(directory.resolve("Inference.java"), """
        import dev.berth.hooks.*;
        import java.util.List;

        public final class Inference implements InferenceHandler<Integer, Integer, Integer> {
          public Integer modelFn(ModelContext context) { return 2; }
          public List<Integer> inputFn(InvocationRequest request) { return List.of(1, 2); }
          public List<Integer> predictFn(List<Integer> records, Integer model) {
            return records.stream().map(record -> record * model).toList();
          }
          public InvocationResponse outputFn(List<Integer> predictions, InvocationRequest request) {
            return InvocationResponse.of(predictions.toString(), MediaType.TEXT);
          }
        }
        """);
        run(
                "javac",
                "-proc:none",
                "-Xlint:all",
                "-Werror",
                "-cp",
                jar().toString(),
                "-d",
                directory.toString(),
                source.toString());
        assertThat(directory.resolve("Inference.class")).exists();
    }

    private static Path jar() throws IOException {
        try (var files = Files.list(Path.of("target/lib"))) {
            return files.filter(file -> file.getFileName().toString().startsWith("berth-hooks-"))
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static String run(String tool, String... arguments) {
        var out = new StringWriter();
        int result =
                ToolProvider.findFirst(tool).orElseThrow().run(new PrintWriter(out), new PrintWriter(out), arguments);
        assertThat(result).as(out.toString()).isZero();
        return out.toString();
    }
}
