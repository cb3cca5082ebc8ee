package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.LocalModel;
import dev.berth.hooks.MediaType;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Records that a handler takes apart.
@Timeout(600)
class SplitRecordsTest {

    /// A line is taken apart at its spaces.
    private static class Words extends TextHandler {
        @Override
        public List<String> split(String line) {
            return Arrays.asList(line.split(" "));
        }

        @Override
        public String join(String line, List<String> words) {
            return "%s of %s".formatted(String.join("-", words), line);
        }
    }

    @Test
    void outputFnGetsOnePredictionForEachRecord() throws Exception {
        try (var server = TestServer.with(new Words()).start();
                var model = LocalModel.load(new Words(), Path.of("."));
                var log = new CapturedLog()) {
            assertThat(server.invoke("a\nb c d\ne").body()).isEqualTo("A\nB-C-D of b c d\nE");
            assertThat(model.invoke(MediaType.TEXT, "a\nb c d\ne")).isEqualTo("A\nB-C-D of b c d\nE");
            assertThat(server.invoke("a\nb").body()).isEqualTo("A\nB");
            assertThat(server.invoke("").body()).isEmpty();
            await().untilAsserted(() -> assertThat(log.text()).contains(": 3 records, ", ": 2 records, "));
            assertThat(server.get("/metrics").body())
                    .contains("berth_records_total{model=\"model\"} 5.0", "berth_batch_size_sum{model=\"model\"} 7.0");
        }
    }

    @Test
    void aRecordMayBeReplacedByOnePieceWhateverTheOthersAre() throws Exception {
        var handler = new TextHandler() {
            @Override
            public List<String> split(String line) {
                return List.of(line + "!");
            }
        };
        try (var server = TestServer.with(handler).start();
                var model = LocalModel.load(handler, Path.of("."))) {
            assertThat(server.invoke("a\nb").body()).isEqualTo("A!\nB!");
            assertThat(model.invoke(MediaType.TEXT, "a\nb")).isEqualTo("A!\nB!");
        }
    }

    @Test
    void recordsOfManyPiecesKeepNobodyWaitingAndFillNoQueue() throws Exception {
        var gate = new Gate(1);
        var handler = new Words() {
            @Override
            public List<String> predictFn(List<String> records, Object model) throws Exception {
                gate.pass();
                if (records.contains("last")) {
                    last.pass();
                }
                return super.predictFn(records, model);
            }

            private final Gate last = new Gate(1);
        };
        try (var server =
                TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_QUEUE_CAPACITY=4")) {
            var large = "a ".repeat(500) + "last";
            var first = server.invokeAsync(large);
            gate.awaitArrival();
            var second = server.invokeAsync(large);
            server.awaitQueued(2);
            var small = server.invokeAsync("b");
            server.awaitQueued(3);
            gate.open();

            assertThat(small.get().body()).isEqualTo("B");
            assertThat(Stream.of(first, second)).noneMatch(Future::isDone);
            handler.last.open();
            assertThat(first.get().body()).endsWith("A-LAST of " + large);
            assertThat(second.get().body()).isEqualTo(first.get().body());
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      none | split returned [], expected one record or several
      null | split returned null, expected one record or several
      hole | split returned a list with null, expected one record or several
      lost | join returned null, expected a prediction
      fail | join failed
      """)
    void whatSplitAndJoinMustNotDoIsToldByTheirNames(String record, String message) throws Exception {
        var handler = new TextHandler() {
            @Override
            public List<String> split(String record) {
                return switch (record) {
                    case "none" -> List.of();
                    case "null" -> null;
                    case "hole" -> Arrays.asList("a", null);
                    default -> List.of("a", "b");
                };
            }

            @Override
            public String join(String record, List<String> parts) {
                if (record.equals("fail")) {
                    throw new IllegalStateException("no glue");
                }
                return null;
            }
        };
        try (var server = TestServer.with(handler).start()) {
            var response = server.invoke(record);
            assertStatus(response, 500, message);
        }
    }

    @Test
    void aPieceThatFailsFailsItsRequestAlone() throws Exception {
        var handler = new Words() {
            @Override
            public List<String> predictFn(List<String> records, Object model) throws Exception {
                if (records.contains("bad")) {
                    throw new IllegalStateException("a bad piece");
                }
                return super.predictFn(records, model);
            }
        };
        try (var server = TestServer.with(handler).start("SAGEMAKER_TS_BATCH_SIZE=8")) {
            var failing = server.invokeAsync("a bad b");
            assertThat(server.invoke("c d").body()).isEqualTo("C-D of c d");
            assertStatus(failing.get(), 500, "a bad piece");
        }
    }
}
