package dev.berth.page;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.berth.config.Configuration;
import dev.berth.http.Routes;
import dev.berth.testing.RememberingHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The document of the routes, against the OpenAPI initiative's own schema and against the routes.
class OpenApiTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    /// On Vertex AI too.
    @AutoClose
    private static TestServer questions;

    @TempDir
    Path models;

    @BeforeAll
    static void start() throws Exception {
        questions = TestServer.sample().start("AIP_PREDICT_ROUTE=/predict", "BERTH_PAGE=true");
    }

    /// Answers each path of OpenAI's clients.
    private static final class OpenAiHandler extends TextHandler {
        @Override
        public List<String> openAiPaths() {
            return List.of("/v1/chat/completions", "/v1/completions", "/v1/embeddings");
        }
    }

    @Test
    void itHasEachRouteAndNoOther() throws Exception {
        try (var one = TestServer.with(new OpenAiHandler())
                        .start("BERTH_METRICS_PATH=/numbers", "BERTH_CLIENT_PATHS=false");
                var many = TestServer.ofDirectory(models).start()) {
            assertThat(described(one))
                    .isEqualTo(
                            registered(Map.of("BERTH_METRICS_PATH", "/numbers", "BERTH_CLIENT_PATHS", "false"), false));
            assertThat(described(many)).isEqualTo(registered(Map.of(), true));
        }
    }

    @Test
    void itHasThePathsOfClientsThatTheTaskAnswers() throws Exception {
        var embeddings =
                Path.of("src/test/resources/tasks/sentence-embeddings-bert").toAbsolutePath();
        try (var server = TestServer.artifact(embeddings).start()) {
            assertThat(described(server))
                    .contains("POST /embed", "POST /similarity", "GET /info", "POST /", "POST /v2/embed")
                    .doesNotContain("POST /rerank", "POST /embed_all", "POST /v2/rerank");
        }
    }

    private static SortedSet<String> described(TestServer server) throws Exception {
        var described = new TreeSet<String>();
        document(server)
                .path("paths")
                .properties()
                .forEach(path -> path.getValue()
                        .fieldNames()
                        .forEachRemaining(
                                method -> described.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
        return described;
    }

    private static SortedSet<String> registered(Map<String, String> environment, boolean hasMany) {
        var config = Configuration.read(environment, Map.of(), Path.of(".")).config();
        return Routes.of(config, hasMany).stream()
                .filter(route -> route.method().isHttpMethod())
                .map(route -> route.method() + " " + route.path())
                .collect(Collectors.toCollection(TreeSet::new));
    }

    @Test
    void itIsOpenApi() throws Exception {
        Files.createSymbolicLink(models.resolve("a b"), TestServer.SAMPLE_ARTIFACT);
        try (var talking = TestServer.with(new RememberingHandler(Duration.ofMinutes(5)))
                        .start();
                var many = TestServer.ofDirectory(models).start()) {
            var schema = SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                    .getSchema(Files.readString(Path.of("src/test/resources/openapi/schema-3.1.json")));
            for (var server : List.of(questions, talking, many)) {
                var text = server.get("/openapi.json").body();
                assertThat(schema.validate(text, InputFormat.JSON)).isEmpty();
                assertThat(JSON.readTree(text).findValuesAsText("$ref"))
                        .isNotEmpty()
                        .allSatisfy(reference -> assertThat(JSON.readTree(text)
                                        .at(reference.substring(1))
                                        .isMissingNode())
                                .as(reference)
                                .isFalse());
            }
            assertThat(schema.validate("{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"x\"}}", InputFormat.JSON))
                    .isNotEmpty();
        }
    }

    @Test
    void itSaysWhatTheModelTakesAndGives() throws Exception {
        var ask = document(questions).at("/paths/~1invocations/post");
        assertThat(ask.at("/requestBody/content/application~1json/examples/model/value/question")
                        .asText())
                .isEqualTo("Where was Marie Curie born?");
        assertThat(ask.at("/requestBody/content/application~1jsonlines/examples/model/value")
                        .asText())
                .startsWith("{\"question\":");
        assertThat(ask.at("/requestBody/content").has("text/csv")).isTrue();
        assertThat(ask.at("/responses/200/content/application~1json/examples/model/value/answer")
                        .asText())
                .isEqualTo("Warsaw");
        assertThat(ask.path("responses").properties())
                .extracting(Map.Entry::getKey)
                .containsExactlyInAnyOrder("200", "default");
        assertThat(ask.path("parameters").findValuesAsText("name")).doesNotContain("X-Amzn-SageMaker-Session-Id");
        try (var server =
                TestServer.with(new RememberingHandler(Duration.ofMinutes(5))).start()) {
            assertThat(document(server)
                            .at("/paths/~1invocations/post/parameters")
                            .findValuesAsText("name"))
                    .contains("X-Amzn-SageMaker-Session-Id");
        }
    }

    /// Generated clients take the form of requests and answers from it.
    @Test
    void theFormsOfRequestsAndAnswersAreThoseOfTheSample() throws Exception {
        var ask = document(questions).at("/paths/~1invocations/post");
        assertThat(ask.at("/requestBody/content/application~1json/schema")).isEqualTo(JSON.readTree("""
                {"title": "ModelRequest", "type": "object", "required": ["question", "context"],
                  "properties": {"question": {"type": "string"}, "context": {"type": "string"}}}
                """));
        assertThat(ask.at("/responses/200/content/application~1json/schema/properties"))
                .isEqualTo(JSON.readTree("""
                {"score": {"type": "number"}, "start": {"type": "number"}, "end": {"type": "number"},
                  "answer": {"type": "string"}}
                """));
        assertThat(ask.at("/requestBody/content/text~1csv/schema/type").asText())
                .isEqualTo("string");
    }

    /// What generators of clients need.
    @Test
    void clientsFindTheServerAndEachOperationHasANameOfItsOwn() throws Exception {
        try (var one = TestServer.with(new OpenAiHandler()).start();
                var many = TestServer.ofDirectory(models).start()) {
            for (var server : List.of(one, many)) {
                var document = document(server);
                assertThat(document.at("/servers/0/url").asText())
                        .isEqualTo("http://127.0.0.1:%d".formatted(server.port()));
                assertThat(document.findValuesAsText("operationId"))
                        .hasSameSizeAs(described(server))
                        .doesNotHaveDuplicates()
                        .contains("getPing", "getV2ModelsNameReady");
            }
        }
    }

    @Test
    void pathsOfOpenAiAreThereOnlyWhereTheModelAnswersThem() throws Exception {
        try (var texts = TestServer.with(new OpenAiHandler()).start()) {
            assertThat(described(questions)).doesNotContain("POST /v1/embeddings", "POST /v1/completions");
            var embeddings = document(texts).at("/paths/~1v1~1embeddings/post");
            assertThat(embeddings.at("/requestBody/content").properties()).hasSize(1);
            assertThat(embeddings
                            .at("/requestBody/content/application~1json/schema/required/0")
                            .asText())
                    .isEqualTo("input");
            assertThat(embeddings
                            .at("/responses/default/content/application~1json/schema/$ref")
                            .asText())
                    .endsWith("/NestedError");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
          GET  | /ping                | /ping                   | 200 |
          POST | /invocations         | /invocations            | 200 | {"question": "Who?", "context": "Bob came."}
          POST | /invocations         | /invocations            | 400 | {"question": "", "context": ""}
          POST | /inferences          | /inferences             | 400 | [
          GET  | /execution-parameters | /execution-parameters  | 200 |
          GET  | /invocations-bidirectional-stream | /invocations-bidirectional-stream | 400 |
          GET  | /metrics             | /metrics                | 200 |
          GET  | /v2                  | /v2                     | 200 |
          GET  | /v2/health/live      | /v2/health/live         | 200 |
          GET  | /v2/health/ready     | /v2/health/ready        | 200 |
          GET  | /v2/models/{name}    | /v2/models/model        | 200 |
          GET  | /v2/models/{name}    | /v2/models/nope         | 404 |
          GET  | /v2/models/{name}/ready | /v2/models/model/ready | 200 |
          GET  | /v2/models/{name}/versions/{version}/ready | /v2/models/model/versions/7/ready | 404 |
          POST | /v2/models/{name}/infer | /v2/models/model/infer | 400 | {}
          POST | /v2/models/{name}/infer | /v2/models/model/infer | 200 | {"inputs": [{"name": "question", "shape": [1], "datatype": "BYTES", "data": ["Who?"]}, {"name": "context", "shape": [1], "datatype": "BYTES", "data": ["Bob came."]}]}
          POST | /predict             | /predict                | 200 | {"instances": [{"question": "Who?", "context": "Bob came."}]}
          POST | /predict             | /predict                | 400 | {"instances": 1}
          POST | /v1/models/{name}:predict | /v1/models/model:predict | 200 | {"instances": [{"question": "Who?", "context": "Bob came."}]}
          GET  | /v1/models/{name}    | /v1/models/model        | 200 |
          GET  | /v1/models/{name}    | /v1/models/nope         | 404 |
          GET  | /v2/models/{name}    | /v2/models/%ff          | 400 |
          GET  | /                    | /                       | 200 |
          GET  | /openapi.json        | /openapi.json           | 200 |
          GET  | /page/models         | /page/models            | 200 |
          GET  | /page/sample         | /page/sample?model=nope | 404 |
          GET  | /page/{file}         | /page/%ff               | 400 |
          GET  | /page/{file}         | /page/nope              | 404 |
          """)
    void answersAreWhatTheDocumentSays(String method, String path, String asked, int status, String body)
            throws Exception {
        var answer = questions.send(HttpRequest.newBuilder(questions.uri(asked))
                .header("Content-Type", "application/json")
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build());
        assertStatus(answer, status);
        var document = document(questions);
        var declared = document.path("paths")
                .path(path)
                .path(method.toLowerCase(Locale.ROOT))
                .path("responses")
                .path(status == 200 ? "200" : "default");
        assertThat(declared.path("description").asText()).isNotEmpty();
        if (answer.headers().firstValue("Content-Type").orElse("").startsWith("application/json")) {
            ObjectNode schema = declared.at("/content/application~1json/schema").deepCopy();
            schema.set("components", document.path("components"));
            assertThat(SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                            .getSchema(schema.toString())
                            .validate(answer.body(), InputFormat.JSON))
                    .as(answer.body())
                    .isEmpty();
        }
    }

    /// A sample that is not JSON is no example, and neither is one that is too long.
    @Test
    void aBadSampleIsLeftOut() throws Exception {
        Files.writeString(Files.createDirectories(models.resolve("broken")).resolve("sample.json"), "{");
        Files.writeString(
                Files.createDirectories(models.resolve("long")).resolve("sample.json"),
                "\"%s\"".formatted("x".repeat(65536)));
        try (var server = TestServer.ofDirectory(models).start()) {
            var content = document(server).at("/paths/~1models~1{name}~1invoke/post/requestBody/content");
            assertThat(content)
                    .isEqualTo(JSON.readTree("{\"application/json\": {\"schema\": {}}, \"*/*\": {\"schema\": {}}}"));
        }
    }

    private static JsonNode document(TestServer server) throws Exception {
        return TestServer.json(server.get("/openapi.json"), 200);
    }
}
