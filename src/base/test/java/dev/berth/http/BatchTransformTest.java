package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.config.Configuration;
import dev.berth.config.ServingConfig;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// The server's side of a batch-transform job.
class BatchTransformTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final List<String> CITIES =
            List.of("Paris", "London", "Berlin", "Madrid", "Rome", "Vienna", "Oslo", "Tokyo");

    private static final String[] LINES = {"Content-Type", "application/jsonlines", "Accept", "application/jsonlines"};

    @AutoClose
    private static TestServer batch;

    @BeforeAll
    static void start() throws Exception {
        batch = TestServer.sample().start("SAGEMAKER_BATCH=true");
    }

    @Test
    @Tag("BAT-01")
    @Tag("BAT-02")
    @Tag("BAT-05")
    void executionParametersHoldTheThreeKnownKeys() throws Exception {
        var response = batch.get("/execution-parameters");
        assertThat(response.headers().firstValue("Content-Type")).contains("application/json");
        var json = JSON.readTree(response.body());
        assertThat(json.fieldNames())
                .toIterable()
                .containsExactlyInAnyOrder("MaxConcurrentTransforms", "BatchStrategy", "MaxPayloadInMB");
        assertThat(json.path("MaxConcurrentTransforms").isInt()).isTrue();
        assertThat(json.path("MaxPayloadInMB").isInt()).isTrue();
        assertThat(json.path("MaxConcurrentTransforms").asInt()
                        * json.path("MaxPayloadInMB").asInt())
                .isBetween(1, 100);
        assertThat(json.path("BatchStrategy").asText()).isEqualTo("MULTI_RECORD");
    }

    @Test
    @Tag("BAT-02")
    @Tag("BAT-04")
    void executionParametersFollowThePlatformsVariables() throws Exception {
        try (var server = TestServer.with(new TextHandler())
                .start(
                        "SAGEMAKER_BATCH=true",
                        "SAGEMAKER_BATCH_STRATEGY=SINGLE_RECORD",
                        "SAGEMAKER_MAX_CONCURRENT_TRANSFORMS=10",
                        "SAGEMAKER_MAX_PAYLOAD_IN_MB=20")) {
            assertThat(server.get("/execution-parameters").body())
                    .isEqualTo(
                            "{\"MaxConcurrentTransforms\":10,\"BatchStrategy\":\"SINGLE_RECORD\",\"MaxPayloadInMB\":10}");
        }
    }

    /// As local mode writes the first, and nobody else.
    @ParameterizedTest
    @CsvSource({
        "SAGEMAKER_BATCH=True, 200, MultiRecord",
        "BERTH_EXECUTION_PARAMETERS=local-mode, 200, MultiRecord",
        "BERTH_EXECUTION_PARAMETERS=off, 404, not_found"
    })
    @Tag("BAT-01")
    @Tag("BAT-03")
    void localModeGetsItsSpellingOrA404(String variable, int status, String said) throws Exception {
        try (var server = TestServer.with(new TextHandler()).start(variable)) {
            assertStatus(server.get("/execution-parameters"), status, '"' + said + '"');
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n", "\r\n"})
    @Tag("BAT-06")
    void oneLineIsOnePredictionWithAndWithoutItsNewline(String end) throws Exception {
        var response = batch.invoke("Who came?,Bob came." + end, "Content-Type", "text/csv", "Accept", "text/csv");
        assertThat(response.body()).startsWith("Bob,").doesNotContain("\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\n", "\r\n"})
    @Tag("BAT-07")
    @Tag("BAT-10")
    void linesAreAnsweredInTheirOrderWithoutABlankLineAtTheEnd(String newline) throws Exception {
        for (var last : List.of("", newline)) {
            var body = CITIES.stream().map(BatchTransformTest::line).collect(Collectors.joining(newline)) + last;
            var response = batch.invoke(body, LINES);
            assertThat(answers(response)).isEqualTo(CITIES);
            assertThat(response.body()).doesNotEndWith("\n");
        }
    }

    @Test
    @Tag("BAT-10")
    @Tag("BAT-11")
    void miniBatchesJoinToOneRecordALineUnderBothWaysToAssemble() throws Exception {
        var twoLines = line("Paris") + "\n" + line("Rome") + "\n";
        for (var type : List.of("application/jsonlines", "text/csv")) {
            // AssembleWith=Line adds a newline after each response.
            var response = batch.invoke(twoLines, "Content-Type", "application/jsonlines", "Accept", type);
            assertThat((response.body() + "\n" + response.body() + "\n").split("\n", -1))
                    .hasSize(5);
        }
        try (var server = TestServer.sample().start("BERTH_TRAILING_NEWLINE=true")) {
            for (var type : List.of("application/jsonlines", "text/csv")) {
                // AssembleWith=None joins the bytes as they are.
                var response = server.invoke(twoLines, "Content-Type", "application/jsonlines", "Accept", type);
                assertThat((response.body() + response.body()).split("\n", -1)).hasSize(5);
            }
        }
    }

    /// Each newline ends a row, so all but the last one belong to rows.
    @ParameterizedTest
    @ValueSource(strings = {"SAGEMAKER_BATCH=true", "SAGEMAKER_BATCH=false", "BERTH_TRAILING_NEWLINE=true"})
    @Tag("BAT-10")
    @Tag("BAT-11")
    void blankRowsAtTheEndOfAnAnswerStay(String variable) throws Exception {
        var rows = TextHandler.reading(request -> List.of(request.text()));
        boolean isKept = variable.startsWith("BERTH_TRAILING_NEWLINE");
        try (var server = TestServer.with(rows).start(variable)) {
            for (var type : List.of("application/jsonlines", "text/csv")) {
                var headers = new String[] {"Content-Type", TextHandler.TEXT, "Accept", type};
                for (var body : List.of("X,\n\n", "X\r\n\r\n", "\n", "", "X")) {
                    for (var end : List.of("\n", "\r\n")) {
                        assertThat(server.invoke(body + end, headers).body()).isEqualTo(isKept ? body + end : body);
                    }
                }
                assertThat(server.invoke("x", headers).body()).isEqualTo(isKept ? "X\n" : "X");
            }
        }
    }

    @Test
    @Tag("BAT-08")
    void blankLinesAtTheEndDoNotCountAndOneAmongOthersIsABadRecord() throws Exception {
        assertThat(answers(batch.invoke(line("Paris") + "\n\n\n", LINES))).containsExactly("Paris");
        var refused = batch.invoke(line("Paris") + "\n\n" + line("Rome"), LINES);
        assertStatus(refused, 400, "line 2");
    }

    @Test
    @Tag("BAT-16")
    void oneBadRecordFailsTheRequestOrKeepsItsPlaceAsTheOperatorChose() throws Exception {
        var body = line("Paris") + "\n{\"question\": 5}\n\n" + line("Rome");
        assertThat(batch.invoke(body, LINES).statusCode()).isEqualTo(400);
        try (var server = TestServer.sample().start("BERTH_BAD_RECORDS=keep")) {
            var kept = server.invoke(body, LINES).body().split("\n");
            assertThat(kept).hasSize(4);
            assertThat(JSON.readTree(kept[0]).path("answer").asText()).isEqualTo("Paris");
            assertThat(JSON.readTree(kept[1]).path("error").asText()).contains("line 2", "question");
            assertThat(JSON.readTree(kept[2]).path("error").asText()).contains("line 3: found a blank line");
            assertThat(JSON.readTree(kept[3]).path("answer").asText()).isEqualTo("Rome");

            var csv = server.invoke(
                    "Who came?,Bob came.\nonly one column\n", "Content-Type", "text/csv", "Accept", "text/csv");
            assertThat(csv.body().split("\n")[1]).contains("ERROR: row 2: found 1 column");

            var json = server.invoke("[" + line("Paris") + ", 5]", "Content-Type", "application/json");
            assertThat(json.statusCode()).as("JSON is one document, not lines").isEqualTo(400);
        }
    }

    @Test
    @Tag("BAT-15")
    void parallelPostsAreAnsweredWithoutMixing() throws Exception {
        var posts = new HashMap<String, CompletableFuture<HttpResponse<String>>>();
        for (var city : CITIES) {
            var body = IntStream.range(0, 20).mapToObj(_ -> line(city)).collect(Collectors.joining("\n"));
            posts.put(city, batch.invokeAsync(body, LINES));
        }
        for (var post : posts.entrySet()) {
            assertThat(answers(post.getValue().get())).hasSize(20).containsOnly(post.getKey());
        }
    }

    /// The job's longest InvocationsTimeoutInSeconds. A request of nine minutes was run by hand;
    /// here, that nothing on its way ends it earlier.
    @Test
    @Tag("BAT-18")
    void nothingEndsARequestBeforeTheJobDoes() {
        var longest = Duration.ofHours(1);
        var config = Configuration.read(Map.of("SAGEMAKER_BATCH", "True"), Map.of(), Path.of("."))
                .config();
        assertThat(config.get(ServingConfig.TIMEOUT)).isEqualTo(longest);
        assertThat(Invocations.idle(config)).isGreaterThan(longest);
    }

    private static String line(String city) {
        return "{\"question\": \"Where does Anna live?\", \"context\": \"Anna lives in %s.\"}".formatted(city);
    }

    private static List<String> answers(HttpResponse<String> response) throws Exception {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        var answers = new ArrayList<String>();
        for (var line : response.body().split("\n")) {
            answers.add(JSON.readTree(line).path("answer").asText());
        }
        return answers;
    }
}
