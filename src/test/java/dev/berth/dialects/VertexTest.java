package dev.berth.dialects;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A server as Vertex AI starts its containers, asked as Vertex AI asks them.
class VertexTest {

    private static final JsonMapper JSON = new JsonMapper();
    private static final String PREDICT = "/v1/endpoints/123/deployedModels/456:predict";
    private static final String HEALTH = "/v1/endpoints/123/deployedModels/456";
    private static final Path TASKS = Path.of("src/test/resources/tasks");
    private static final String QUESTION =
            "{\"question\": \"Who wrote it?\", \"context\": \"A baker from Lyon wrote it.\"}";

    @TempDir
    private Path directory;

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = onVertex(TestServer.sample()).start();
    }

    private static TestServer.Builder onVertex(TestServer.Builder builder) {
        return builder.set("SAGEMAKER_BIND_TO_PORT", "")
                .set("AIP_HTTP_PORT", "0")
                .set("AIP_HEALTH_ROUTE", HEALTH)
                .set("AIP_PREDICT_ROUTE", PREDICT);
    }

    private static JsonNode predictions(TestServer server, String body) throws Exception {
        var response = server.post(PREDICT, body);
        assertStatus(response, 200);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
        var answer = JSON.readTree(response.body());
        assertThat(answer).hasSize(1);
        return answer.path("predictions");
    }

    private static String error(String body, int status) throws Exception {
        var response = server.post(PREDICT, body);
        assertThat(response.statusCode()).isEqualTo(status);
        return JSON.readTree(response.body()).at("/error/message").textValue();
    }

    @Test
    void itsHealthRouteAnswersAsPingDoes() throws Exception {
        assertThat(server.get(HEALTH).statusCode()).isEqualTo(200);
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
    }

    @Test
    void questionsAreInstancesAndTheirAnswersPredictions() throws Exception {
        var own = JSON.readTree(server.answer("[%s]".formatted(QUESTION)));
        assertThat(predictions(server, "{\"instances\": [%1$s, %1$s]}".formatted(QUESTION)))
                .containsExactly(own.path(0), own.path(0));
        // Also in several lines, and with null for parameters.
        assertThat(predictions(server, "{\n\"parameters\": null,\n\"instances\": [\n%s\n]}\n".formatted(QUESTION)))
                .containsExactly(own.path(0));
    }

    @Test
    void clientsOfKServesVersion1AskByTheNameOfTheModel() throws Exception {
        try (var one = TestServer.sample().set("BERTH_MODEL_NAME", "qa").start()) {
            assertThat(one.get("/v1/models/qa").body()).contains("\"name\":\"qa\",\"ready\":true");
            var body = "{\"instances\": [%s]}".formatted(QUESTION);
            var response = one.post("/v1/models/qa:predict", body);
            assertStatus(response, 200);
            assertThat(JSON.readTree(response.body()).path("predictions")).isEqualTo(predictions(server, body));
            var other = one.post("/v1/models/other:predict", body);
            assertThat(other.statusCode()).isEqualTo(404);
            assertThat(JSON.readTree(other.body()).at("/error/message").textValue())
                    .startsWith("model: found \"other\", expected qa");
            // KServe's client shows no error of another type.
            assertThat(other.headers().firstValue("Content-Type")).hasValue("application/json");
            assertThat(one.get("/metrics").body()).contains("route=\"/v1/models/{name}:predict\"");
        }
        var models = Files.createDirectory(directory.resolve("models"));
        Files.createSymbolicLink(models.resolve("mine"), TestServer.SAMPLE_ARTIFACT);
        try (var many = TestServer.ofDirectory(models).start()) {
            var body = "{\"instances\": [%s]}".formatted(QUESTION);
            assertStatus(many.post("/v1/models/mine:predict", body), 200);
            assertThat(many.get("/v1/models/other").statusCode()).isEqualTo(404);
            assertThat(many.get("/v1/models").body()).contains("\"id\":\"mine\"");
        }
    }

    @Test
    void parametersHoldForAllInstancesUnlessOneHasItsOwn() throws Exception {
        var asked = predictions(server, """
        {"instances": [%1$s, {"inputs": %1$s, "parameters": {"top_k": 3}}, {"inputs": %1$s}], "parameters": {"top_k": 2}}""".formatted(QUESTION));
        assertThat(asked.valueStream().map(JsonNode::size)).containsExactly(2, 3, 2);
        var body = "{\"instances\": [{\"inputs\": %s, \"parameters\": 7}], \"parameters\": {\"top_k\": 2}}"
                .formatted(QUESTION);
        assertThat(error(body, 400)).startsWith("instances[0]: parameters: found 7");
    }

    @Test
    void whatIsWrongIsNamedByTheInstance() throws Exception {
        assertThat(error("{\"instances\": [%s, {\"question\": 7}]}".formatted(QUESTION), 400))
                .startsWith("instances[1]: ");
        assertThat(error("{\"instances\": []}", 400))
                .isEqualTo("instances: found an empty list, expected a list of at least one");
        assertThat(error(QUESTION, 400)).isEqualTo("instances: found nothing, expected a list of at least one");
        assertThat(error("{\"instances\": [1], \"parameters\": 7}", 400))
                .isEqualTo("parameters: found 7, expected an object");
        assertThat(error("{\"instances\"", 400)).startsWith("body: not JSON");
        var text = server.request(PREDICT, BodyPublishers.ofString("a,b"), "Content-Type", "text/csv");
        assertThat(server.send(text).statusCode()).isEqualTo(415);
    }

    @Test
    void otherTasksFollowTheSameRule() throws Exception {
        try (var texts = onVertex(TestServer.artifact(TASKS.resolve("text-classification-bert")))
                .start()) {
            assertThat(predictions(
                                    texts,
                                    "{\"instances\": [\"The lamp.\", {\"text\": \"It works.\"}], \"parameters\": {\"top_k\": 2}}")
                            .valueStream()
                            .map(JsonNode::size))
                    .containsExactly(2, 2);
        }
        Files.copy(Path.of("src/test/resources/torchscript/doubled.pt"), directory.resolve("model.pt"));
        try (var tensors = onVertex(TestServer.artifact(directory)).start()) {
            assertThat(predictions(tensors, "{\"instances\": [[1, 2], [3, 4.5]]}"))
                    .isEqualTo(JSON.readTree("[[2.0, 4.0], [6.0, 9.0]]"));
        }
        try (var pictures = onVertex(TestServer.artifact(TASKS.resolve("image-classification-resnet")))
                .start()) {
            var picture = Base64.getEncoder()
                    .encodeToString(Files.readAllBytes(Path.of("src/test/resources/images/baseline.jpg")));
            assertThat(predictions(pictures, "{\"instances\": [\"%s\"]}".formatted(picture))
                            .path(0)
                            .path(0)
                            .has("label"))
                    .isTrue();
        }
    }

    @Test
    void itsRouteMayBeTheServersOwn() throws Exception {
        try (var named = TestServer.sample().start("AIP_HEALTH_ROUTE=/ping", "AIP_PREDICT_ROUTE=/invocations")) {
            var response =
                    named.invoke("{\"instances\": [%s]}".formatted(QUESTION), "Content-Type", "application/json");
            assertThat(JSON.readTree(response.body()).path("predictions")).hasSize(1);
            assertThat(named.get("/ping").statusCode()).isEqualTo(200);
            // Another path still takes what SageMaker sends.
            assertThat(named.post("/inferences", QUESTION).body()).contains("\"answer\"");
        }
    }

    @Test
    void hooksThatReadNoLinesGetTheBodyAsItIs() throws Exception {
        try (var own = onVertex(TestServer.with(new TextHandler())).start()) {
            assertStatus(own.post(PREDICT, "{\"instances\": [1]}"), 200);
        }
    }

    @Test
    void itsRequestsAreCountedAndLimitedAsAllOthers() throws Exception {
        assertThat(predictions(server, "{\"instances\": [%s]}".formatted(QUESTION)))
                .hasSize(1);
        assertThat(server.get("/metrics").body()).contains("route=\"%s\"".formatted(PREDICT));
        try (var small = onVertex(TestServer.sample()).start("SAGEMAKER_MAX_REQUEST_SIZE=100")) {
            var response = small.post(PREDICT, "{\"instances\": [%s, %s]}".formatted(QUESTION, QUESTION));
            assertThat(response.statusCode()).isEqualTo(413);
        }
    }
}
