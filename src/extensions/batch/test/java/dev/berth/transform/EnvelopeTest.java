package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.json.JsonText;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// What becomes of the text of a record and of its answer, against a real server that answers with
/// the body itself, or with the text that is its `answer`.
class EnvelopeTest {

    @AutoClose
    private static TestServer server;

    @TempDir
    private Path directory;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(TextHandler.answering(request -> {
                    var body = request.bytes();
                    var answer = JsonText.read(body).path("answer");
                    return List.of(
                            answer.isTextual()
                                    ? answer.textValue()
                                    : answer.isInt()
                                            ? "\"" + "x".repeat(answer.intValue()) + "\""
                                            : new String(body, StandardCharsets.UTF_8));
                }))
                .start("SAGEMAKER_BATCH=true");
    }

    @ParameterizedTest
    @EnumSource(Envelope.class)
    void whatStandsBehindARecordIsAnErrorOfThatRecord(Envelope format) throws Exception {
        var record = "{\"%s\": \"%%s\", \"%s\": {}}".formatted(format.id(), format.input());
        var a = record.formatted("A");
        var twice = a.replace("}}", "}, \"%s\": {}}".formatted(format.input()));
        var output = run(format, a + record.formatted("B"), a + ",", a + "{\"half", a.replace("}}", "}"), twice, a);
        assertThat(output).allMatch(line -> line.startsWith("{\"%s\":\"A\",".formatted(format.id())));
        assertThat(output.subList(0, 5)).allMatch(line -> line.contains("the record: ") && line.contains("400"));
        assertThat(output.get(0))
                .contains("found a second JSON value at column %d, expected one".formatted(a.length() + 1));
        assertThat(output.get(4)).contains("found %s twice, expected it once".formatted(format.input()));
        assertThat(output.get(5)).doesNotContain("the record: ");
    }

    @Test
    void theTextsOfIdsInputsAndAnswersStayAsTheyAre() throws Exception {
        var value = "{\"n\": [1e400, 1.50, 0.1000000000000000055511151231257827], \"s\": \"\\ud800 \\u00e9\"}";
        var record = "{\"recordId\": %s, \"modelInput\": %s}";
        assertThat(run(
                        Envelope.BEDROCK,
                        record.formatted("12", value),
                        record.formatted("{\"a\": 1.0}", value),
                        record.formatted("null", value),
                        record.formatted("\"\\ud800\"", "7")))
                .containsExactly(
                        answered("12", value),
                        answered("{\"a\": 1.0}", value),
                        answered("\"RECORD00000003\"", value),
                        "{\"recordId\":\"\\ud800\",\"error\":{\"errorCode\":400,\"errorMessage\":"
                                + "\"expected {\\\"recordId\\\": …, \\\"modelInput\\\": {…}}\"}}");
    }

    private static String answered(String id, String value) {
        return "{\"recordId\":%s,\"modelInput\":%s,\"modelOutput\":%2$s}".formatted(id, value);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        ``                | the answer: found nothing, expected a JSON value
        {\\"a\\": 1} {} | the answer: found a second JSON value at column 10, expected one
        {\\"a\\": 1}},  | the answer: not JSON at column 9: found unexpected close marker '}'
        NaN               | the answer: not JSON at column 4: found non-standard token 'NaN'
        """)
    void anAnswerThatIsNotOneValueIsAnError(String answer, String message) throws Exception {
        var line = "{\"recordId\": \"A\", \"modelInput\": {\"answer\": \"%s\"}}".formatted(answer.strip());
        assertThat(run(Envelope.BEDROCK, line, "{\"modelInput\": {}}"))
                .first()
                .asString()
                .contains("\"errorCode\":500,\"errorMessage\":\"" + message);
    }

    @Test
    void anAnswerOfManyLinesAndALongOneHaveALineEach() throws Exception {
        var output = run(
                Envelope.BEDROCK,
                "{\"modelInput\": {\"answer\": \"[1,\\r\\n 2]\\n\"}}",
                "{\"modelInput\": {\"answer\": 21000000}}");
        assertThat(output.get(0)).endsWith("\"modelOutput\":[1, 2]}");
        assertThat(output.get(1)).hasSizeGreaterThan(21_000_000).doesNotContain("error");
    }

    private List<String> run(Envelope format, String... lines) throws Exception {
        var job = new TestJob(directory, "--format %s", format);
        job.write(String.join("\n", lines));
        job.run(server.uri("/"), JobOption.OVERWRITE);
        return job.lines("in");
    }
}
