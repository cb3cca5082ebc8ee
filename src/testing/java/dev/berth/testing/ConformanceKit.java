package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;

/// The conformance kit, compiled from its sources as `./conformance` does, and run in this JVM. The
/// server's tests do not depend on its module.
public final class ConformanceKit implements AutoCloseable {

    private final URLClassLoader loader;
    private final Method run;

    /// What a run said.
    public record Run(int exitCode, String out, String err) {

        /// What came of one row, such as `MISSED 404 {}`.
        public String row(String id) {
            return out.lines()
                    .filter(line -> line.startsWith(id + " "))
                    .map(line -> line.substring(13).replaceFirst("  +", " "))
                    .findFirst()
                    .orElse("no such row");
        }

        /// @param rows each the id of one, and how what came of it begins
        public void assertRows(String... rows) {
            for (var row : rows) {
                var parts = row.split(" ", 2);
                assertThat(row(parts[0])).as(parts[0]).startsWith(parts[1]);
            }
        }
    }

    /// @param classes an empty directory
    public ConformanceKit(Path classes) throws Exception {
        try (var sources = Files.walk(Path.of("tools/conformance/java"))) {
            var arguments = Stream.concat(
                            Stream.of("--release", "17", "-encoding", "UTF-8", "-d", classes.toString()),
                            sources.map(Path::toString).filter(source -> source.endsWith(".java")))
                    .toArray(String[]::new);
            var messages = new ByteArrayOutputStream();
            if (ToolProvider.getSystemJavaCompiler().run(null, messages, messages, arguments) != 0) {
                throw new IOException(messages.toString(StandardCharsets.UTF_8));
            }
        }
        loader = new URLClassLoader(
                new URL[] {
                    classes.toUri().toURL(),
                    Path.of("docs", "internals").toUri().toURL()
                },
                ClassLoader.getPlatformClassLoader());
        run = loader.loadClass("dev.berth.conformance.Conformance")
                .getMethod("run", List.class, PrintStream.class, PrintStream.class);
    }

    public Run run(String... arguments) throws Exception {
        var out = new ByteArrayOutputStream();
        var err = new ByteArrayOutputStream();
        int exitCode = (int) run.invoke(
                null,
                List.of(arguments),
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        return new Run(exitCode, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        loader.close();
    }
}
