package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.Malloc;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What models take, and what they leave behind.
@Tag("slow")
class ModelsMemoryTest {

    private static final String QUESTION = """
      {"question": "What is the capital of France?", "context": "The capital of France is Paris."}""";

    private static final int LOADS = 40;
    private static final long MB = 1L << 20;

    @TempDir
    Path directory;

    /// A copy of the sample takes 35 MB, so what thirty loads leave behind is less than half of one.
    /// What the JVM itself allocates for other tests counts too, 14 MB once. By hand the whole
    /// resident set grew by 3 MB between the second quarter of 200 loads and the last; it varies by 8
    /// MB.
    @Test
    @Tag("MME-13")
    @EnabledOnOs(OS.LINUX)
    void theSampleMayBeLoadedAndUnloadedForEver() throws Exception {
        try (var server = TestServer.ofModels().start("SAGEMAKER_MODEL_SERVER_WORKERS=2")) {
            var resident = new long[LOADS];
            var used = new long[LOADS];
            int threads = 0;
            int files = 0;
            for (int i = 0; i < LOADS; i++) {
                assertStatus(server.load("m", TestServer.SAMPLE_ARTIFACT), 200);
                assertThat(server.ask("m", QUESTION).body()).contains("Paris");
                long loaded = Malloc.used();
                assertThat(server.unload("m").statusCode()).isEqualTo(200);
                used[i] = Malloc.used();
                assertThat(loaded - used[i]).as("freed when DELETE answers").isGreaterThan(16 * MB);
                resident[i] = residentBesideTheHeap();
                if (i == LOADS / 4) {
                    threads = Thread.activeCount();
                    files = openFiles();
                }
            }
            assertThat(mean(used, LOADS * 3 / 4)).isLessThan(mean(used, LOADS / 4) + 16 * MB);
            assertThat(mean(resident, LOADS * 3 / 4)).isLessThan(mean(resident, LOADS / 4) + 16 * MB);
            assertThat(Thread.activeCount()).isLessThan(threads + 5);
            assertThat(openFiles()).isLessThan(files + 5);
        }
    }

    @Test
    @Tag("MME-19")
    void aBatchThatTheAcceleratorHasNoMemoryForIs507() throws Exception {
        var artifact = CodeArtifact.hooks(directory, """
        @Override public List<String> predictFn(List<String> records, Object model) throws Exception {
          if (records.contains("large")) { throw new InsufficientMemoryException("CUDA out of memory"); }
          return super.predictFn(records, model);
        }
        """);
        try (var server = TestServer.ofModels().start()) {
            server.load("m", artifact.directory());
            var answer = server.ask("m", "large");
            assertStatus(answer, 507, "CUDA out of memory");
            assertThat(server.ask("m", "small").body()).isEqualTo("SMALL");
            server.unload("m");
        }
    }

    @ParameterizedTest
    @Tag("MME-03")
    @CsvSource(delimiter = '|', textBlock = """
      new InsufficientMemoryException("gpu 0 is full")                            | gpu 0 is full
      new IllegalStateException(new InsufficientMemoryException("gpu 0 is full")) | gpu 0 is full
      new OutOfMemoryError("Java heap space")                                     | Java heap space
      """)
    void aModelThatHasNoMemoryLeftWhileItIsLoadedIs507(String thrown, String why) throws Exception {
        var artifact = CodeArtifact.hooks(
                directory, "@Override public Object modelFn(ModelContext context) { throw %s; }".formatted(thrown));
        try (var server = TestServer.ofModels().start()) {
            server.load("stays", TestServer.SAMPLE_ARTIFACT);
            var answer = server.load("m", artifact.directory());
            assertStatus(answer, 507, "model \\\"m\\\" ran out of memory while it was loaded: " + why);
            assertThat(server.ask("stays", QUESTION).body()).contains("Paris");
        }
    }

    private static double mean(long[] values, int from) {
        return LongStream.of(values).skip(from).limit(LOADS / 4).average().orElseThrow();
    }

    private static long residentBesideTheHeap() throws Exception {
        return kilobytes("RssAnon:") * 1024 - Runtime.getRuntime().totalMemory();
    }

    private static long kilobytes(String name) throws Exception {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith(name))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D+", "")))
                .findFirst()
                .orElseThrow();
    }

    private static int openFiles() throws Exception {
        try (var files = Files.list(Path.of("/proc/self/fd"))) {
            return (int) files.count();
        }
    }
}
