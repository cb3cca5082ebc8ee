package dev.berth.examples;

import static dev.berth.testing.TestServer.assertStatus;
import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The recommender of `examples/`, asked over HTTP.
class RecommenderTest {

    private static final Path EXAMPLE = Path.of("examples/recommender");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String LINES = "application/jsonlines";

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.artifact(EXAMPLE).start();
    }

    @Test
    void withoutKThereAreTenAndTheUserMayBeANumber() throws Exception {
        var answer = answer("{\"user_id\": 114521}");
        assertThat(answer.path("user_id").textValue()).isEqualTo("114521");
        assertThat(items(answer)).hasSize(10);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      {"user_id": "7"}                  | user_id: found the unknown user "7", expected one of the 2000 in users.csv.gz
      {"user_id": -1}                   | user_id: found the unknown user "-1", expected one of the 2000 in users.csv.gz
      {"k": 3}                          | user_id: found nothing, expected a text or a whole number
      {"user_id": null}                 | user_id: found null, expected a text or a whole number
      {"user_id": [114521]}             | user_id: found a list, expected a text or a whole number
      {"user_id": 114521.0}             | user_id: found 114521.0, expected a text or a whole number
      {"user_id": "114521", "k": 0}     | k: found 0, expected a whole number from 1 to 1000
      {"user_id": "114521", "k": -3}    | k: found -3, expected a whole number from 1 to 1000
      {"user_id": "114521", "k": 1001}  | k: found 1001, expected a whole number from 1 to 1000
      {"user_id": "114521", "k": 1e9}   | k: found 1.0E9, expected a whole number from 1 to 1000
      {"user_id": "114521", "k": 2.5}   | k: found 2.5, expected a whole number from 1 to 1000
      {"user_id": "114521", "k": "3"}   | k: found the text "3", expected a whole number from 1 to 1000
      {"user_id": "114521", "k": {}}    | k: found an object, expected a whole number from 1 to 1000
      {"user_id": "114521", "top": 3}   | body: found the unknown field "top", expected one of user_id, k
      "114521"                          | body: found the text "114521", expected an object
      [{"user_id": "114521"}, true]     | [1]: found true, expected an object
      [{"user_id": "114521", "k": 0}]   | [0].k: found 0, expected a whole number from 1 to 1000
      {"user_id": "114521"              | body: not JSON at column 21: found unexpected end-of-input
      {"user_id": "114521"} {"k": 1}    | body: found a second JSON value at column 23, expected one
      """)
    void whatIsWrongIsNamed(String body, String message) throws Exception {
        assertThat(refusal(server.invoke(body, "Content-Type", "application/json")))
                .startsWith(message);
    }

    @Test
    void anEmptyBodyALongTextAndDeepJsonAreRefusedInAFewWords() throws Exception {
        assertThat(refusal(server.invoke(" \n", "Content-Type", "application/json")))
                .startsWith("body: found nothing");
        assertThat(refusal(server.invoke("\n\n", "Content-Type", LINES))).startsWith("line 1: found a blank line");
        assertThat(refusal(server.invoke("{\"user_id\":\n \"114521\",}", "Content-Type", "application/json")))
                .startsWith("body: not JSON at line 2, column 11: ");
        assertThat(refusal(server.invoke("{\"%s\": 1}".formatted("x".repeat(500)), "Content-Type", "application/json")))
                .startsWith("body: found the unknown field \"xxx")
                .contains("x…\"")
                .hasSizeLessThan(140);
        assertThat(refusal(server.invoke("[".repeat(100_000), "Content-Type", "application/json")))
                .startsWith("body: not JSON: found document nesting depth (1001)");
    }

    @Test
    void aRequestMayNotAskForMoreItemsThanFitInMemory() throws Exception {
        var body = "{\"user_id\": \"114521\", \"k\": 1000}\n".repeat(3001);
        assertThat(refusal(server.invoke(body, "Content-Type", LINES)))
                .isEqualTo(
                        "body: found 3001 queries for 3001000 items in all, expected at most 3000000 items in a request");
    }

    @Test
    void aListIsAnsweredByAListInItsOrder() throws Exception {
        var answers = answer("[{\"user_id\": \"115000\", \"k\": 2}, {\"user_id\": \"113001\", \"k\": 1}]");
        assertThat(answers.isArray()).isTrue();
        assertThat(answers).extracting(one -> one.path("user_id").textValue()).containsExactly("115000", "113001");
        assertThat(answers)
                .extracting(one -> one.path("recommendations").size())
                .containsExactly(2, 1);
        assertThat(answer("[{\"user_id\": \"115000\"}]").isArray()).isTrue();
        assertThat(answer("[]")).isEqualTo(JSON.createArrayNode());
    }

    @Test
    @Tag("BAT-07")
    @Tag("BAT-09")
    void aLineIsAnsweredByALine() throws Exception {
        var lines = lines(server, "{\"user_id\": \"115000\"}\r\n{\"user_id\": \"113001\"}\n");
        assertThat(lines).hasSize(2);
        assertThat(lines.get(0).path("user_id").textValue()).isEqualTo("115000");
        assertThat(lines.get(1).path("user_id").textValue()).isEqualTo("113001");

        var json = server.invoke("{\"user_id\": \"115000\"}", "Content-Type", LINES, "Accept", "application/json");
        assertThat(json(json, 200).isArray()).as(json.body()).isTrue();
    }

    @Test
    @Tag("BAT-08")
    @Tag("BAT-16")
    void aBadLineFailsTheRequestOrKeepsItsPlace() throws Exception {
        var body = """
        {"user_id": "115000"}
        {"user_id": "7"}

        {"user_id":
        {"user_id": "\\ud83d"}
        {"user_id": "113001"}
        """;
        assertThat(refusal(server.invoke(body, "Content-Type", LINES, "Accept", LINES)))
                .isEqualTo("line 2: user_id: found the unknown user \"7\", expected one of the 2000 in users.csv.gz");

        try (var keeping =
                TestServer.artifact(EXAMPLE).set("BERTH_BAD_RECORDS", "keep").start()) {
            var lines = lines(keeping, body);
            assertThat(lines).hasSize(6);
            assertThat(lines)
                    .extracting(line -> line.path("user_id").asText())
                    .containsExactly("115000", "", "", "", "", "113001");
            assertThat(lines.get(1).path("error").textValue())
                    .startsWith("line 2: user_id: found the unknown user \"7\"");
            assertThat(lines.get(2).path("error").textValue()).startsWith("line 3: found a blank line");
            assertThat(lines.get(3).path("error").textValue()).startsWith("line 4: not JSON at column 12: ");
            assertThat(lines.get(4).path("error").textValue()).startsWith("line 5: user_id: found the unknown user");

            var json = keeping.invoke("[{\"user_id\": \"7\"}]", "Content-Type", "application/json");
            assertThat(refusal(json)).as("JSON is one document, not lines").startsWith("[0].user_id: ");
        }
    }

    @Test
    @Tag("HDR-08")
    @Tag("HDR-09")
    void otherTypesAreRefused() throws Exception {
        assertStatus(server.invoke("114521", "Content-Type", "text/csv"), 415);
        var csv = server.invoke("{\"user_id\": \"114521\"}", "Content-Type", "application/json", "Accept", "text/csv");
        assertStatus(csv, 406);
    }

    @Test
    void damagedRequestsAreAnsweredOrRefused() throws Exception {
        var whole = "{\"user_id\": \"114521\", \"k\": 3}\n{\"user_id\": 113001}".getBytes(StandardCharsets.UTF_8);
        var random = new Random(1);
        for (int i = 0; i < 2 * whole.length; i++) {
            var body = i < whole.length ? Arrays.copyOf(whole, i) : whole.clone();
            if (i >= whole.length) {
                body[i - whole.length] ^= (byte) (1 << random.nextInt(Byte.SIZE));
            }
            var response = server.invoke(BodyPublishers.ofByteArray(body), "Content-Type", LINES, "Accept", LINES);
            assertThat(response.statusCode()).as(response.body()).isIn(200, 400);
        }
    }

    private static JsonNode answer(String body) throws Exception {
        return json(server.invoke(body, "Accept", "application/json"), 200);
    }

    private static List<JsonNode> lines(TestServer server, String body) throws Exception {
        var response = server.invoke(body, "Content-Type", LINES, "Accept", LINES);
        assertStatus(response, 200);
        var lines = new ArrayList<JsonNode>();
        for (var line : response.body().split("\n", -1)) {
            lines.add(JSON.readTree(line));
        }
        return lines;
    }

    /// The recommended items with their scores, in their order.
    static List<Map.Entry<String, Double>> items(JsonNode answer) {
        return answer.path("recommendations")
                .valueStream()
                .flatMap(one -> one.propertyStream()
                        .map(item -> Map.entry(item.getKey(), item.getValue().doubleValue())))
                .toList();
    }

    /// The message of a 400.
    private static String refusal(HttpResponse<String> response) throws IOException {
        return json(response, 400).path("message").textValue();
    }
}
