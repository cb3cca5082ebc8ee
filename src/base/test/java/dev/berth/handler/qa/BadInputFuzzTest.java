package dev.berth.handler.qa;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.TestServer;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tag;
import net.jqwik.api.Tuple;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/// Any texts, parameters and headers: the answer is right or a 4xx that says what is wrong, and the
/// neighbour's answer never changes. `tools/reliability` sends any bytes.
class BadInputFuzzTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String NEIGHBOUR =
            "{\"question\": \"Where was Bell born?\", \"context\": \"Bell was born in Scotland.\"}";
    private static TestServer server;
    private static String neighbour;

    @BeforeContainer
    static void start() throws Exception {
        server = TestServer.sample().start();
        neighbour = server.answer(NEIGHBOUR);
    }

    @AfterContainer
    static void stop() throws Exception {
        server.close();
    }

    /// Texts of every kind under every parameter: long questions, tiny windows and large strides made
    /// other servers' tokenizers abort the process.
    @Property(tries = 400)
    @Tag("slow")
    void anyTextUnderAnyParameters(
            @ForAll("texts") String question,
            @ForAll("texts") String context,
            @ForAll("parameters") Map<String, Object> parameters)
            throws Exception {
        var request = Map.of("inputs", Map.of("question", question, "context", context), "parameters", parameters);
        var beside = server.invokeAsync(NEIGHBOUR, "Content-Type", "application/json");
        var body = BodyPublishers.ofByteArray(JSON.writeValueAsBytes(request));
        var response = server.invoke(body, "Content-Type", "application/json");
        checkAnswer(response);
        assertThat(beside.get().body()).isEqualTo(neighbour);
        if (response.statusCode() == 200) {
            var answers = JSON.readTree(response.body());
            for (var answer : answers.isArray() ? answers : List.of(answers)) {
                int start = context.offsetByCodePoints(0, answer.path("start").asInt());
                int end = context.offsetByCodePoints(0, answer.path("end").asInt());
                assertThat(answer.path("answer").asText()).isEqualTo(context.substring(start, end));
            }
        }
    }

    @Property(tries = 400)
    void anyHeaders(
            @ForAll("headerValues") String contentType,
            @ForAll("headerValues") String accept,
            @ForAll("headerValues") String attributes,
            @ForAll("headerValues") String inferenceId)
            throws Exception {
        var response = server.invoke(
                NEIGHBOUR,
                "Content-Type",
                contentType,
                "Accept",
                accept,
                "X-Amzn-SageMaker-Custom-Attributes",
                attributes,
                "X-Amzn-SageMaker-Inference-Id",
                inferenceId);
        checkAnswer(response);
    }

    @Provide
    Arbitrary<String> headerValues() {
        return Arbitraries.oneOf(
                Arbitraries.of("application/json", "text/csv", "*/*", "", "application/json;q=2", "a/b;c=\"d"),
                Arbitraries.strings().withCharRange(' ', '~').ofMaxLength(2000),
                Combinators.combine(
                                Arbitraries.of(",", "\"", ";", "a/b,", "=\\"),
                                Arbitraries.integers().between(1, 7000))
                        .as(String::repeat));
    }

    @Provide
    Arbitrary<String> texts() {
        var plain = Arbitraries.strings().withCharRange(' ', '~').ofMaxLength(60);
        var unicode = Arbitraries.strings().all().ofMaxLength(60);
        var special = Arbitraries.of(
                " ",
                "\u0000",
                "\u200b",
                "\ud83d",
                "\udc00",
                "👨‍👩‍👧‍👦",
                "🇯🇵",
                "e\u0301\u0301\u0301",
                "[CLS]",
                "[SEP] [PAD] [MASK] [UNK]",
                "##ing",
                "\u202e",
                "\ufeff",
                "日本語",
                "a\u0300\u0301b",
                "\u0085",
                "\u2028",
                "𠮷",
                "ﬁ",
                "İ",
                "ß",
                "x".repeat(300));
        return Arbitraries.oneOf(
                        plain, unicode, special, special.list().ofMaxSize(12).map(parts -> String.join("", parts)))
                .flatMap(text ->
                        Arbitraries.frequency(Tuple.of(9, 1), Tuple.of(1, 40)).map(text::repeat));
    }

    @Provide
    Arbitrary<Map<String, Object>> parameters() {
        Arbitrary<Object> values = Arbitraries.oneOf(
                Arbitraries.integers().between(-2, 600).map(Object.class::cast),
                Arbitraries.of(0, 1, 2, 64, 128, Integer.MAX_VALUE, Long.MAX_VALUE, 1.5, true, false, "x", List.of()));
        return Combinators.combine(
                        Arbitraries.of(
                                "top_k",
                                "max_answer_len",
                                "doc_stride",
                                "max_seq_len",
                                "max_question_len",
                                "handle_impossible_answer",
                                "align_to_words",
                                "unknown"),
                        values)
                .as(Map::entry)
                .list()
                .ofMaxSize(4)
                .map(entries -> {
                    var map = new LinkedHashMap<String, Object>();
                    entries.forEach(entry -> map.put(entry.getKey(), entry.getValue()));
                    return map;
                });
    }

    private static void checkAnswer(HttpResponse<String> response) throws Exception {
        if (response.statusCode() != 200) {
            assertThat(response.statusCode()).as(response.body()).isBetween(400, 499);
            assertThat(response.body().length()).isLessThanOrEqualTo(2048);
            assertThat(response.headers().firstValue("Content-Type").orElseThrow())
                    .startsWith("application/json")
                    .containsIgnoringCase("utf-8");
            assertThat(JSON.readTree(response.body()).path("message").asText()).isNotBlank();
        }
    }
}
