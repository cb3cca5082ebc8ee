package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Metrics;
import dev.berth.hooks.ModelContext;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.HookProbe;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What hooks count appears in `/metrics`, and goes with its model.
class HookMetricsTest {

    private static final class Counting extends TextHandler {

        private volatile Metrics metrics;

        @Override
        public Object modelFn(ModelContext context) {
            metrics = context.metrics();
            return metrics.counter("lines", "lines that were predicted");
        }

        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            var records = super.inputFn(request);
            Metrics.current().counter("bodies", "bodies that were read").increment();
            return records;
        }

        @Override
        public List<String> predictFn(List<String> records, Object model) {
            ((Metrics.Counter) model).add(records.size());
            Metrics.current().timer("naps", "how long it slept").record(Duration.ofMillis(1500));
            metrics.gauge("longest", "the longest line").set(records.getFirst().length());
            return records;
        }
    }

    @Test
    void theyAppearUnderTheNameOfTheModel() throws Exception {
        var handler = new Counting();
        try (var server =
                TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=2", "BERTH_MAX_BATCH_SIZE=8")) {
            server.invoke("abc\nde\nf");
            assertThat(server.get("/metrics").body().lines())
                    .contains(
                            "hooks_lines_total{model=\"model\"} 3.0",
                            "hooks_bodies_total{model=\"model\"} 1.0",
                            "# HELP hooks_lines_total lines that were predicted",
                            "hooks_naps_seconds_count{model=\"model\"} 1",
                            "hooks_naps_seconds_sum{model=\"model\"} 1.5",
                            "hooks_longest{model=\"model\"} 3.0");
        }
    }

    @Test
    void namesAreCheckedAndBounded() throws Exception {
        var handler = new Counting();
        try (var _ = TestServer.with(handler).start()) {
            var metrics = handler.metrics;
            for (var name : List.of("", "Lines", "1st", "a-b", "a{b=\"c\"}", "a".repeat(61))) {
                assertThatThrownBy(() -> metrics.counter(name, ""))
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage("metric \"%s\": expected 1 to 60 lower-case letters, digits and _, a letter first"
                                .formatted(name));
            }
            assertThatThrownBy(() -> metrics.gauge("lines", ""))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("metric lines: found one of another kind, expected another name for a gauge");
            assertThatThrownBy(() -> metrics.counter("lines", "").add(-1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("counter lines: found -1.0, expected a number from 0");
            for (int i = 1; i < 100; i++) {
                metrics.counter("metric_" + i, "");
            }
            metrics.counter("lines", "").increment();
            assertThatThrownBy(() -> metrics.counter("metric_100", ""))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("metric metric_100: found 100 others, expected at most 100 of a model");
        }
        handler.metrics.counter("lines", "").increment();
    }

    @Test
    void theyGoWithTheirModelAndWithOneThatFailsToLoad(@TempDir Path directory) throws Exception {
        var artifact = CodeArtifact.hooks(directory, """
        @Override public Object modelFn(ModelContext context) {
          context.metrics().counter("loads", "models").increment();
          if (HookProbe.NOTES.contains("no weights")) { throw new IllegalStateException("no weights"); }
          return this;
        }
        """).directory();
        HookProbe.reset();
        try (var server = TestServer.ofModels().start()) {
            server.load("a", artifact);
            server.load("b", artifact);
            HookProbe.note("no weights");
            assertStatus(server.load("c", artifact), 500, "no weights");
            server.awaitMetrics("hooks_loads_total{model=\"a\"}", "hooks_loads_total{model=\"b\"}");
            server.unload("a");
            assertThat(server.get("/metrics").body())
                    .doesNotContain("hooks_loads_total{model=\"a\"}", "hooks_loads_total{model=\"c\"}")
                    .contains("hooks_loads_total{model=\"b\"}");
        }
    }
}
