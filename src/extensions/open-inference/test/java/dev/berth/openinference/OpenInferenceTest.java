package dev.berth.openinference;

import static dev.berth.testing.Infer.LENGTH;
import static dev.berth.testing.Infer.assertError;
import static dev.berth.testing.Infer.body;
import static dev.berth.testing.Infer.element;
import static dev.berth.testing.Infer.json;
import static dev.berth.testing.Infer.outputs;
import static dev.berth.testing.Infer.request;
import static dev.berth.testing.Infer.send;
import static dev.berth.testing.Infer.sendBinary;
import static dev.berth.testing.Infer.tree;
import static dev.berth.testing.TestArtifact.TWO_INPUTS;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.TextFormat;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Signature;
import dev.berth.memory.RequestMemory.ProcessMemory;
import dev.berth.metrics.ServingMetrics;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.GrpcClient;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// `/v2` of a real server: tensors and texts, in JSON and as bytes.
@Timeout(300)
class OpenInferenceTest {

    @TempDir
    private static Path directory;

    @AutoClose
    private static TestServer doubled;

    @AutoClose
    private static TestServer twoInputs;

    @AutoClose
    private static TestServer questions;

    @AutoClose
    private TestServer server;

    @BeforeAll
    static void start() throws Exception {
        doubled = TestServer.artifact(artifact("doubled", "doubled.pt", null)).start();
        twoInputs = TestServer.artifact(artifact("two-inputs", "sum-and-product.pt", TWO_INPUTS))
                .start();
        questions = TestServer.sample().start("BERTH_MODEL_NAME=answers");
    }

    private static Path artifact(String name, String file, String modelJson) throws Exception {
        return TestArtifact.tensors(directory, name, file, modelJson);
    }

    /// A server whose hooks always answer this.
    private static TestServer answering(InvocationResponse answer) throws Exception {
        return TestServer.with(TextHandler.writing((_, _) -> answer)).start();
    }

    @Test
    void theServerAndItsModelSayWhatTheyAre() throws Exception {
        assertThat(json(doubled.get("/v2"))).isEqualTo(tree("""
        {"name": "berth", "version": "%s", "extensions": ["binary_tensor_data", "model_configuration", "model_repository", "statistics"]}""".formatted(ServingMetrics.version())));
        assertThat(doubled.get("/v2/health/live").body()).isEqualTo("{\"live\":true}");
        assertThat(doubled.get("/v2/health/ready").body()).isEqualTo("{\"ready\":true}");
        for (var path : List.of("/v2/models/answers", "/v2/models/answers/versions/1")) {
            assertThat(json(questions.get(path))).isEqualTo(tree("""
          {"name": "answers", "versions": ["1"], "platform": "berth",
           "inputs": [{"name": "question", "datatype": "BYTES", "shape": [-1]},
                      {"name": "context", "datatype": "BYTES", "shape": [-1]}],
           "outputs": [{"name": "answer", "datatype": "BYTES", "shape": [-1]}, {"name": "score", "datatype": "FP64", "shape": [-1]},
                       {"name": "start", "datatype": "INT64", "shape": [-1]}, {"name": "end", "datatype": "INT64", "shape": [-1]}]}"""));
            assertThat(questions.get(path + "/ready").body()).isEqualTo("{\"name\":\"answers\",\"ready\":true}");
        }
    }

    @Test
    void theOutputsOfATensorModelAreKnownAfterItsFirstForward() throws Exception {
        send(twoInputs, "model", """
        {"inputs": [{"name": "right", "datatype": "INT64", "shape": [1], "data": [3]},
                    {"name": "left", "datatype": "FP32", "shape": [1], "data": [2.5]}]}""");
        assertThat(json(twoInputs.get("/v2/models/model"))).isEqualTo(tree("""
        {"name": "model", "versions": ["1"], "platform": "berth",
         "inputs": [{"name": "left", "datatype": "FP32", "shape": [-1]}, {"name": "right", "datatype": "INT64", "shape": [-1]}],
         "outputs": [{"name": "product", "datatype": "FP32", "shape": [-1]}, {"name": "sum", "datatype": "FP32", "shape": [-1]}]}"""));
    }

    @Test
    void aSampleSaysTypesAndShapesBeforeAnybodyAsks() throws Exception {
        var artifact = artifact("sampled", "two-columns.pt", null);
        Files.writeString(artifact.resolve("sample.json"), "[[70, 3]]");
        server = TestServer.artifact(artifact).start("BERTH_GRPC_PORT=0");
        try (var client = new GrpcClient(server)) {
            var metadata = json(server.get("/v2/models/model"));
            assertThat(metadata).isEqualTo(tree("""
          {"name": "model", "versions": ["1"], "platform": "berth",
           "inputs": [{"name": "values", "datatype": "FP32", "shape": [-1, 2]}],
           "outputs": [{"name": "output_0", "datatype": "FP32", "shape": [-1, 1]}]}"""));
            assertThat(TextFormat.printer().printToString(client.call("ModelMetadata", "")))
                    .contains("shape: -1\n  shape: 2\n", "shape: -1\n  shape: 1\n");
            for (var type : List.of("BOOL", "UINT8", "INT8", "INT16", "INT32", "INT64", "FP16", "FP64")) {
                var answer = json(send(server, "model", """
            {"inputs": [{"name": "values", "datatype": "%s", "shape": [2, 2], "data": [1, 0, 0, 1]}]}""".formatted(type)));
                assertThat(answer.path("outputs")).as(type).isEqualTo(tree("""
            [{"name": "output_0", "datatype": "FP32", "shape": [2, 1], "data": [1.0, 10.0]}]"""));
            }
            assertThat(json(server.get("/v2/models/model"))).isEqualTo(metadata);
        }
    }

    @Test
    void aLengthThatDiffersFromRequestToRequestIsNotKnown() throws Exception {
        var artifact = artifact(
                "lengths",
                "looked-up.pt",
                "{\"format\": 1, \"files\": [{\"path\": \"looked-up.pt\"}], \"independentRows\": true}");
        Files.writeString(artifact.resolve("sample.json"), "[[1, 2, 3], [4, 5]]");
        server = TestServer.artifact(artifact).start();
        assertThat(json(server.get("/v2/models/model")).path("inputs")).isEqualTo(tree("""
        [{"name": "ids", "datatype": "INT64", "shape": [-1, -1]}]"""));
        assertError(
                send(server, "model", body("ids FP32 [1,2] 7, 2.5")),
                400,
                "ids[0][1]: found 2.5, expected a whole number that is int64");
    }

    @Test
    void aRequestMayLeaveItselfLessTime() throws Exception {
        assertError(send(doubled, "model", """
        {"parameters": {"timeout": 1}, "inputs": [{"name": "values", "datatype": "FP32", "shape": [1], "data": [1]}]}"""), 504, "the request's time ran out");
        var gate = new Gate(1);
        server = TestServer.with(new GatedHandler(gate)).start("SAGEMAKER_MODEL_SERVER_WORKERS=1");
        var running = server.invokeAsync("a");
        gate.awaitArrival();
        // In the queue, behind one that goes on.
        assertError(send(server, "model", """
        {"parameters": {"timeout": 100000},
         "inputs": [{"name": "content", "datatype": "BYTES", "shape": [1], "data": ["\\"a\\""]}]}"""), 504, "the request's time ran out");
        gate.open();
        assertThat(running.get().statusCode()).isEqualTo(200);
    }

    @Test
    void anOutputMayBeAskedForByNameAndAsBytes() throws Exception {
        var response = twoInputs.send(request(twoInputs, "model", """
        {"outputs": [{"name": "sum", "parameters": {"binary_data": true}}, {"name": "product"}],
         "inputs": [{"name": "left", "datatype": "FP32", "shape": [1, 2], "data": [[1, 2]]},
                    {"name": "right", "datatype": "INT32", "shape": [1, 2], "data": [3, 4]}]}""").build(), BodyHandlers.ofByteArray());
        int length = Integer.parseInt(response.headers().firstValue(LENGTH).orElseThrow());
        var outputs = tree(new String(response.body(), 0, length, StandardCharsets.UTF_8))
                .path("outputs");
        assertThat(outputs.findValuesAsText("name")).containsExactly("sum", "product");
        assertThat(outputs.path(1).path("data")).isEqualTo(tree("[3.0, 8.0]"));
        var sums = ByteBuffer.wrap(response.body(), length, 8).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(List.of(sums.getFloat(), sums.getFloat())).containsExactly(4f, 6f);
        assertThat(sums.hasRemaining()).isFalse();
    }

    @Test
    void textsAreColumnsOfRecordsAndAnswersToo() throws Exception {
        var sample = tree(Files.readString(TestServer.SAMPLE_ARTIFACT.resolve("sample.json")));
        var expected = tree(questions.invoke(sample.toString()).body());
        var body = body(
                "question BYTES [2,1] %1$s,%1$s".formatted(sample.path("question")),
                "context BYTES [2,1] %1$s,%1$s".formatted(sample.path("context")));
        var outputs = json(send(questions, "answers", body)).path("outputs");
        assertThat(outputs.findValuesAsText("name")).containsExactly("answer", "score", "start", "end");
        assertThat(outputs.findValuesAsText("datatype")).containsExactly("BYTES", "FP64", "INT64", "INT64");
        for (var output : outputs) {
            assertThat(output.path("shape")).isEqualTo(tree("[2]"));
            assertThat(output.path("data").path(1).asText())
                    .startsWith(
                            expected.path(output.path("name").asText()).asText().substring(0, 1));
        }
        assertThat(outputs.path(0).path("data").path(0)).isEqualTo(expected.path("answer"));
    }

    @Test
    void parametersAreTheModelsOwnAndListsOfAnswersAreADimension() throws Exception {
        var answer = json(send(questions, "answers", """
        {"parameters": {"top_k": 2, "priority": 0, "sequence_id": 0, "sequence_start": false, "timeout": 60000000, "headers": null},
         "inputs": [{"name": "question", "datatype": "BYTES", "shape": [1], "data": ["Where is it?"]},
                    {"name": "context", "datatype": "BYTES", "shape": [1], "data": ["It is in the house, behind the wall."]}]}"""));
        assertThat(answer.at("/outputs/0/shape")).isEqualTo(tree("[1, 2]"));
        assertThat(answer.at("/outputs/1/data")).hasSize(2);
    }

    @Test
    void textsMayComeAndGoAsBytes() throws Exception {
        var question = element("Where is it?".getBytes(StandardCharsets.UTF_8));
        var context = element("It is in Zürich.".getBytes(StandardCharsets.UTF_8));
        var both = new ByteArrayOutputStream();
        both.writeBytes(question);
        both.writeBytes(context);
        var response =
                sendBinary(questions, "answers", """
        {"outputs": [{"name": "answer", "parameters": {"binary_data": true}}],
         "inputs": [{"name": "question", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": %d}},
                    {"name": "context", "datatype": "BYTES", "shape": [1], "parameters": {"binary_data_size": %d}}]}""".formatted(question.length, context.length), both.toByteArray());
        int length = Integer.parseInt(response.headers().firstValue(LENGTH).orElseThrow());
        assertThat(new String(response.body(), length + 4, response.body().length - length - 4, StandardCharsets.UTF_8))
                .contains("Zürich");
    }

    @Test
    void aBodyOfAnyTypeIsOneElement() throws Exception {
        server = TestServer.with(new TextHandler()).start();
        var answer = json(send(server, "model", """
        {"inputs": [{"name": "content", "datatype": "BYTES", "shape": [1], "data": ["a\\nb"],
         "parameters": {"content_type": "text/plain"}}]}"""));
        assertThat(answer.path("outputs")).isEqualTo(tree("""
        [{"name": "content", "datatype": "BYTES", "shape": [1], "parameters": {"content_type": "text/plain"}, "data": ["A\\nB"]}]"""));
    }

    @Test
    void bytesThatAreNoTextAreBase64InJson() throws Exception {
        server = answering(InvocationResponse.of(
                new byte[] {-1, 0}, MediaType.parse("image/png").orElseThrow()));
        var output = outputs(server, body("x INT64 [1] 1")).at("/0");
        assertThat(Base64.getDecoder().decode(output.path("data").path(0).asText()))
                .containsExactly(-1, 0);
        assertThat(output.path("parameters").path("content_type").asText()).isEqualTo("image/png");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        []                                      | []
        [1, null, 0.5]                          | [{'name':'output_0','datatype':'FP64','shape':[3],'data':[1.0,null,0.5]}]
        {'predictions': [[1, 2], [3, 4]]}       | [{'name':'output_0','datatype':'INT64','shape':[2,2],'data':[1,2,3,4]}]
        [true, false]                           | [{'name':'output_0','datatype':'BOOL','shape':[2],'data':[true,false]}]
        {'outputs': 'text'}                     | [{'name':'output_0','datatype':'BYTES','shape':[1],'data':['text']}]
        [{'a': 'x', 'b': [1, 2]}]               | [{'name':'a','datatype':'BYTES','shape':[1],'data':['x']},{'name':'b','datatype':'INT64','shape':[1,2],'data':[1,2]}]
        [{'a': [1]}, {'a': [1, 2]}]             | [{'name':'a','datatype':'BYTES','shape':[2],'parameters':{'content_type':'application/json'},'data':['[1]','[1,2]']}]
        [[{'a': 1}], []]                        | [{'name':'output_0','datatype':'BYTES','shape':[2],'parameters':{'content_type':'application/json'},'data':['[{~a~:1}]','[]']}]
        """)
    void jsonOfAnyFormBecomesTensors(String answer, String outputs) throws Exception {
        var expected = outputs.equals("[]")
                ? "[{\"name\":\"output_0\",\"datatype\":\"BYTES\",\"shape\":[0],\"data\":[]}]"
                : outputs.replace('\'', '"').replace("~", "\\\"");
        server = answering(InvocationResponse.of(answer.replace('\'', '"'), MediaType.JSON));
        var answered = json(send(server, "model", body("x INT64 [1] 1")));
        assertThat(answered.path("outputs")).isEqualTo(tree(expected));
    }

    @Test
    void hooksGetTheRowsOfAllInputsAsRecords() throws Exception {
        var handler = new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) throws IOException {
                return List.of(request.contentType() + " " + request.text());
            }

            @Override
            public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
                return InvocationResponse.of(predictions.getFirst(), MediaType.TEXT);
            }
        };
        server = TestServer.with(handler).start();
        assertThat(json(send(server, "model", """
        {"inputs": [{"name": "n", "datatype": "FP32", "shape": [2, 2], "data": [1, 2, 3, 4]},
                    {"name": "t", "datatype": "BYTES", "shape": [2, 2], "data": ["a", "b", "c", "d"]}]}""")).at("/outputs/0/data/0").asText())
                .isEqualToIgnoringCase(
                        "application/json [{\"n\":[1.0,2.0],\"t\":[\"a\",\"b\"]},{\"n\":[3.0,4.0],\"t\":[\"c\",\"d\"]}]");
        assertThat(json(send(server, "model", """
        {"parameters": {"k": 1}, "inputs": [{"name": "t", "datatype": "BYTES", "shape": [2, 1, 2], "data": ["a", "b", "c", "d"]}]}""")).at("/outputs/0/data/0").asText())
                .isEqualToIgnoringCase(
                        "application/json {\"inputs\":[[[\"a\",\"b\"]],[[\"c\",\"d\"]]],\"parameters\":{\"k\":1}}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        []                                       | body: found a list
        {                                        | body: not JSON
        {}                                       | inputs: found none, expected at least one
        {'inputs': []}                           | inputs: found none, expected at least one
        {'inputs': [1]}                          | inputs[0]: found 1, expected an object
        {'id': 1, 'inputs': []}                  | id: found 1, expected a text
        {'inputs': [{'name': 'values'}]}         | inputs[0].datatype: found nothing, expected a text
        {'inputs': [{'name': 'values', 'datatype': 'UINT32', 'shape': [1], 'data': [1]}]} | inputs[0].datatype: found ~UINT32~, expected one of [BOOL
        {'inputs': [{'name': 'values', 'datatype': 'FP32', 'data': [1]}]} | inputs[0].shape: found nothing, expected a list of whole numbers
        {'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [-1], 'data': [1]}]} | inputs[0].shape: found [-1], expected lengths of at least 0
        {'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [99999, 99999], 'data': [1]}]} | inputs[0].shape: found [99999, 99999], expected
        {'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [3], 'data': [1, 2]}]} | inputs[0].data: found 2 elements, expected 3 for the shape [3]
        {'inputs': [{'name': 'values', 'datatype': 'INT8', 'shape': [1], 'data': [300]}]} | inputs[0].data[0]: found 300, expected a whole number that is int8
        {'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1]}]} | inputs[0].data: found nothing, expected a list, or parameters.binary_data_size
        {'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'parameters': {'binary_data_size': 4}}]} | inputs[0].parameters.binary_data_size: found 4, expected a whole number from 0 to 0
        {'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'parameters': []}]} | inputs[0].parameters: found a list, expected an object
        {'inputs': [{'name': 'pixels', 'datatype': 'FP32', 'shape': [1], 'data': [1]}]} | inputs[0].name: found ~pixels~, expected one of [values]
        {'inputs': [{'name': 'values', 'datatype': 'BYTES', 'shape': [1], 'data': ['a']}]} | inputs[0].datatype: found BYTES, expected FP32
        {'inputs': [{'name': 'values', 'datatype': 'BYTES', 'shape': [1], 'data': [1]}]} | inputs[0].data[0]: found 1, expected a text
        {'inputs': [{'name': 'values', 'datatype': 'BYTES', 'shape': [2], 'data': ['a', 'b'], 'parameters': {'content_type': 'image/png'}}]} | inputs[0]: found 2 elements of image/png
        {'inputs': [{'name': 'values', 'datatype': 'BYTES', 'shape': [1], 'data': ['a'], 'parameters': {'content_type': 'image/png'}}]} | inputs[0]: found what hooks get as image/png, expected
        {'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'data': [1]}, {'name': 'values', 'datatype': 'FP32', 'shape': [1], 'data': [1]}]} | inputs[1].name: found ~values~ a second time
        {'inputs': [{'name': 'values', 'datatype': 'BYTES', 'shape': [1], 'data': ['YQ=='], 'parameters': {'content_type': 'base64'}}]} | inputs[0].parameters.content_type: found the text ~base64~, expected a media type
        {'parameters': {'sequence_id': 5, 'sequence_start': true}, 'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'data': [1]}]} | parameters.sequence_
        {'parameters': {'sequence_id': 'a'}, 'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'data': [1]}]} | parameters.sequence_id: found the text ~a~, expected 0
        {'parameters': {'priority': 1}, 'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'data': [1]}]} | parameters.priority: found 1, expected 0
        {'parameters': {'timeout': 'a'}, 'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'data': [1]}]} | parameters.timeout: found the text ~a~, expected a whole number
        {'parameters': {'top_k': 1}, 'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'data': [1]}]} | parameters: found the unknown parameter ~top_k~, expected none
        {'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'parameters': {'shared_memory_region': 'a'}}]} | inputs[0].parameters: found the unknown parameter ~shared_memory_region~, expected one of binary_data_size, content_type
        {'outputs': [{'name': 'output_0', 'parameters': {'classification': 3}}], 'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'data': [1]}]} | outputs[0].parameters: found the unknown parameter ~classification~, expected one of binary_data
        {'outputs': [{'name': 'other'}], 'inputs': [{'name': 'values', 'datatype': 'FP32', 'shape': [1], 'data': [1]}]} | outputs[0].name: found ~other~, expected one of [output_0]
        """)
    void whatIsWrongIsNamed(String body, String message) throws Exception {
        assertError(send(doubled, "model", body.replace('\'', '"')), 400, message.replace('~', '"'));
    }

    @Test
    void rowsOfTextsMustBeAsMany() throws Exception {
        assertError(send(questions, "answers", """
        {"inputs": [{"name": "question", "datatype": "BYTES", "shape": [1], "data": ["a"]},
                    {"name": "context", "datatype": "BYTES", "shape": [2], "data": ["a", "b"]}]}"""), 400, "inputs[1].shape: found [2], expected 1 as the first length");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        BYTES | 02000000616200  | inputs[0]: found 1 elements and 1 bytes behind them
        BYTES | ffffffff        | inputs[0]: found 4294967295 as the length of element 0
        BYTES | 0200000061      | inputs[0]: found 2 as the length of element 0, expected at most the 1 bytes
        FP32  | 0000            | inputs[0]: found 2 bytes, expected 4 for FP32[1]
        BOOL  | 02              | found the byte 0x02, expected 0 or 1 for a bool
        """)
    void bytesThatAreWrongAreNamed(String datatype, String bytes, String message) throws Exception {
        var raw = HexFormat.of().parseHex(bytes);
        var response = sendBinary(doubled, "model", """
        {"inputs": [{"name": "values", "datatype": "%s", "shape": [1], "parameters": {"binary_data_size": %d}}]}""".formatted(datatype, raw.length), raw);
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(new String(response.body(), StandardCharsets.UTF_8)).contains(message);
    }

    @Test
    void bytesOfNoInputAreRefused() throws Exception {
        var response = sendBinary(doubled, "model", "{\"inputs\": []}", new byte[3]);
        assertThat(new String(response.body(), StandardCharsets.UTF_8))
                .contains("body: found 3 bytes that belong to no input");
        for (var length : List.of("99", "x", "-1")) {
            assertError(
                    doubled.send(request(doubled, "model", "{}")
                            .header(LENGTH, length)
                            .build()),
                    400,
                    LENGTH + ": found ");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v2/models/other",
                "/v2/models/other/ready",
                "/v2/models/model/versions/2",
                "/v2/models/model/versions/2/ready"
            })
    void otherModelsAndVersionsAreUnknown(String path) throws Exception {
        assertError(doubled.get(path), 404, "found ", ", expected ");
        assertError(doubled.post(path.replace("/ready", "") + "/infer", "{}"), 404, "found ", ", expected ");
    }

    @Test
    void pathsAndMethodsThatAreNotThereAreErrorsOfTheProtocol() throws Exception {
        assertError(doubled.get("/v2/nope"), 404, "no such path");
        assertError(doubled.get("/v2/models/a%5Cb"), 404, "a\\b");
        assertError(doubled.get("/v2/models/%ff"), 400, "");
        var response = doubled.get("/v2/models/model/infer");
        assertError(response, 405, "expected POST");
        assertThat(response.headers().firstValue("Allow")).contains("POST");
    }

    @Test
    void aSignatureThatFailsIsTheHooksFault() throws Exception {
        var handler = new TextHandler() {
            @Override
            public Signature signature() {
                throw new IllegalStateException("no idea");
            }
        };
        server = TestServer.with(handler).start();
        assertError(server.get("/v2/models/model"), 500, "signature failed");
    }

    @Test
    void anAnswerThatIsNotTheJsonThatItSaysIsTheHooksFault() throws Exception {
        server = answering(InvocationResponse.of("{", MediaType.JSON));
        assertError(send(server, "model", """
        {"inputs": [{"name": "n", "datatype": "INT64", "shape": [1, 1], "data": [1]}, {"name": "t", "datatype": "BYTES", "shape": [1],
         "data": ["a"]}]}"""), 500, "outputFn's answer: not JSON");
    }

    @ParameterizedTest
    @ValueSource(strings = {"BYTES", "FP32"})
    void rowsWithoutElementsCountAsMemory(String type) throws Exception {
        var body = """
        {"inputs": [{"name": "values", "datatype": "%s", "shape": [%s], "data": []}]}""";
        server = TestServer.with(new TextHandler()).start();
        for (var shape : List.of("2147483647, 0", "1, 2147483647, 0")) {
            assertError(send(server, "model", body.formatted(type, shape)), 413, "more memory than");
        }
        assertError(send(server, "model", body.formatted(type, "2, 0, 2147483647")), 400, "inputs[0].shape: found");
        assertStatus(send(server, "model", body.formatted(type, "2, 0")), 200);
    }

    @Test
    void theServerIsDescribedWhileNoMemoryIsLeft() throws Exception {
        var process = ProcessMemory.ofThisProcess();
        var few = process.few().take(process.few().bytes());
        var medium = process.medium().take(process.medium().bytes());
        var large = process.large().take(process.large().bytes());
        try (few;
                medium;
                large) {
            assertThat(doubled.get("/v2").statusCode()).isEqualTo(200);
        }
    }
}
