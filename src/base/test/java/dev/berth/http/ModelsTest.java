package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The routes of a multi-model endpoint, one after another.
class ModelsTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String QUESTION = """
      {"question": "What is the capital of France?", "context": "The capital of France is Paris."}""";

    @TempDir
    static Path directory;

    @AutoClose
    private static TestServer server;

    private static Path text;

    @BeforeAll
    static void start() throws Exception {
        text = CodeArtifact.compiled(directory).directory();
        server = TestServer.ofModels().start("SAGEMAKER_MODEL_SERVER_WORKERS=1");
    }

    @Test
    @Tag("MME-01")
    @Tag("MME-02")
    @Tag("MME-06")
    @Tag("MME-09")
    @Tag("MME-11")
    @Tag("MME-14")
    @Tag("MME-15")
    void aModelIsLoadedListedAskedUnloadedAndLoadedAgain() throws Exception {
        var loaded = server.load("m1", TestServer.SAMPLE_ARTIFACT);
        assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
        assertAnswers("m1");
        var again = server.load("m1", TestServer.SAMPLE_ARTIFACT);
        assertStatus(again, 409, "model \\\"m1\\\" is loaded already", "\"type\":\"conflict\"", "\"code\":409");

        var entry = "{\"modelName\":\"m1\",\"modelUrl\":\"%s\"}".formatted(TestServer.SAMPLE_ARTIFACT);
        assertThat(server.get("/models").body()).isEqualTo("{\"models\":[%s]}".formatted(entry));
        var described = server.describe("m1");
        assertThat(described.headers().firstValue("Content-Type")).contains("application/json");
        assertThat(described.body()).isEqualTo(entry);

        assertThat(server.unload("m1").statusCode()).isEqualTo(200);
        assertThat(server.unload("m1").statusCode()).isEqualTo(404);
        assertThat(server.ask("m1", QUESTION).statusCode()).isEqualTo(404);
        assertThat(server.get("/models").body()).isEqualTo("{\"models\":[]}");
        assertThat(server.load("m1", TestServer.SAMPLE_ARTIFACT).statusCode()).isEqualTo(200);
        assertAnswers("m1");
        server.unload("m1");
    }

    private static void assertAnswers(String model) {
        var answer = server.ask(
                model,
                QUESTION,
                "Content-Type",
                "application/json",
                "Accept",
                "application/json",
                "X-Amzn-SageMaker-Custom-Attributes",
                "trace=1",
                "X-Amzn-SageMaker-Target-Model",
                "dir/m1.tar.gz");
        assertStatus(answer, 200, "Paris");
    }

    @Test
    @Tag("MME-11")
    void anAnswerIsTheOneOfAServerWithOneModel() throws Exception {
        server.load("same", TestServer.SAMPLE_ARTIFACT);
        try (var one = TestServer.sample().start("SAGEMAKER_MODEL_SERVER_WORKERS=1")) {
            assertSame(server.ask("same", QUESTION), one.invoke(QUESTION), 200);
            var lines = new String[] {"Content-Type", "application/jsonlines", "Accept", "application/jsonlines"};
            assertSame(server.ask("same", QUESTION, lines), one.invoke(QUESTION, lines), 200);
            assertSame(server.ask("same", "{"), one.invoke("{"), 400);
            assertSame(
                    server.ask("same", QUESTION, "Accept", "image/png"),
                    one.invoke(QUESTION, "Accept", "image/png"),
                    406);
            assertSame(
                    server.ask("same", QUESTION, "Content-Type", "image/png"),
                    one.invoke(QUESTION, "Content-Type", "image/png"),
                    415);
        } finally {
            server.unload("same");
        }
    }

    private static void assertSame(HttpResponse<String> found, HttpResponse<String> expected, int status) {
        assertThat(found.statusCode()).as(found.body()).isEqualTo(status);
        assertThat(found.statusCode()).isEqualTo(expected.statusCode());
        assertThat(found.body()).isEqualTo(expected.body());
        assertThat(found.headers().firstValue("Content-Type"))
                .isEqualTo(expected.headers().firstValue("Content-Type"));
    }

    @Test
    @Tag("MME-11")
    void theLogNamesTheModelAndTheArtifactThatTheCallerAskedFor() throws Exception {
        server.load("logged", text);
        try (var log = new CapturedLog()) {
            server.ask("logged", "a", "X-Amzn-SageMaker-Target-Model", "dir/a.tar.gz");
            assertStatus(server.ask("logged", "a", "X-Amzn-SageMaker-Target-Model", "a b"), 200);
            server.unload("logged");
            assertThat(log.text())
                    .contains(
                            "POST /models/logged/invoke for dir/a.tar.gz 200",
                            "/invoke for \"a b\" 200",
                            "model \"logged\" is unloaded");
            assertThat(log.events())
                    .anySatisfy(event ->
                            assertThat(event.getMDCPropertyMap()).containsEntry("target_model", "dir/a.tar.gz"));
        }
    }

    @ParameterizedTest
    @Tag("MME-04")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
      {"url": "/tmp"}                              | model_name: found nothing, expected a string
      {"model_name": "m"}                          | url: found nothing, expected a string
      {"model_name": null, "url": "/tmp"}          | model_name: found null, expected a string
      {"model_name": 7, "url": "/tmp"}             | model_name: found 7, expected a string
      {"model_name": {}, "url": "/tmp"}            | model_name: found an object, expected a string
      {"model_name": "m", "url": ["/tmp"]}         | url: found a list, expected a string
      {"model_name": "m", "url": true}             | url: found true, expected a string
      {"model_name": "", "url": "/tmp"}            | model_name: found 0 characters, expected 1 to 256
      {"model_name": "m", "url": ""}               | url: found 0 characters, expected 1 to 4096
      {"model_name": "a\\nb", "url": "/tmp"}       | model_name: found a control character or half of a surrogate pair, expected none
      {"model_name": "m", "url": "/tmp\\u0000"}    | url: found a control character or half
      {"model_name": "\\ud800", "url": "/tmp"}     | model_name: found a control character or half
      {"model_name": "..", "url": "/tmp"}          | model_name: found \\"..\\", expected a name that a path can hold
      ["m", "/tmp"]                                | body: found a list, expected {\\"model_name\\": …, \\"url\\": …}
      "m"                                          | body: found the text \\"m\\", expected {\\"model_name\\": …, \\"url\\": …}
      {"model_name": "m", "url": "/tmp"            | body: not JSON at column 34: found unexpected end-of-input
      {"model_name": "m", "url": "/tmp"} x         | body: not JSON at column 3
      {"url": "a", "url": "/tmp"}                  | body: not JSON at column 21: found duplicate field 'url'
      model_name=m                                 | body: not JSON at column 1: found unrecognized token 'model_name', expected
      ``                                           | body: found nothing, expected a JSON value; a load is {\\"model_name\\": …, \\"url\\": …}
      """)
    void aBadLoadIsRejectedWithTheFieldAndWhatItHolds(String body, String message) throws Exception {
        var response = post(body, "application/json");
        assertThat(response.body()).contains("{\"message\":\"" + message, "\"type\":\"bad_input\"");
        assertThat(response.statusCode()).isEqualTo(400);
    }

    /// A page can have a browser send any body of another type, or of none.
    @ParameterizedTest
    @CsvSource(
            nullValues = "none",
            value = {"none", "text/plain", "application/x-www-form-urlencoded"})
    void aLoadSaysThatItIsJson(String type) throws Exception {
        var refused = post("{\"model_name\": \"m\", \"url\": \"/nope\"}", type);
        assertStatus(refused, 415, "Content-Type: found " + (type == null ? "nothing" : "\\\"" + type));
    }

    @Test
    @Tag("MME-04")
    void aLoadMayHaveFieldsThatNobodyKnows() throws Exception {
        var body = "{\"model_name\": \"extra\", \"url\": \"%s\", \"preload\": {\"pin\": true}}".formatted(text);
        assertThat(post(body, "application/json; charset=utf-8").statusCode()).isEqualTo(200);
        assertThat(server.unload("extra").statusCode()).isEqualTo(200);
    }

    @Test
    @Tag("MME-04")
    void aLoadOfTooManyBytesOrTooLongANameIsRejected() throws Exception {
        var large = post("{\"model_name\": \"%s\"}".formatted("m".repeat(70_000)), "application/json");
        assertStatus(large, 413, "body: found more than 65536 bytes");
        var name = server.load("m".repeat(257), text);
        assertStatus(name, 400, "model_name: found 257 characters, expected 1 to 256");
    }

    @Test
    @Tag("MME-05")
    void aUrlThatDoesNotExistIs404AndAFileIs400() throws Exception {
        var nothing = server.load("nothing", directory.resolve("none"));
        assertStatus(nothing, 404, "url: found nothing at " + directory.resolve("none"));
        assertThat(server.load("s3", Path.of("s3://bucket/model")).statusCode()).isEqualTo(404);
        var file = server.load("file", Files.writeString(directory.resolve("model.tar.gz"), ""));
        assertStatus(file, 400, "url: found a file at");
    }

    @Test
    @Tag("MME-10")
    @Tag("MME-12")
    @Tag("MME-14")
    void aModelThatIsNotLoadedIs404() throws Exception {
        for (var response : List.of(server.describe("nope"), server.ask("nope", "a"), server.unload("nope"))) {
            assertStatus(response, 404, "model \\\"nope\\\" is not loaded", "\"type\":\"not_found\"");
        }
    }

    @ParameterizedTest
    @Tag("MME-18")
    @MethodSource("dev.berth.testing.ModelNames#all")
    void anyNameWorksEverywhere(String name) throws Exception {
        var loaded = server.load(name, text);
        assertThat(loaded.statusCode()).as(loaded.body()).isEqualTo(200);
        assertThat(server.load(name, text).statusCode()).isEqualTo(409);
        assertThat(JSON.readTree(server.describe(name).body()).get("modelName").textValue())
                .isEqualTo(name);
        assertThat(server.ask(name, "paris", "Content-Type", "text/plain", "Accept", "text/plain")
                        .body())
                .isEqualTo("PARIS");
        assertThat(JSON.readTree(server.get("/models").body()).findValuesAsText("modelName"))
                .containsExactly(name);
        assertThat(server.unload(name).statusCode()).isEqualTo(200);
        assertThat(server.describe(name).statusCode()).isEqualTo(404);
    }

    @Test
    @Tag("MME-07")
    @Tag("MME-08")
    void aListingHasPagesThatStayCompleteWhenModelsComeAndGo() throws Exception {
        var names = IntStream.range(0, 7).mapToObj(i -> "page-" + i).toList();
        for (var name : names) {
            assertThat(server.load(name, text).statusCode()).isEqualTo(200);
        }
        assertThat(pages("?limit=3")).containsExactly(names.subList(0, 3), names.subList(3, 6), names.subList(6, 7));
        assertThat(pages("?limit=7")).containsExactly(names);
        assertThat(pages("?limit=1000")).containsExactly(names);
        assertThat(pages("?limit=99999999999999999999")).containsExactly(names);
        assertThat(pages("?limit=007")).containsExactly(names);

        var first = JSON.readTree(server.get("/models?limit=3").body());
        server.unload("page-2");
        server.unload("page-4");
        server.load("page-20", text);
        var token = first.get("nextPageToken");
        assertThat(token.isTextual()).isTrue();
        var rest = JSON.readTree(
                server.get("/models?next_page_token=" + token.textValue()).body());
        assertThat(rest.findValuesAsText("modelName")).containsExactly("page-20", "page-3", "page-5", "page-6");
        assertThat(rest.has("nextPageToken")).isFalse();
        for (var name : server.get("/models").body().split("\"modelName\":\"")) {
            if (name.startsWith("page-")) {
                server.unload(name.substring(0, name.indexOf('"')));
            }
        }
    }

    private static List<List<String>> pages(String query) throws Exception {
        var pages = new ArrayList<List<String>>();
        JsonNode page;
        var next = query;
        do {
            page = JSON.readTree(server.get("/models" + next).body());
            pages.add(page.findValuesAsText("modelName"));
            next = query + "&next_page_token=" + page.path("nextPageToken").textValue();
        } while (page.has("nextPageToken"));
        return pages;
    }

    @Test
    @Tag("MME-07")
    void aPageHasAHundredModelsAtMost() throws Exception {
        for (int i = 0; i < 101; i++) {
            assertThat(server.load("many-%03d".formatted(i), text).statusCode()).isEqualTo(200);
        }
        assertThat(pages("?")).extracting(List::size).containsExactly(100, 1);
        assertThat(pages("?limit=1000")).extracting(List::size).containsExactly(100, 1);
        for (int i = 0; i < 101; i++) {
            assertThat(server.unload("many-%03d".formatted(i)).statusCode()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @Tag("MME-08")
    @ValueSource(
            strings = {
                "limit=x",
                "limit=0",
                "limit=-1",
                "limit=1.5",
                "limit=",
                "limit=%F0",
                "next_page_token=3",
                "next_page_token=YWZ0ZXI",
                "next_page_token=%20",
                "next_page_token=",
                "next_page_token=YWZ0ZXI6bQ=="
            })
    void aPageThatCannotBeIsRejected(String query) throws Exception {
        var response = server.get("/models?" + query);
        assertStatus(response, 400, query.startsWith("limit") ? "limit: found" : "next_page_token: found");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      PUT    | /models           | GET, POST
      DELETE | /models           | GET, POST
      POST   | /models/m1        | DELETE, GET
      GET    | /models/m1/invoke | POST
      """)
    void aWrongMethodIs405AndSaysWhichAreRight(String method, String path, String allowed) throws Exception {
        var response = server.send(HttpRequest.newBuilder(server.uri(path))
                .method(method, BodyPublishers.noBody())
                .build());
        assertThat(response.statusCode()).isEqualTo(405);
        assertThat(response.headers().firstValue("Allow")).contains(allowed);
        assertThat(response.body()).contains("%s %s: expected %s".formatted(method, path, allowed));
    }

    @ParameterizedTest
    @ValueSource(strings = {"/invocations", "/inferences", "/execution-parameters"})
    void thePathsOfOneModelSayWhatToCallInstead(String path) throws Exception {
        for (var response : List.of(server.get(path), server.invoke("a"))) {
            assertStatus(response, 404, "this server has many models; POST /models/{name}/invoke asks one");
        }
    }

    @Test
    void theMetricsCountByRouteAndNotByName() throws Exception {
        server.describe("some-name");
        server.ask("some-name", "a");
        server.get("/models/some-name/other");
        assertThat(server.get("/metrics").body())
                .contains("route=\"/models/{name}\",status=\"404\"", "route=\"/models/{name}/invoke\",status=\"404\"")
                .doesNotContain("some-name");
    }

    @Test
    @Tag("MME-21")
    void aServerWithOneModelSaysHowToStartOneWithMany() throws Exception {
        try (var one = CodeArtifact.hooks(Files.createDirectory(directory.resolve("one")), "")
                .server()
                .start()) {
            for (var response : List.of(one.get("/models"), one.load("m", text), one.unload("m"), one.ask("m", "a"))) {
                assertStatus(response, 404, "SAGEMAKER_MULTI_MODEL=true starts one", "\"type\":\"not_found\"");
            }
        }
    }

    private static HttpResponse<String> post(String body, String contentType) throws IOException, InterruptedException {
        var request = HttpRequest.newBuilder(server.uri("/models")).POST(BodyPublishers.ofString(body));
        if (contentType != null) {
            request.header("Content-Type", contentType);
        }
        return server.send(request.build());
    }
}
