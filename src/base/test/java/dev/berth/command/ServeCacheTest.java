package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `serve` with an old cache of classes beside its jar; `ServeTest` has a new one. The JVM would run the
/// cache's classes whatever
/// the jar holds.
class ServeCacheTest {

    private final Instant now = Instant.now();

    @TempDir
    private Path home;

    private Path jar;
    private Path cache;

    @BeforeEach
    void install() throws Exception {
        jar = home.resolve("berth.jar");
        cache = home.resolve("berth.aot");
        for (var file : List.of("serve", "find-java.sh", "jvm.options")) {
            Files.copy(Path.of(file), home.resolve(file));
        }
        jarThatPrints("one", now.minusSeconds(20));
        assertThat(serve("-XX:AOTCacheOutput=" + cache)).contains("one");
        Files.setLastModifiedTime(cache, FileTime.from(now.minusSeconds(10)));
    }

    @Test
    @Tag("slow")
    void aJarThatIsNewerThanTheCacheIsRunWithout() throws Exception {
        jarThatPrints("two", now);

        assertThat(serve("-Xlog:class+load")).contains("two").doesNotContain("Printer source: shared objects file");
    }

    private void jarThatPrints(String word, Instant modified) throws IOException {
        var source = Files.writeString(home.resolve("Printer.java"), """
        class Printer {
          public static void main(String[] arguments) {
            System.out.println("%s");
          }
        }
        """.formatted(word));
        assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, source.toString()))
                .isZero();
        var manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.MAIN_CLASS, "Printer");
        try (var out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
            out.putNextEntry(new JarEntry("Printer.class"));
            Files.copy(home.resolve("Printer.class"), out);
        }
        Files.setLastModifiedTime(jar, FileTime.from(modified));
    }

    private String serve(String options) throws Exception {
        var builder = new ProcessBuilder(home.resolve("serve").toString()).redirectErrorStream(true);
        builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
        builder.environment().put("JAVA_OPTS", options);
        var process = builder.start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isZero();
        return output;
    }
}
