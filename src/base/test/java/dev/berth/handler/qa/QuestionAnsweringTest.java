package dev.berth.handler.qa;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.TestServer;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Every form of a question and of its answer, asked of the sample model over HTTP.
class QuestionAnsweringTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String BELL =
            "{\"question\": \"Where was Bell born?\", \"context\": \"Bell was born in Scotland and lived in Canada.\"}";
    private static final String BOB = "{\"question\": \"Who came?\", \"context\": \"😀 Yesterday Bob came by train.\"}";

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.sample().start();
    }

    /// In code points, of which the face is one, and half of it another.
    @Test
    void anObjectIsAnsweredByAnObjectAndAListByAListInItsOrder() throws Exception {
        var answer = answer(BELL);
        assertThat(answer.path("answer").asText()).isEqualTo("Scotland");
        assertThat(answer.path("start").asInt()).isEqualTo(17);
        assertThat(answer.path("end").asInt()).isEqualTo(25);
        assertThat(answer.path("score").asDouble()).isBetween(0.1, 1.0);
        var answers = answer("[" + BOB + "," + BELL + "]");
        assertThat(answers).hasSize(2);
        assertThat(answers.path(0).path("answer").asText()).isEqualTo("Bob");
        assertThat(answers.path(0).path("start").asInt()).isEqualTo(12);
        assertThat(answers.path(1)).isEqualTo(answer);
        assertThat(ask("application/json", "application/json", "[]").body()).isEqualTo("[]");
        assertThat(answer(BOB.replace("😀", "\\ud83d")).path("start").asInt()).isEqualTo(12);
    }

    @Test
    void severalQuestionsAboutOneContextAreAnsweredByAList() throws Exception {
        var born = "Bell was born in Scotland and lived in Canada.";
        var questions = "\"question\": [\"Where was Bell born?\", \"Where did Bell live?\"], \"context\": ";
        var alone = answer(BELL);
        for (var contexts : List.of('"' + born + '"', "[\"%s\", \"%s\"]".formatted(born, born))) {
            var object = "{%s%s}".formatted(questions, contexts);
            for (var body : List.of(object, "{\"inputs\": %s}".formatted(object))) {
                var answers = answer(body);
                assertThat(answers).as(body).hasSize(2);
                assertThat(answers.path(0)).isEqualTo(alone);
                assertThat(answers.path(1).path("answer").asText()).isEqualTo("Canada");
            }
        }
    }

    @Test
    @Tag("HOOK-06")
    void theBodyOfHuggingFaceIsReadWithItsParameters() throws Exception {
        var one = answer("{\"inputs\": " + BELL + "}");
        assertThat(one.path("answer").asText()).isEqualTo("Scotland");
        var several = answer("{\"inputs\": " + BELL + ", \"parameters\": {\"top_k\": 3}}");
        assertThat(several).hasSize(3);
        assertThat(several.path(0)).isEqualTo(one);
        var lists = answer(
                "{\"inputs\": [" + BELL + "," + BOB + "], \"parameters\": {\"top_k\": 2, \"max_answer_len\": null}}");
        assertThat(lists).hasSize(2).allSatisfy(list -> assertThat(list).hasSize(2));
        var beside = "{\"question\": \"Who came?\", \"context\": \"Bob came.\", \"parameters\": {\"top_k\": 2}}";
        assertThat(answer(beside)).hasSize(2);
        assertThat(JSON.readTree(ask("application/jsonlines", "application/x-ndjson", beside)
                        .body()))
                .hasSize(2);
    }

    @Test
    void whereNoAnswerIsAllowedItMayWin() throws Exception {
        var answer = answer(
                "{\"inputs\": {\"question\": \"What is the boiling point of lead?\", \"context\": \"Tea is nice.\"},"
                        + " \"parameters\": {\"handle_impossible_answer\": true, \"top_k\": 100}}");
        assertThat(answer.valueStream().filter(a -> a.path("answer").asText().isEmpty()))
                .singleElement()
                .satisfies(a -> assertThat(a.path("end").asInt()).isZero());
    }

    @Test
    @Tag("BAT-09")
    void jsonLinesAreAnsweredByJsonLinesEachWithItsParameters() throws Exception {
        var body = "{\"inputs\": " + BELL + ", \"parameters\": {\"top_k\": 2}}\r\n" + BOB + "\n";
        var response = ask("application/jsonlines", "application/jsonlines", body);
        assertThat(response.headers().firstValue("Content-Type")).contains("application/jsonlines");
        var lines = response.body().split("\n", -1);
        assertThat(lines).hasSize(2);
        assertThat(JSON.readTree(lines[0])).hasSize(2);
        assertThat(JSON.readTree(lines[1]).path("answer").asText()).isEqualTo("Bob");
    }

    @Test
    @Tag("BAT-09")
    void anAnswerWithALineBreakStaysOnItsLine() throws Exception {
        var body =
                "{\"inputs\":{\"question\":\"What?\",\"context\":\"a\\nb\"},\"parameters\":{\"top_k\":9,\"align_to_words\":false}}";
        var response = ask("application/jsonlines", "application/jsonlines", body);
        assertThat(response.body()).doesNotContain("\n").contains("a\\nb");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
      Where was Bell born?,"Bell, they say, was ""born"" in Scotland."
      question,context\\nWhere was Bell born?,"Bell, they say, was ""born"" in Scotland."
      id,Context,Question\\n7,"Bell, they say,\\nwas ""born"" in Scotland.",Where was Bell born?
      """)
    void csvIsReadWithAndWithoutAHeader(String body) throws Exception {
        var response = ask("text/csv", "text/csv", body.replace("\\n", "\n") + "\n");
        assertStatus(response, 200);
        assertThat(response.body()).matches("Scotland,0\\.\\d+(E-\\d+)?,30,38");
    }

    @Test
    void aHeaderThatIsDeclaredAbsentIsARecord() throws Exception {
        assertThat(ask("text/csv; header=absent", "text/csv", "question,context\nWho came?,Bob came.")
                        .body()
                        .lines())
                .hasSize(2);
        var response = ask("text/csv; header=present", "text/csv", "Who came?,Bob came.");
        assertStatus(response, 400, "row 1", "expected the columns question and context");
    }

    @Test
    void everyFormGoesWithEveryOther() throws Exception {
        assertThat(json(ask("text/csv", "application/json", "Who came?,Bob came."))
                        .path(0)
                        .path("answer")
                        .asText())
                .isEqualTo("Bob");
        assertThat(ask("application/json", "text/csv", "[" + BELL + "," + BOB + "]")
                        .body()
                        .lines())
                .hasSize(2);
        assertThat(JSON.readTree(ask("application/json", "application/jsonlines", BELL)
                                .body())
                        .path("answer")
                        .asText())
                .isEqualTo("Scotland");
    }

    @Test
    void theRouteOfTheOldSampleAnswersToo() throws Exception {
        assertThat(server.post("/inferences", BELL).body())
                .isEqualTo(ask("application/json", "application/json", BELL).body());
    }

    @Test
    @Tag("BAT-17")
    void theSameRequestHasTheSameAnswerWhateverItsNeighboursAre() throws Exception {
        var alone = ask("application/json", "application/json", BELL).body();
        var among = server.invokeAsync("[" + BOB + "," + BELL + "]", "Content-Type", "application/json");
        for (int i = 0; i < 3; i++) {
            assertThat(ask("application/json", "application/json", BELL).body()).isEqualTo(alone);
        }
        assertThat(JSON.readTree(among.get().body()).path(1)).isEqualTo(JSON.readTree(alone));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
      application/json | {"question": "Who?", "contxt": "x"} | body: found an object with [question, contxt], expected one with inputs, or with question and context
      application/json | {"question": 7, "context": "x"} | question: found 7, expected a text
      application/json | {"input": "Who?"} | body: found an object with [input], expected one with inputs, or with question and context
      application/json | {"inputs": [{"q": "a"}]} | inputs[0]: found an object with [q], expected one with question and context
      application/json | {"question": ["a", 7], "context": "x"} | [1].question: found 7, expected a text
      application/json | {"question": ["a"], "contxt": "x"} | [0].context: found nothing
      application/json | {"inputs": {"question": ["a", "b"], "context": ["x"]}} | inputs.context: found 1 for 2 questions, expected as many, or one text for all
      application/jsonlines | {"question": ["a"], "context": "x"} | line 1: question: found a list, expected a text
      application/json | {"question": "", "context": "x"} | question: found \\"\\"
      application/json | [{"question": "a", "context": "b"}, 5] | [1]: found 5, expected an object
      application/json | {"inputs": [{"question": "a"}]} | inputs[0].context: found nothing
      application/json | {"inputs": {"question": "a", "context": "b"}, "parameters": {"topk": 1}} | expected top_k
      application/json | {"inputs": {"question": "a", "context": "b"}, "parameters": {"zzzzzzzzz": 1}} | one of top_k
      application/json | {"inputs": {"question": "a", "context": "b"}, "parameters": {"top_k": 0}} | parameters.top_k: found 0, expected a whole number from 1 to 1000
      application/json | {"inputs": {"question": "a", "context": "b"}, "parameters": {"top_k": 1.5}} | found 1.5
      application/json | {"inputs": {"question": "a", "context": "b"}, "parameters": {"align_to_words": "no"}} | expected true or false
      application/json | {"inputs": {"question": "a", "context": "b"}, "parameters": {"max_seq_len": 513}} | from 1 to 512
      application/json | {"inputs": {"question": "a", "context": "b"}, "parameters": {"max_seq_len": 4}} | parameters.max_seq_len: found 4, expected at least 5
      application/json | {"inputs": {"question": "a", "context": "b"}, "parameters": {"doc_stride": 384}} | parameters.doc_stride: found 384, expected less than max_seq_len, which is 384
      application/json | {"inputs": {"question": "a", "context": "b"}, "parameters": [] } | parameters: found a list, expected an object
      application/json | "hello" | body: found the text
      application/json | {"question": "a", | not JSON at column
      application/json | {"question": "a", "context": "b"} {} | found a second JSON value at column
      application/json | {"question": "a", "context": "b", "parameters": {"top_k": -1}} | parameters.top_k: found -1
      text/csv | question,ctx\\na,b | row 1: found the header
      application/json | {"question": "a", "context": "\\u200b"} | context: found no character that the model's tokenizer keeps
      application/jsonlines | {"question": "a", "context": "b"}\\n\\n{"question": "a", "context": "b"} | line 2: found a blank line
      application/jsonlines | {"question": "a", "context": "b"}\\n{"question": "a"} | line 2: context: found nothing
      text/csv | a,b\\nc | row 2: found 1 column separated by commas, expected 2
      text/csv | a,"b | row 1, column 2: found
      """)
    @Tag("ERR-01")
    @Tag("BAT-08")
    @Tag("BAT-16")
    void aBadRequestIsToldWhatIsWrong(String contentType, String body, String message) throws Exception {
        var response = ask(contentType, "application/json", body.replace("\\n", "\n"));
        assertStatus(response, 400);
        assertThat(response.body())
                .startsWith("{\"message\":")
                .contains(message)
                .hasSizeLessThan(2048);
    }

    @Test
    void bytesThatAreNotUtf8AreNamedByTheirOffset() throws Exception {
        var response = server.invoke(
                BodyPublishers.ofByteArray(new byte[] {'{', '"', (byte) 0xff}), "Content-Type", "application/json");
        assertStatus(response, 400, "0xff", "offset 2", "UTF-8");
    }

    @Test
    void anotherCharsetIsReadWhereTheContentTypeNamesIt() throws Exception {
        var body = "Who came?,Jos\u00e9 came.".getBytes(java.nio.charset.StandardCharsets.ISO_8859_1);
        var response = server.invoke(
                BodyPublishers.ofByteArray(body), "Content-Type", "text/csv; charset=ISO-8859-1", "Accept", "text/csv");
        assertThat(response.body()).startsWith("José,");
        assertStatus(server.invoke("x", "Content-Type", "text/csv; charset=no-such"), 415);
    }

    private static HttpResponse<String> ask(String contentType, String accept, String body) throws Exception {
        return server.invoke(body, "Content-Type", contentType, "Accept", accept);
    }

    private static JsonNode answer(String body) throws Exception {
        return json(ask("application/json", "application/json", body));
    }

    private static JsonNode json(HttpResponse<String> response) throws Exception {
        assertStatus(response, 200);
        return JSON.readTree(response.body());
    }

    static Stream<Arguments> tooMuchOfJson() {
        return Stream.of(
                        "[".repeat(2000),
                        "{\"a\":".repeat(100_000),
                        "1".repeat(5000),
                        "0." + "1".repeat(100_000),
                        "{\"" + "k".repeat(100_000) + "\"")
                .flatMap(body ->
                        Stream.of("application/json", "application/jsonlines").map(type -> Arguments.of(type, body)));
    }

    @ParameterizedTest
    @MethodSource("tooMuchOfJson")
    @Tag("ERR-01")
    void jsonThatIsTooDeepOrTooLongIsABadRequest(String type, String body) throws Exception {
        var response = ask(type, "application/json", body);
        assertStatus(response, 400, "expected at most");
    }

    @Test
    void aStrideMustLeaveAWindowRoomToMoveOn() throws Exception {
        var context = "Bell was born in Scotland and lived in Canada. ".repeat(20);
        var longest = stride(context, 60 - 8 - 16);
        assertThat(json(longest).path("answer").asText()).isEqualTo("Scotland");
        assertThat(stride(context, 60 - 8 - 15).body())
                .contains("parameters.doc_stride: found 37, expected at most 36: "
                        + "a window holds 52 tokens of the context, and moves on by 16 or more");
        assertThat(json(stride("Bell was born in Scotland.", 59)).path("answer").asText())
                .as("one window has no neighbour")
                .isEqualTo("Scotland");
        assertThat(json(asked(context, Map.of("max_seq_len", 30)))
                        .path("answer")
                        .asText())
                .as("a stride that the request leaves out adapts to its windows")
                .isEqualTo("Scotland");
    }

    private static HttpResponse<String> stride(String context, int stride) throws Exception {
        return asked(context, Map.of("max_seq_len", 60, "doc_stride", stride));
    }

    private static HttpResponse<String> asked(String context, Map<String, ?> parameters) throws Exception {
        var request = Map.of("question", "Where was Bell born?", "context", context, "parameters", parameters);
        return ask("application/json", "application/json", JSON.writeValueAsString(request));
    }

    /// Longer than what is tokenised at once, with and without white space to cut at. Spaces cost no
    /// tokens.
    @Test
    @Tag("slow")
    void aContextOfManyPiecesKeepsItsOffsets() throws Exception {
        for (var filler : List.of(count("Sea 海も空も😀" + " ".repeat(20), ". ", 2100), ideographs())) {
            assertThat(filler).hasSizeGreaterThan(1 << 16);
            var context = filler + "Bell was born in Scotland.";
            var answer =
                    answer(JSON.writeValueAsString(Map.of("question", "Where was Bell born?", "context", context)));
            int start = context.codePointCount(0, context.lastIndexOf("Scotland"));
            assertThat(answer.path("answer").asText()).isEqualTo("Scotland");
            assertThat(answer.path("start").asInt()).isEqualTo(start);
        }
    }

    /// Numbers rather than one sentence again and again: the scores of equal texts add up.
    private static String count(String before, String after, int most) {
        return IntStream.range(0, most).mapToObj(i -> before + i + after).collect(Collectors.joining());
    }

    /// A text without spaces, longer than what is tokenised at once, in which no character comes
    /// twice.
    private static String ideographs() {
        return IntStream.concat(IntStream.range(0x4E00, 0x5E00), IntStream.range(0x20000, 0x27900))
                .mapToObj(Character::toString)
                .collect(Collectors.joining());
    }
}
