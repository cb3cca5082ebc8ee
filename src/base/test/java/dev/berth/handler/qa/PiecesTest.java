package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Records of many windows are taken into pieces, and their answers are those of the whole.
class PiecesTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Accelerator CPU = new Accelerator.Cpu(1, CpuProfile.ADAPTIVE);
    private static final String CONTEXT =
            "Bell was born in Scotland. ".repeat(40) + "He lived in Canada, by the sea. ".repeat(60);

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"max_seq_len\": 40}",
                "{\"max_seq_len\": 40, \"top_k\": 50}",
                "{\"max_seq_len\": 64, \"top_k\": 1000, \"handle_impossible_answer\": true, \"align_to_words\": false}",
                "{\"max_seq_len\": 384, \"top_k\": 20, \"doc_stride\": 300}",
                "{\"max_seq_len\": 100, \"top_k\": 3, \"max_answer_len\": 1, \"handle_impossible_answer\": true}"
            })
    void theAnswersOfPiecesAreThoseOfTheWhole(String parameters) throws Exception {
        try (var handler = new QuestionAnsweringHandler(TestArtifact.dynamic(directory, "waves.pt"))) {
            var model = handler.modelFn(new ModelContext(directory, CPU, 0, List.of(CPU)));
            var record = record(handler, CONTEXT, parameters);
            var pieces = handler.split(record);

            assertThat(pieces)
                    .hasSizeGreaterThan(1)
                    .allSatisfy(piece -> assertThat(handler.length(piece)).isLessThanOrEqualTo(512));
            assertThat(pieces.stream().mapToInt(handler::length).sum()).isEqualTo(handler.length(record));
            assertThat(handler.join(record, handler.predictFn(pieces, model)))
                    .isEqualTo(handler.predictFn(List.of(record), model).getFirst());
        }
    }

    @Test
    void aRecordOfAFewTokensStaysOnePiece() throws Exception {
        try (var handler = new QuestionAnsweringHandler(TestArtifact.dynamic(directory, "waves.pt"))) {
            for (var context : List.of("Bell was born in Scotland.", "Bell was born in Scotland. ".repeat(50))) {
                var record = record(handler, context, "{}");
                assertThat(handler.split(record)).containsExactly(record);
            }
        }
    }

    @Test
    void longContextsKeepNobodyWaiting() throws Exception {
        try (var server =
                TestServer.sample().set("SAGEMAKER_MODEL_SERVER_WORKERS", "1").start()) {
            var question =
                    Map.of("question", "a", "context", "b ".repeat(20_000), "parameters", Map.of("max_seq_len", 20));
            var body = JSON.writeValueAsString(question);
            var first = server.invokeAsync(body, "Content-Type", "application/json");
            var second = server.invokeAsync(body, "Content-Type", "application/json");
            server.awaitMetrics("berth_records_total{model=\"model\"} 2.0");

            var good = server.invoke(
                    "{\"question\": \"Where was Bell born?\", \"context\": \"Bell was born in Scotland.\"}");
            assertThat(good.body()).contains("Scotland");
            assertThat(first).isNotDone();
            assertThat(second).isNotDone();
            first.cancel(true);
            second.cancel(true);
        }
    }

    private static TaskRecord<EncodedQuestion, Parameters> record(
            QuestionAnsweringHandler handler, String context, String parameters) throws Exception {
        var body = JSON.writeValueAsBytes(Map.of(
                "question", "Where was Bell born?", "context", context, "parameters", JSON.readTree(parameters)));
        return handler.inputFn(new InvocationRequest(
                        new ByteArrayInputStream(body),
                        MediaType.JSON,
                        MediaType.JSON,
                        Optional.empty(),
                        "test",
                        false))
                .getFirst();
    }
}
