package dev.berth.examples;

import static dev.berth.testing.TestServer.assertStatus;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The language model of `examples/`, asked over HTTP. `expected.json` has what the plain loop of
/// Python writes.
class TextGenerationTest {

    private static final Path EXAMPLE = Path.of("examples/text-generation");
    private static final ObjectMapper JSON = new ObjectMapper();

    @AutoClose
    private static TestServer server;

    private static List<JsonNode> references;

    @BeforeAll
    static void start() throws Exception {
        var expected = JSON.readTree(EXAMPLE.resolve("expected.json").toFile());
        references = StreamSupport.stream(expected.spliterator(), false).toList();
        server = TestServer.artifact(EXAMPLE).start();
    }

    @Test
    @Tag("STR-01")
    void aTextAloneHasTheTokensOfThePlainLoop() throws Exception {
        for (var reference : references) {
            assertThat(text(ask(reference.path("body"))))
                    .isEqualTo(reference.path("text").textValue());
            if (reference.path("body").has("prompt")) {
                assertThat(json(ask(generated(reference)).body()).at("/details/token_ids"))
                        .isEqualTo(reference.path("ids"));
            }
        }
    }

    @Test
    @Tag("STR-02")
    void sixteenAtOnceHaveTheTokensThatEachHasAlone() {
        var asked = IntStream.range(0, 48)
                .mapToObj(i -> references.get(i % references.size()))
                .toList();
        for (int from = 0; from < asked.size(); from += 16) {
            var answers = asked.subList(from, from + 16).stream()
                    .map(reference -> askAsync(streamed(reference.path("body"))))
                    .toList();
            for (int i = 0; i < answers.size(); i++) {
                assertThat(text(chunks(answers.get(i).join())))
                        .isEqualTo(asked.get(from + i).path("text").textValue());
            }
        }
    }

    @Test
    void everyTokenOfAStreamIsAnEventAndTheLastOneHasAll() throws Exception {
        for (var reference : references) {
            if (!reference.path("body").has("prompt")) {
                continue;
            }
            var body =
                    ask(generated(reference), "Accept", "application/jsonlines").body();
            var lines = body.lines().map(TextGenerationTest::json).toList();
            var tokens = lines.subList(0, lines.size() - 1);
            assertThat(tokens.stream().map(token -> token.at("/token/id").longValue()))
                    .containsExactlyElementsOf(longs(reference.path("ids")));
            var text = tokens.stream()
                    .map(token -> token.at("/token/text").textValue())
                    .collect(Collectors.joining());
            assertThat(text).isEqualTo(reference.path("text").textValue());
            assertThat(lines.getLast().path("generated_text").textValue()).isEqualTo(text);
        }
    }

    @Test
    void noPartHasHalfACharacter() {
        for (var question : List.of("Say hello in Japanese.", "Smile, please.")) {
            var chunks = chunks(ask(streamed(chat(question, Map.of("max_tokens", 40)))));
            var parts = chunks.stream()
                    .map(chunk -> chunk.at("/choices/0/delta/content").asText())
                    .toList();
            assertThat(parts).noneMatch(part -> part.contains("\uFFFD"));
            assertThat(String.join("", parts).codePoints()).anyMatch(character -> character > 0x3000);
        }
    }

    @Test
    void aStopWordAndWhatFollowsItIsNotShown() throws Exception {
        var reference = completion();
        var text = reference.path("text").textValue();
        // Begins within one token and ends within another.
        var stop = text.substring(text.length() / 2, text.length() / 2 + 7);
        var expected = text.substring(0, text.indexOf(stop));
        var body = (ObjectNode) reference.path("body").deepCopy();
        body.putPOJO("stop", List.of("never to be seen", stop));
        var whole = json(ask(body).body()).at("/choices/0");
        assertThat(whole.path("text").textValue()).isEqualTo(expected);
        assertThat(whole.path("finish_reason").textValue()).isEqualTo("stop");
        var chunks = chunks(ask(streamed(body)));
        assertThat(text(chunks)).isEqualTo(expected);
        assertThat(chunks.getLast().at("/choices/0/finish_reason").textValue()).isEqualTo("stop");
        // What may become a stop word is held back until it can't.
        body.put("stop", stop + "#");
        assertThat(text(chunks(ask(streamed(body))))).isEqualTo(text);
    }

    @Test
    void plainTextIsAnsweredByPlainText() throws Exception {
        var reference = completion();
        var prompt = reference.at("/body/prompt").textValue();
        var whole = server.invoke(prompt, "Content-Type", "text/plain", "Accept", "text/plain");
        assertThat(whole.headers().firstValue("Content-Type")).contains("text/plain");
        assertThat(whole.body()).startsWith(reference.path("text").textValue());
        var streamed = ask(json(Map.of("inputs", prompt, "stream", true)), "Accept", "text/plain");
        assertThat(streamed.headers().firstValue("Transfer-Encoding")).contains("chunked");
        assertThat(streamed.body()).isEqualTo(whole.body());
    }

    @Test
    @Tag("OAI-01")
    void openAisBodiesAreAnsweredInItsForms() throws Exception {
        var question = chat("What is the capital of France?", Map.of("model", "small", "max_tokens", 5));
        var whole = json(post("/v1/chat/completions", question).body());
        assertThat(whole.path("object").textValue()).isEqualTo("chat.completion");
        assertThat(whole.path("id").textValue()).startsWith("chatcmpl-");
        assertThat(whole.path("model").textValue()).isEqualTo("small");
        assertThat(whole.at("/choices/0/message/role").textValue()).isEqualTo("assistant");
        assertThat(whole.at("/choices/0/finish_reason").textValue()).isEqualTo("length");
        assertThat(whole.at("/usage/completion_tokens").intValue()).isEqualTo(5);
        assertThat(whole.at("/usage/total_tokens").intValue())
                .isEqualTo(whole.at("/usage/prompt_tokens").intValue() + 5);

        question.put("stream", true).putObject("stream_options").put("include_usage", true);
        var streamed = post("/v1/chat/completions", question);
        assertThat(streamed.headers().firstValue("Content-Type")).contains("text/event-stream");
        assertThat(streamed.body()).endsWith("\n\ndata: [DONE]\n\n");
        var chunks = chunks(streamed);
        assertThat(chunks).allSatisfy(chunk -> {
            assertThat(chunk.path("object").textValue()).isEqualTo("chat.completion.chunk");
            assertThat(chunk.path("id")).isEqualTo(chunks.getFirst().path("id"));
        });
        assertThat(chunks.getFirst().at("/choices/0/delta/role").textValue()).isEqualTo("assistant");
        assertThat(chunks.getLast().path("choices")).isEmpty();
        assertThat(chunks.getLast().path("usage")).isEqualTo(whole.path("usage"));
        assertThat(text(chunks))
                .isEqualTo(whole.at("/choices/0/message/content").textValue());

        var completion = json(Map.of("prompt", "In the beginning", "max_tokens", 3));
        var completed = json(post("/v1/completions", completion).body());
        assertThat(completed.path("object").textValue()).isEqualTo("text_completion");
        assertThat(completed.at("/choices/0/text").isTextual()).isTrue();
    }

    @Test
    void aTextGoesOnUntilTheModelCanReadNoMore() throws Exception {
        var answer =
                json(ask(json(Map.of("inputs", "In the beginning"))).body()).path("details");
        if (answer.path("finish_reason").textValue().equals("length")) {
            assertThat(answer.path("prompt_tokens").intValue()
                            + answer.path("generated_tokens").intValue())
                    .isEqualTo(512);
        }
        var longest = json(Map.of("inputs", "and ".repeat(200), "parameters", Map.of("max_new_tokens", 20)));
        assertThat(json(ask(longest).body()).at("/details/generated_tokens").intValue())
                .isEqualTo(20);
    }

    /// The very bodies that `openai` 3.57 and `langchain-openai` 1.7 send.
    @ParameterizedTest
    @Tag("OAI-01")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
      1 | {"model":"small","prompt":["In the beginning"],"frequency_penalty":0,"logprobs":null,"max_tokens":8,"n":1,"presence_penalty":0,"seed":null,"temperature":0.7,"top_p":1}
      2 | {"model":"small","prompt":["In the beginning","And God said"],"frequency_penalty":0,"logprobs":null,"max_tokens":8,"n":1,"presence_penalty":0,"seed":null,"temperature":0.7,"top_p":1}
      4 | {"model":"small","prompt":["In the beginning","And"],"frequency_penalty":0,"logprobs":null,"max_tokens":8,"n":2,"presence_penalty":0,"seed":null,"temperature":1.0,"top_p":1}
      1 | {"model":"o1","stream":false,"messages":[{"content":"Be short.","role":"developer"},{"content":"What is the capital of France?","role":"user"}]}
      1 | {"model":"m","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null},{"role":"user","content":"What is the capital of France?"}]}
      1 | {"model":"m","service_tier":"auto","messages":[{"role":"user","content":"What is the capital of France?","name":"bob"}],"frequency_penalty":0.0,"logit_bias":{},"logprobs":false,"metadata":{"a":"b"},"modalities":["text"],"n":1,"parallel_tool_calls":true,"presence_penalty":0,"response_format":{"type":"text"},"seed":1,"store":false,"stream_options":null,"tool_choice":"none","tools":[],"user":"u"}
      1 | {"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"What is the capital"},{"type":"text","text":" of France?"}]}],"tool_choice":"none","tools":[{"type":"function","function":{"name":"weather"}}]}
      """)
    void whatClientsAlwaysSendIsAnswered(int choices, String body) throws Exception {
        var path = body.contains("\"prompt\"") ? "/v1/completions" : "/v1/chat/completions";
        var answer = json(post(path, json(body)).body());
        assertThat(answer.path("choices")).as(answer.toString()).hasSize(choices);
        for (int i = 0; i < choices; i++) {
            assertThat(answer.at("/choices/%d/index".formatted(i)).intValue()).isEqualTo(i);
        }
        if (path.contains("chat")) {
            assertThat(text(post(path, json(body)))).isEqualTo("The capital of France is Paris.");
        }
    }

    /// The tail of bodies of the same clients.
    @ParameterizedTest
    @Tag("OAI-01")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
      "tools":[{"type":"function","function":{"name":"weather"}}] | tools: found a list, expected [], as this model supports nothing else
      "tool_choice":"required","tools":[{"type":"function","function":{"name":"weather"}}] | tool_choice: found the text "required", expected "none" or "auto", as this model supports nothing else
      "response_format":{"type":"json_object"} | response_format: found an object, expected {"type":"text"}, as this model supports nothing else
      "response_format":{"type":"json_schema","json_schema":{"name":"City","strict":true}} | response_format: found an object, expected {"type":"text"}, as this model supports nothing else
      "logprobs":true,"top_logprobs":2 | logprobs: found true, expected false, as this model supports nothing else
      "logit_bias":{"50256":-100} | logit_bias: found an object, expected {}, as this model supports nothing else
      "frequency_penalty":1.0 | frequency_penalty: found 1.0, expected 0, as this model supports nothing else
      "echo":true | echo: found true, expected false, as this model supports nothing else
      "stream":true,"stream_options":{"usage":true} | stream_options: found the unknown parameter "usage", expected one of include_usage
      "max_token":5 | body: found the unknown field "max_token", expected max_tokens
      "messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,aaaa"}}]}] | messages[0].content[0].type: found the text "image_url", expected "text", as this model reads nothing else
      "messages":[{"content":null,"role":"assistant","tool_calls":[{"type":"function","id":"call_1"}]}] | messages[0].tool_calls: found a list, expected [], as this model supports nothing else
      "messages":[{"content":"sunny","role":"tool","tool_call_id":"call_1"}] | messages[0].tool_call_id: found the text "call_1", expected null, as this model supports nothing else
      """)
    void whatTheModelCanNotDoIsRefusedByItsName(String fields, String message) throws Exception {
        var body = json("{%s}".formatted(fields));
        if (!body.has("messages")) {
            ((ObjectNode) body).setAll(chat("Hello", Map.of()));
        }
        var answer = TestServer.json(post("/v1/chat/completions", body), 400);
        assertThat(answer.at("/error/message").textValue()).isEqualTo(message);
    }

    @Test
    @Tag("OAI-01")
    void severalTextsAreThoseThatEachHasAlone() throws Exception {
        var prompts = List.of("In the beginning", "And Moses said");
        var several = json(Map.of("prompt", prompts, "n", 2, "max_tokens", 8, "temperature", 0.8, "seed", 3));
        var whole = json(post("/v1/completions", several).body());
        int tokens = 0;
        for (int i = 0; i < 4; i++) {
            // Each choice has the next seed.
            var alone = several.deepCopy().put("prompt", prompts.get(i / 2)).put("n", 1);
            var answer =
                    json(post("/v1/completions", alone.put("seed", 3 + i % 2)).body());
            assertThat(whole.at("/choices/%d/text".formatted(i))).isEqualTo(answer.at("/choices/0/text"));
            tokens += answer.at("/usage/total_tokens").intValue();
        }
        int prompted = whole.at("/usage/prompt_tokens").intValue();
        assertThat(whole.at("/usage/total_tokens").intValue()).isEqualTo(tokens - prompted);

        var chunks = chunks(
                post("/v1/completions", streamed(several).set("stream_options", json("{\"include_usage\": true}"))));
        for (int i = 0; i < 4; i++) {
            int index = i;
            var own = chunks.stream()
                    .map(chunk -> chunk.at("/choices/0"))
                    .filter(choice -> choice.path("index").asInt(-1) == index)
                    .toList();
            assertThat(own.stream()
                            .map(choice -> choice.path("text").textValue())
                            .collect(joining()))
                    .isEqualTo(whole.at("/choices/%d/text".formatted(i)).textValue());
            assertThat(own.getLast().path("finish_reason"))
                    .isEqualTo(whole.at("/choices/%d/finish_reason".formatted(i)));
        }
        assertThat(chunks.getLast().path("usage")).isEqualTo(whole.path("usage"));
        assertThat(post("/v1/completions", json(Map.of("prompt", Collections.nCopies(9, "a"), "n", 128)))
                        .body())
                .contains("prompt: found 1152 texts to write, expected at most 1024");
    }

    @Test
    @Tag("OAI-01")
    void aPromptMayBeTokensAndComeBack() throws Exception {
        var reference = completion();
        var body = (ObjectNode) reference.path("body").deepCopy();
        var ids = body.deepCopy().set("prompt", reference.path("prompt"));
        assertThat(text(post("/v1/completions", ids)))
                .isEqualTo(reference.path("text").textValue());
        var echoed = body.path("prompt").textValue() + reference.path("text").textValue();
        assertThat(text(post("/v1/completions", body.put("echo", true)))).isEqualTo(echoed);
        assertThat(text(chunks(post("/v1/completions", streamed(body))))).isEqualTo(echoed);
        // Nobody makes a turn of a chat of numbers.
        assertThat(post("/v1/completions", json("{\"prompt\": [5, 1021]}")).body())
                .contains("prompt: found the token id 1021, expected ids of tokenizer.json");
    }

    @ParameterizedTest
    @Tag("ERR-01")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        7 | body: found 7, expected an object with messages, prompt or inputs
        {"inputs": ""} | inputs: found an empty text, expected one to go on with
        {"inputs": ["a", "b"]} | inputs: found a list, expected a text
        {"prompt": []} | prompt: found an empty list, expected a text or a list of texts
        {"prompt": ["a", 5]} | prompt[1]: found 5, expected a text
        {"prompt": ["a", ""]} | prompt[1]: found an empty text, expected one to go on with
        {"messages": []} | messages: found an empty list, expected a list of messages
        {"messages": [{"role": "u"}]} | messages[0].role: found the text "u", expected one of developer, system, user, assistant
        {"messages": [{"role": "user"}]} | messages[0].content: found nothing, expected a text
        {"prompt": "a", "n": 129} | n: found 129, expected a whole number from 1 to 128
        {"prompt": "a", "temperature": -1} | temperature: found -1, expected a number from 0 to 2
        {"prompt": "a", "stream": 1} | stream: found 1, expected true or false
        {"prompt": "a", "seed": 0.5} | seed: found 0.5, expected a whole number of 64 bits
        {"prompt": "a", "stop": [""]} | stop: found a list, expected at most 4 words, none of them empty
        {"prompt": "a", "max_tokens": 512} | max_tokens: found 512, expected a whole number from 1 to 511
        {"inputs": "a", "parameters": {"max_new_token": 5}} | parameters: found the unknown parameter "max_new_token", expected max_new_tokens
        {"inputs": "a", "parameters": {"top_k": 1.5}} | parameters.top_k: found 1.5, expected a whole number of at least 0
        {"inputs": "a", "parameters": {"return_full_text": true}} | parameters.return_full_text: found true, expected false, as this model supports nothing else
        {"inputs": "a", "parameter": {}} | body: found the unknown field "parameter", expected parameters
        """)
    void whatIsWrongWithABodyIsNamed(String body, String message) throws Exception {
        var answer = TestServer.json(server.invoke(body), 400);
        assertThat(answer.path("message").textValue()).isEqualTo(message);
    }

    @Test
    void aPromptThatTheModelCanNotReadIsRefused() throws Exception {
        var answer = ask(json(Map.of("inputs", "and it came to pass ".repeat(300), "stream", true)));
        assertStatus(answer, 400, "tokens, expected at most 511, as the model reads 512 with its own");
    }

    /// The cache is 4 KB a token, in native memory, so that of 400 tokens is more than all sessions
    /// may have here.
    @Test
    void theCacheOfASessionCountsAsMemoryOfSessions() throws Exception {
        try (var small = TestServer.artifact(EXAMPLE).start("BERTH_SESSION_MEMORY_MB=1")) {
            var text = json(Map.of("inputs", "and ".repeat(400), "parameters", Map.of("max_new_tokens", 1)));
            assertStatus(small.invoke(text.toString(), "X-Amzn-SageMaker-Session-Id", "NEW_SESSION"), 200);
            small.awaitMetrics("berth_sessions_closed_total{model=\"model\",reason=\"memory\"} 1.0");
        }
    }

    @Test
    @Tag("SES-01")
    void theSecondTurnOfASessionCostsOnlyItsOwnTokens() throws Exception {
        var opened = server.invoke("{\"requestType\":\"NEW_SESSION\"}", "X-Amzn-SageMaker-Session-Id", "NEW_SESSION");
        assertStatus(opened, 200);
        var header =
                opened.headers().firstValue("X-Amzn-SageMaker-New-Session-Id").orElseThrow();
        var session = header.substring(0, header.indexOf(';'));

        var first = json(ask(chat("My name is Clara.", Map.of()), "X-Amzn-SageMaker-Session-Id", session)
                .body());
        assertThat(first.at("/usage/prompt_tokens_details/cached_tokens").intValue())
                .isZero();
        var question = chat("What is my name?", Map.of());
        var second = json(ask(question, "X-Amzn-SageMaker-Session-Id", session).body());
        assertThat(second.at("/choices/0/message/content").textValue()).isEqualTo("Your name is Clara.");
        // The mark at the end of the first answer was chosen, and not read yet.
        int before = first.at("/usage/total_tokens").intValue() - 1;
        assertThat(second.at("/usage/prompt_tokens_details/cached_tokens").intValue())
                .isEqualTo(before);

        // The same as without a session, where the client sends all that was said.
        var messages =
                (ArrayNode) json(chat("My name is Clara.", Map.of()).toString()).path("messages");
        messages.add(first.at("/choices/0/message")).add(question.at("/messages/0"));
        var whole = json(ask(json(Map.of("messages", messages))).body());
        assertThat(whole.at("/choices/0/message")).isEqualTo(second.at("/choices/0/message"));
        assertThat(whole.at("/usage/prompt_tokens")).isEqualTo(second.at("/usage/prompt_tokens"));
        assertThat(whole.at("/usage/prompt_tokens_details/cached_tokens").intValue())
                .isZero();
    }

    /// The client of OpenAI, where this machine has it: `pip install openai`.
    @Test
    @Tag("OAI-01")
    void theClientOfOpenAiUnderstandsTheAnswers() throws Exception {
        assumeTrue(
                new ProcessBuilder("python3", "-c", "import openai").start().waitFor() == 0,
                "python3 has no module openai");
        var client = new ProcessBuilder(
                        "python3",
                        EXAMPLE.resolve("client.py").toString(),
                        "http://127.0.0.1:%d/v1".formatted(server.port()))
                .redirectErrorStream(true)
                .start();
        var output = new String(client.getInputStream().readAllBytes());
        assertThat(client.waitFor()).as(output).isZero();
        var lines = output.lines().toList();
        assertThat(lines).as(output).hasSize(4);
        assertThat(lines.get(0)).isEqualTo(lines.get(1)).contains("Paris");
        assertThat(lines.get(2)).startsWith("In the beginning");
        assertThat(lines.get(3)).startsWith("400: ").contains("temperature: found 9, expected a number from 0 to 2");
    }

    @Test
    void theFilesFitEachOther() throws IOException {
        var shape = JSON.readTree(EXAMPLE.resolve("text.json").toFile());
        var vocabulary =
                JSON.readTree(EXAMPLE.resolve("tokenizer.json").toFile()).at("/model/vocab");
        assertThat(vocabulary.size() + shape.path("marks").size())
                .isEqualTo(shape.path("vocabulary").intValue());
        assertThat(Files.size(EXAMPLE.resolve("model.pt"))).isLessThan(6_000_000);
    }

    /// A reference whose body has a prompt.
    private static JsonNode completion() {
        return references.stream()
                .filter(each -> each.path("body").has("prompt"))
                .findFirst()
                .orElseThrow();
    }

    private static HttpResponse<String> ask(JsonNode body, String... headers) {
        return askAsync(body, headers).join();
    }

    private static CompletableFuture<HttpResponse<String>> askAsync(JsonNode body, String... headers) {
        return server.invokeAsync(body.toString(), headers);
    }

    private static HttpResponse<String> post(String path, JsonNode body) throws Exception {
        return server.post(path, body.toString());
    }

    private static ObjectNode chat(String question, Map<String, Object> parameters) {
        var body = json(Map.of("messages", List.of(Map.of("role", "user", "content", question))));
        parameters.forEach(body::putPOJO);
        return (ObjectNode) json(body.toString());
    }

    private static ObjectNode streamed(JsonNode body) {
        return ((ObjectNode) body.deepCopy()).put("stream", true);
    }

    /// A body of OpenAI's as text-generation-inference has it.
    private static JsonNode generated(JsonNode reference) {
        var parameters = (ObjectNode) reference.path("body").deepCopy();
        var inputs = parameters.remove("prompt").textValue();
        parameters.set("max_new_tokens", parameters.remove("max_tokens"));
        return json(Map.of("inputs", inputs, "parameters", parameters));
    }

    private static String text(HttpResponse<String> whole) {
        var choice = json(whole.body()).at("/choices/0");
        return choice.has("text")
                ? choice.path("text").textValue()
                : choice.at("/message/content").textValue();
    }

    private static String text(List<JsonNode> chunks) {
        return chunks.stream()
                .map(chunk -> chunk.at("/choices/0"))
                .map(choice -> choice.path("text").asText()
                        + choice.at("/delta/content").asText())
                .collect(Collectors.joining());
    }

    /// The events of a stream but for the last, which is `[DONE]`.
    private static List<JsonNode> chunks(HttpResponse<String> streamed) {
        var events = List.of(streamed.body().split("\n\n"));
        assertThat(events.getLast()).as(streamed.body()).isEqualTo("data: [DONE]");
        return events.subList(0, events.size() - 1).stream()
                .map(event -> json(event.substring("data: ".length())))
                .toList();
    }

    private static List<Long> longs(JsonNode numbers) {
        return StreamSupport.stream(numbers.spliterator(), false)
                .map(JsonNode::longValue)
                .toList();
    }

    private static ObjectNode json(Map<String, ?> members) {
        return JSON.valueToTree(members);
    }

    private static JsonNode json(String text) {
        try {
            return JSON.readTree(text);
        } catch (IOException e) {
            throw new IllegalArgumentException(text, e);
        }
    }
}
