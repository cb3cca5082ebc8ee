package dev.berth.handler.text;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.TestServer;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Forms of requests and answers, and what is wrong with bad ones. `TaskTest` has the answers
/// themselves.
class TextFormsTest {

    private static final Path TASKS = Path.of("src/test/resources/tasks");

    private static final ObjectMapper JSON = new ObjectMapper();

    /// By the name of the artifact.
    private static final Map<String, TestServer> SERVERS = new LinkedHashMap<>();

    @AfterAll
    static void stop() throws Exception {
        for (var server : SERVERS.values()) {
            server.close();
        }
    }

    private static HttpResponse<String> ask(String artifact, String type, String accept, String body) throws Exception {
        if (!SERVERS.containsKey(artifact)) {
            SERVERS.put(artifact, TestServer.artifact(TASKS.resolve(artifact)).start());
        }
        return SERVERS.get(artifact).invoke(body, "Content-Type", type, "Accept", accept);
    }

    private static String json(String artifact, String body) throws Exception {
        var response = ask(artifact, "application/json", "application/json", body);
        assertStatus(response, 200);
        return response.body();
    }

    @Test
    void plainTextIsOneText() throws Exception {
        assertThat(ask("text-classification-bert", "text/plain", "application/json", "The lamp.")
                        .body())
                .isEqualTo(json("text-classification-bert", "\"The lamp.\""))
                .isEqualTo(json("text-classification-bert", "{\"inputs\": \"The lamp.\"}"));
        assertThat(json("text-classification-bert", "[]")).isEqualTo("[]");
    }

    @Test
    void eachLineOfJsonLinesHasParametersOfItsOwn() throws Exception {
        var lines = ask("text-classification-bert", "application/jsonlines", "application/jsonlines", """
        "The lamp."
        {"text": "The lamp."}
        {"inputs": "The lamp.", "parameters": {"top_k": 2}}
        """)
                .body()
                .split("\n");
        assertThat(lines).hasSize(3);
        assertThat(lines[0]).isEqualTo(lines[1]).startsWith("{");
        assertThat(JSON.readTree(lines[2])).hasSize(2);
        assertThat(JSON.readTree(lines[2]).path(0)).isEqualTo(JSON.readTree(lines[0]));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        The lamp.|{"inputs": ["The lamp."]}
        text\\nThe lamp.|{"inputs": ["The lamp."]}
        inputs\\nThe lamp.|{"inputs": ["The lamp."]}
        The lamp.,It works.|{"inputs": [{"text": "The lamp.", "text_pair": "It works."}]}
        text,text_pair\\nThe lamp.,|{"inputs": [{"text": "The lamp.", "text_pair": ""}]}
        The lamp.|{"inputs": [{"text": "The lamp.", "text_pair": ""}]}
        text_pair,text\\nIt works.,The lamp.|{"inputs": [{"text": "The lamp.", "text_pair": "It works."}]}
        """)
    void csvHasTextsOrPairs(String csv, String same) throws Exception {
        var expected = JSON.readTree(json("text-classification-bert", same)).path(0);
        var found = ask("text-classification-bert", "text/csv", "text/csv", csv.replace("\\n", "\n"))
                .body();
        assertThat(found.strip().split(",")[0]).isEqualTo(expected.path("label").asText());
        assertThat(Double.parseDouble(found.strip().split(",")[1]))
                .isEqualTo(expected.path("score").doubleValue());
    }

    @Test
    void entitiesStandSideBySideInCsv() throws Exception {
        var request = "{\"inputs\": \"The lamp.\", \"parameters\": {\"ignore_labels\": []}}";
        var entities = JSON.readTree(json("token-classification-bert", request));
        var columns = ask("token-classification-bert", "application/json", "text/csv", request)
                .body()
                .strip()
                .split(",", -1);
        assertThat(columns).hasSize(6 * entities.size());
        assertThat(columns[0]).isEqualTo(entities.path(0).path("entity").asText());
        assertThat(columns[1]).isEmpty();
        assertThat(columns[3]).isEqualTo(entities.path(0).path("word").asText());
    }

    @Test
    void aBadRecordOfAJobIsAnErrorInItsPlace() throws Exception {
        var response = keeping("fill-mask-bert", "application/jsonlines", "\"no mask\"\n\"a [MASK]\"");
        var lines = response.body().split("\n");
        assertThat(JSON.readTree(lines[0]).path("error").asText()).contains("line 1: found no [MASK]");
        assertThat(JSON.readTree(lines[1])).hasSize(5);
        // An array has no place for an error.
        var array = keeping("sentence-embeddings-bert", "application/x-npy", "\"a lamp\"\n7");
        assertStatus(array, 400, "line 2: found 7, expected a text");
    }

    private static HttpResponse<String> keeping(String artifact, String accept, String body) throws Exception {
        try (var server = TestServer.artifact(TASKS.resolve(artifact)).start("BERTH_BAD_RECORDS=keep")) {
            return server.invoke(body, "Content-Type", "application/jsonlines", "Accept", accept);
        }
    }

    @Test
    void embeddingsMayBeNumPysArrays() throws Exception {
        var response = ask("sentence-embeddings-bert", "application/json", "application/x-npy", "[\"one\", \"two\"]");
        assertThat(response.headers().firstValue("Content-Type")).contains("application/x-npy");
        assertThat(response.body()).contains("'shape': (2, 16)");
    }

    /// @param body and message with single quotes in the place of double ones
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
        text-classification-bert | {'inputs': 7} | inputs: found 7, expected a text or {'text': …, 'text_pair': …}
        text-classification-bert | ['a', null] | [1]: found null, expected a text or {'text': …, 'text_pair': …}
        text-classification-bert | {'input': 'a'} | body: found an object with [input], expected one with inputs, or with text
        text-classification-bert | {'inputs': ['a', {'txt': 'b', 'text_pair': 'a'}]} | inputs[1]: found an object with [txt, text_pair], expected one with text
        text-classification-bert | {'text': null} | body.text: found null, expected a text
        text-classification-bert | {'inputs': 'a', 'parameters': {'top_k': 0}} | parameters.top_k: found 0, expected a whole number of at least 1
        text-classification-bert | {'inputs': 'a', 'parameters': {'topk': 1}} | parameters: found the unknown parameter 'topk', expected top_k
        text-classification-bert | {'inputs': 'a', 'parameters': {'temperature': 1}} | parameters: found the unknown parameter 'temperature', expected one of top_k, function_to_apply, truncation
        text-classification-bert | {'inputs': 'a', 'parameters': {'function_to_apply': 'relu'}} | parameters.function_to_apply: found the text 'relu', expected one of none, sigmoid, softmax
        text-classification-bert | {'inputs': 'a', 'parameters': []} | parameters: found a list, expected an object
        token-classification-bert | {'inputs': {'text': 'a', 'text_pair': 'b'}} | inputs.text_pair: found the text 'b', expected one text: this task takes no pairs
        token-classification-bert | {'inputs': 'a', 'parameters': {'ignore_labels': [1]}} | parameters.ignore_labels[0]: found 1, expected a text
        text-classification-bert | 'LONG' | body: found 82 tokens, expected at most the 48 that the model takes; 'parameters': {'truncation': true} cuts longer texts
        fill-mask-bert | {'inputs': 'The lamp.'} | inputs: found no [MASK], expected one in the place that is to be filled in
        sentence-embeddings-bert | {'inputs': 'a', 'parameters': {'normalize_embeddings': 1}} | parameters.normalize_embeddings: found 1, expected true or false
        """)
    void whatIsWrongIsNamed(String artifact, String body, String message) throws Exception {
        var json = body.replace('\'', '"').replace("LONG", "the lamp ".repeat(40));
        var response = ask(artifact, "application/json", "application/json", json);
        assertThat(TestServer.json(response, 400).path("message").asText()).isEqualTo(message.replace('\'', '"'));
    }

    @Test
    void aWrongArtifactIsRefusedAtStart(@TempDir Path directory) throws Exception {
        var good = TASKS.resolve("text-classification-bert");
        for (var name : new String[] {"model.pt", "tokenizer.json"}) {
            Files.copy(good.resolve(name), directory.resolve(name));
        }
        var model = Files.readString(good.resolve("model.json"));
        assertRefused(
                directory, model.replace("\"logits\"", "\"scores\""), "outputs: found [scores], expected [logits]");
        assertRefused(
                directory, model.replaceAll("(?s)\"labels\": \\[.*?\\],", ""), "labels: found none, expected a name");
        assertRefused(
                directory, model.replace("softmax", "relu"), "parameters.function_to_apply: found the text \"relu\"");
        var masked =
                model.replace("text-classification", "fill-mask").replace("\"function_to_apply\": \"softmax\"", "");
        assertRefused(directory, masked, "logits: found float32[1, 3], expected float32[1, ");
    }

    private static void assertRefused(Path directory, String model, String message) throws Exception {
        Files.writeString(directory.resolve("model.json"), model);
        assertThatThrownBy(() -> TestServer.artifact(directory).start()).hasStackTraceContaining(message);
    }
}
