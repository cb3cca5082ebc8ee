package dev.berth.search;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Texts that come again, in a request or later.
class RepeatedTextsTest {

    private static final String RECORDS = "berth_records_total{model=\"model\"} ";
    private static final String HITS = "hooks_cache_hits_total{model=\"model\"} ";

    private static final JsonMapper JSON = new JsonMapper();

    @TempDir
    Path directory;

    private Path model(String kind) throws Exception {
        return kind.equals("dense") ? SearchModels.dense(directory, "") : SearchModels.sparse(directory, true, "");
    }

    @ParameterizedTest
    @ValueSource(strings = {"dense", "sparse"})
    void aTextOfARequestIsEmbeddedOnce(String kind) throws Exception {
        try (var server = TestServer.artifact(model(kind)).start()) {
            var lamp = JSON.readTree(server.answer("[\"lamp\"]")).path(0);
            var works = JSON.readTree(server.answer("[\"it works\"]")).path(0);
            server.awaitMetrics(RECORDS + "2.0");
            assertThat(JSON.readTree(server.answer("[\"lamp\", \"it works\", \"lamp\", {\"text\": \"lamp\"}]")))
                    .containsExactly(lamp, works, lamp, lamp);
            server.awaitMetrics(RECORDS + "4.0");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"dense", "sparse"})
    void theCacheAnswersAsTheModelDid(String kind) throws Exception {
        var artifact = SearchModels.with(model(kind), "\"cacheBytes\": 100000");
        try (var server = TestServer.artifact(artifact).start()) {
            var first = server.answer("[\"lamp\", \"it works\"]");
            server.awaitMetrics(RECORDS + "2.0", HITS + "0.0");
            assertThat(server.answer("[\"lamp\", \"it works\"]")).isEqualTo(first);
            server.awaitMetrics(RECORDS + "2.0", HITS + "2.0");
            // Other parameters have other answers.
            server.answer("{\"inputs\": [\"lamp\"], \"parameters\": {\"truncation\": false}}");
            server.awaitMetrics(RECORDS + "3.0", HITS + "2.0");
        }
    }

    @Test
    void theCacheIsBounded() throws Exception {
        // Of one answer, and not of two.
        var artifact = SearchModels.with(model("dense"), "\"cacheBytes\": 700");
        try (var server = TestServer.artifact(artifact).start()) {
            for (int i = 0; i < 3; i++) {
                server.answer("\"lamp\"");
            }
            server.awaitMetrics(HITS + "2.0");
            for (int i = 0; i < 3; i++) {
                server.answer("\"works\"");
                server.answer("\"lamp\"");
            }
            // With room for both only one of the nine is none.
            server.awaitMetrics("berth_model_requests_total{model=\"model\",status=\"200\"} 9.0");
            assertThat(server.get("/metrics").body()).doesNotContain(HITS + "7.0");
        }
    }

    @Test
    void asAVectorIsScaledTheCachedOneStays() throws Exception {
        var artifact = SearchModels.with(model("dense"), "\"cacheBytes\": 100000");
        try (var server = TestServer.artifact(artifact).start()) {
            var own = server.answer("[\"lamp\"]");
            server.answer("{\"input\": [\"lamp\", \"lamp\"], \"normalized\": true}");
            assertThat(server.answer("[\"lamp\"]")).isEqualTo(own);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "-5", "\"64MB\"", "1.5"})
    void aSizeThatIsNoneIsNamed(String size) throws Exception {
        var artifact = SearchModels.with(model("dense"), "\"cacheBytes\": " + size);
        TestServer.artifact(artifact)
                .assertDoesNotStart(
                        "model.json: cacheBytes: found %s, expected a whole number of at least 1".formatted(size));
    }
}
