package dev.berth.openinference;

import static dev.berth.testing.GrpcClient.assertFails;
import static dev.berth.testing.GrpcClient.text;
import static dev.berth.testing.Infer.assertError;
import static dev.berth.testing.Infer.json;
import static dev.berth.testing.Infer.tree;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.testing.GrpcClient;
import dev.berth.testing.Infer;
import dev.berth.testing.Origins;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import io.grpc.Status.Code;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Triton's extensions, over HTTP and gRPC.
@Timeout(300)
class TritonTest {

    @TempDir
    private static Path directory;

    private static TestServer one;
    private static TestServer many;
    private static GrpcClient ofOne;
    private static GrpcClient ofMany;

    @BeforeAll
    static void start() throws Exception {
        var single = artifact(directory, "one");
        Files.writeString(single.resolve("sample.json"), "[[70, 3]]");
        one = TestServer.artifact(single).start("BERTH_GRPC_PORT=0");
        var models = Files.createDirectory(directory.resolve("models"));
        artifact(models, "a");
        artifact(models, "b");
        artifact(models, "edited");
        Files.writeString(Files.createDirectory(models.resolve("c")).resolve("model.json"), "{}");
        many = TestServer.ofDirectory(models).start("BERTH_GRPC_PORT=0");
        ofOne = new GrpcClient(one);
        ofMany = new GrpcClient(many);
    }

    private static Path artifact(Path parent, String name) throws Exception {
        return TestArtifact.tensors(parent, name, "two-columns.pt", null);
    }

    @AfterAll
    static void stop() throws Exception {
        ofOne.close();
        ofMany.close();
        one.close();
        many.close();
    }

    @Test
    void aConfigurationHasTheColumnsWithoutTheRecords() throws Exception {
        for (var path : List.of("/v2/models/model/config", "/v2/models/model/versions/1/config")) {
            assertThat(json(one.get(path))).isEqualTo(tree("""
          {"name": "model", "platform": "berth", "max_batch_size": 2147483647,
           "input": [{"name": "values", "data_type": "TYPE_FP32", "dims": [2]}],
           "output": [{"name": "output_0", "data_type": "TYPE_FP32", "dims": [1]}],
           "dynamic_batching": {}, "backend": "berth"}"""));
        }
        assertThat(text(ofOne.call("ModelConfig", "name: 'model'")))
                .isEqualTo(
                        "config { name: \"model\" platform: \"berth\" max_batch_size: 2147483647 input { name: \"values\" data_type: TYPE_FP32 dims: 2 } output { name: \"output_0\" data_type: TYPE_FP32 dims: 1 } dynamic_batching { } backend: \"berth\" }");
    }

    @Test
    void statisticsCountWhatWasAnsweredAndWhatHasFailed() throws Exception {
        var before = statistics(one.get("/v2/models/model/stats"));
        assertThat(Infer.outputs(one, Infer.body("values FP32 [3,2] 1,2,3,4,5,6")))
                .hasSize(1);
        assertError(Infer.send(one, "model", "{}"), 400, "inputs");
        for (var path : List.of("/v2/models/stats", "/v2/models/model/stats", "/v2/models/model/versions/1/stats")) {
            var after = statistics(one.get(path));
            assertThat(after.path("name").textValue()).isEqualTo("model");
            assertThat(after.path("version").textValue()).isEqualTo("1");
            assertThat(grown(before, after, "/inference_count")).isEqualTo(3);
            assertThat(grown(before, after, "/execution_count")).isPositive();
            assertThat(grown(before, after, "/inference_stats/success/count")).isEqualTo(1);
            assertThat(grown(before, after, "/inference_stats/success/ns")).isPositive();
            assertThat(grown(before, after, "/inference_stats/fail/count")).isEqualTo(1);
            for (var step : List.of("queue", "compute_input", "compute_infer", "compute_output")) {
                assertThat(grown(before, after, "/inference_stats/%s/ns".formatted(step)))
                        .isPositive();
            }
            assertThat(after.path("last_inference").longValue())
                    .isBetween(1_700_000_000_000L, System.currentTimeMillis());
        }
        assertThat(text(ofOne.call("ModelStatistics", "")))
                .startsWith("model_stats { name: \"model\" version: \"1\" last_inference: ");
        assertThat(text(ofOne.call("ModelStatistics", "name: 'model'")))
                .contains("success { count: ", "fail { count: ");
    }

    @ParameterizedTest
    @ValueSource(strings = {"load", "unload"})
    void aRepositoryIsNotForPagesFromElsewhere(String change) throws Exception {
        Origins.assertRefusesPagesFromElsewhere(many, "POST /v2/repository/models/m/" + change);
    }

    private static JsonNode statistics(HttpResponse<String> response) throws Exception {
        var all = json(response).path("model_stats");
        assertThat(all).hasSize(1);
        return all.get(0);
    }

    private static long grown(JsonNode before, JsonNode after, String field) {
        return after.at(field).longValue() - before.at(field).longValue();
    }

    @Test
    void theOnlyModelIsInTheIndexAndStays() throws Exception {
        assertThat(json(one.post("/v2/repository/index", "")))
                .isEqualTo(tree("[{\"name\": \"model\", \"version\": \"1\", \"state\": \"READY\", \"reason\": \"\"}]"));
        assertStatus(one.post("/v2/repository/models/model/load", "{}"), 200);
        assertError(
                one.post("/v2/repository/models/model/unload", "{}"),
                400,
                "found a server without --models, expected one: only its models can be unloaded");
    }

    @Test
    void modelsOfADirectoryAreLoadedAndUnloaded() throws Exception {
        var body = "{\"parameters\": {\"unload_dependents\": false}}";
        assertThat(many.post("/v2/repository/models/b/load", "").statusCode()).isEqualTo(200);
        assertThat(states()).contains("b READY ");
        assertStatus(many.post("/v2/repository/models/b/unload", body), 200);
        assertThat(states()).contains("b UNAVAILABLE not loaded");
        ofMany.call("RepositoryModelLoad", "model_name: 'b'");
        assertThat(text(ofMany.call("RepositoryIndex", "ready: true")))
                .contains("models { name: \"b\" version: \"1\" state: \"READY\" }")
                .doesNotContain("\"c\"");
        assertThat(text(ofMany.call("ModelStatistics", "name: 'b'")))
                .contains("model_stats { name: \"b\" version: \"1\"");
        ofMany.call("RepositoryModelUnload", "model_name: 'b'");
        assertThat(text(ofMany.call("ModelStatistics", "name: 'b'")))
                .isEqualTo("model_stats { name: \"b\" version: \"1\" }");
        // What is wrong with its files stays wrong: nobody should try again.
        var failed = many.post("/v2/repository/models/c/load", "");
        assertError(failed, 400, "model.json");
        assertFails(() -> ofMany.call("RepositoryModelLoad", "model_name: 'c'"), Code.INVALID_ARGUMENT, "model.json");
        var asked = many.post("/v2/models/c/infer", "{}");
        assertError(asked, 500, "model.json");
        assertThat(asked.headers().firstValue("Retry-After")).isEmpty();
        assertThat(states()).anyMatch(state -> state.matches("(?s)c UNAVAILABLE .*model\\.json.*"));
        assertThat(json(many.post("/v2/repository/index", "{\"ready\": true}")).findValuesAsText("name"))
                .doesNotContain("c");
    }

    @Test
    void aModelThatServesTheVersionBeforeIsReady() throws Exception {
        assertStatus(many.post("/v2/repository/models/edited/load", ""), 200);
        Files.writeString(directory.resolve("models/edited/model.json"), "{");
        await().until(() -> many.describe("edited").body().contains("serves the version before"));
        assertStatus(many.get("/v2/models/edited/ready"), 200);
        assertThat(text(ofMany.call("ModelReady", "name: 'edited'"))).isEqualTo("ready: true");
        assertThat(states()).anyMatch(state -> state.startsWith("edited READY serves the version before"));
        assertStatus(many.post("/v2/repository/models/edited/unload", ""), 200);
    }

    private static List<String> states() throws Exception {
        return json(many.post("/v2/repository/index", "{}"))
                .valueStream()
                .map(model -> "%s %s %s"
                        .formatted(
                                model.path("name").textValue(),
                                model.path("state").textValue(),
                                model.path("reason").textValue()))
                .toList();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        /v2/models/nope/config                  |       | 404 | neither loaded nor a directory
        /v2/models/nope/stats                   |       | 404 | neither loaded nor a directory
        /v2/models/a/versions/3/stats           |       | 404 | version: found ~3~, expected 1
        /v2/repository/models/nope/load         | {}    | 404 | neither loaded nor a directory
        /v2/repository/models/nope/unload       | {}    | 404 | is not loaded
        /v2/repository/models/a/load            | []    | 400 | body: found
        /v2/repository/models/a/load            | {     | 400 | body:
        /v2/repository/models/a/load            | {~parameters~: {~config~: ~{}~}} | 400 | parameters: found the unknown parameter ~config~, expected none
        /v2/repository/models/a/unload          | {~parameters~: {~x~: 1}}         | 400 | parameters: found the unknown parameter ~x~, expected one of unload_dependents
        /v2/repository/index                    | 3     | 400 | body: found
        """)
    void whatIsWrongOrNotThereIsNamed(String path, String body, int status, String message) throws Exception {
        var response = body == null ? many.get(path) : many.post(path, body.replace('~', '"'));
        assertError(response, status, message.replace('~', '"'));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ModelConfig           | name: 'nope'       | NOT_FOUND        | neither loaded
        ModelStatistics       | name: 'nope'       | NOT_FOUND        | neither loaded
        RepositoryModelLoad   | model_name: 'nope' | NOT_FOUND        | neither loaded
        RepositoryModelUnload | model_name: 'nope' | NOT_FOUND        | is not loaded
        RepositoryModelLoad   | model_name: 'a' parameters { key: 'file:1/model.pt' value { bytes_param: 'x' } } | INVALID_ARGUMENT | parameters: found the unknown parameter ~file:1/model.pt~
        """)
    void callsThatAreWrongSayWhy(String method, String request, Code code, String message) {
        assertFails(() -> ofMany.call(method, request), code, message.replace('~', '"'));
    }
}
