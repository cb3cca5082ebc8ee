package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.config.Configuration;
import dev.berth.http.HttpServer;
import dev.berth.http.Serving;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Health;
import dev.berth.serving.hooks.HookLimits;
import dev.berth.serving.many.ModelDirectory;
import dev.berth.serving.many.ModelStore;
import dev.berth.telemetry.Exporter.Export;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.HookProbe;
import dev.berth.testing.TestThreads;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Versions of a model that take each other's place under load. The parts of the server are put
/// together here, so that they look for changes more often.
@Tag("slow")
class SwappingTest {

    private static final int SWAPS = 12;

    @TempDir
    Path models;

    @TempDir
    Path versions;

    @Test
    void everyRequestIsAnsweredByOneVersionAndTheOldOnesAreFreed() throws Exception {
        HookProbe.reset();
        point(0);
        var config = Configuration.read(
                        Map.of(
                                "BERTH_MODELS",
                                models.toString(),
                                "SAGEMAKER_BIND_TO_PORT",
                                "0",
                                "BERTH_HOST",
                                "127.0.0.1",
                                "INSTANCE_TYPE",
                                "cpu"),
                        Map.of(),
                        Path.of("."))
                .config();
        var loader = new ArtifactLoader(config);
        try (var metrics = new ServingMetrics();
                var workers = loader.prepare(metrics);
                var client = HttpClient.newHttpClient();
                var threads = new TestThreads()) {
            var hooks = HookLimits.ofSeveralModels();
            var store = new ModelStore(hooks, metrics, loader, Duration.ofMinutes(5), Duration.ofMinutes(1));
            var directory = new ModelDirectory(models, store, false, Duration.ofMillis(20));
            var health = new Health(metrics, hooks, Optional::empty, List::of, Duration.ofHours(1));
            try (var http = new HttpServer(config, new Serving(directory.models(), health), metrics, Export.NONE)) {
                directory.start();
                var request = HttpRequest.newBuilder(
                                URI.create("http://127.0.0.1:%d/models/m/invoke".formatted(http.port())))
                        .POST(BodyPublishers.ofString("x"))
                        .build();
                swapUnderLoad(client, request, threads);
                await().untilAsserted(() -> {
                    System.gc();
                    // Others keep the threads busy, so that none of them ends for want of work.
                    assertThat(client.send(request, BodyHandlers.ofString()).body())
                            .isEqualTo("version " + SWAPS);
                    assertThat(HookProbe.LOADERS).hasSize(SWAPS + 1);
                    assertThat(HookProbe.LOADERS.subList(0, SWAPS))
                            .allSatisfy(
                                    loaded -> assertThat(loaded.refersTo(null)).isTrue());
                });
                assertThat(metrics.scrape()).contains("berth_models_loaded 1.0");
                directory.close();
                directory.models().close(Duration.ofSeconds(20));
            }
            assertThat(workers.pool().hasThreads()).isTrue();
        }
    }

    private void swapUnderLoad(HttpClient client, HttpRequest request, ExecutorService threads) throws Exception {
        var ended = new AtomicBoolean();
        var asking = IntStream.range(0, 8)
                .<Future<?>>mapToObj(_ -> threads.submit(() -> {
                    while (!ended.get()) {
                        assertAnswer(client.send(request, BodyHandlers.ofString()));
                    }
                    return null;
                }))
                .toList();
        try {
            assertThat(client.send(request, BodyHandlers.ofString()).body()).isEqualTo("version 0");
            for (int version = 1; version <= SWAPS; version++) {
                point(version);
                var expected = "version " + version;
                await().until(() ->
                        client.send(request, BodyHandlers.ofString()).body().equals(expected));
            }
        } finally {
            ended.set(true);
        }
        for (var one : asking) {
            one.get();
        }
    }

    private static void assertAnswer(HttpResponse<String> answer) {
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        assertThat(answer.body()).matches("version \\d+");
    }

    /// Has the link of the model lead to a version, from one moment to the next.
    private void point(int version) throws IOException {
        var artifact = CodeArtifact.hooks(versions.resolve("v" + version), """
        static { HookProbe.saw(Inference.class); }
        static final ThreadLocal<Object> LOCAL = new ThreadLocal<>();
        @Override public List<String> predictFn(List<String> records, Object model) {
          LOCAL.set(this);
          return records.stream().map(record -> "version %d").toList();
        }
        """.formatted(version));
        var link = Files.createSymbolicLink(versions.resolve("link"), artifact.directory());
        Files.move(link, models.resolve("m"), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
