package dev.berth.openinference;

import static dev.berth.testing.GrpcClient.assertFails;
import static dev.berth.testing.GrpcClient.text;
import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.google.protobuf.DynamicMessage;
import dev.berth.error.ErrorType;
import dev.berth.hooks.Signature;
import dev.berth.metrics.ServingMetrics;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.GrpcClient;
import dev.berth.testing.Infer;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import io.grpc.CallOptions;
import io.grpc.Status.Code;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// gRPC of a real server, asked by gRPC's own client, and what HTTP has alike.
@Timeout(300)
class GrpcTest {

    @TempDir
    private static Path directory;

    @AutoClose
    private static TestServer doubled;

    @AutoClose
    private static GrpcClient client;

    @BeforeAll
    static void start() throws Exception {
        doubled = TestServer.artifact(TestArtifact.tensors(directory, "doubled", "doubled.pt", null))
                .start("BERTH_GRPC_PORT=0");
        client = new GrpcClient(doubled);
    }

    @Test
    void theServerAndItsModelSayWhatTheyAre() {
        assertThat(text(client.call("ServerLive", ""))).isEqualTo("live: true");
        assertThat(text(client.call("ServerReady", ""))).isEqualTo("ready: true");
        assertThat(text(client.call("ServerMetadata", "")))
                .isEqualTo(
                        "name: \"berth\" version: \"%s\" extensions: \"binary_tensor_data\" extensions: \"model_configuration\" extensions: \"model_repository\" extensions: \"statistics\""
                                .formatted(ServingMetrics.version()));
        for (var asked : List.of("", "name: 'model'", "name: 'model' version: '1'")) {
            assertThat(text(client.call("ModelReady", asked))).isEqualTo("ready: true");
            assertThat(text(client.call("ModelMetadata", asked)))
                    .startsWith(
                            "name: \"model\" versions: \"1\" platform: \"berth\" inputs { name: \"values\" datatype: \"FP32\" shape: -1");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        BOOL  | [true,false] | bool_contents | 0100 | INT64 | [2,0] | int64_contents | 02000000000000000000000000000000
        UINT8 | [1,127]  | uint_contents | 017f | UINT8 | [2,254] | uint_contents | 02fe
        INT8  | [-64,63] | int_contents | c03f | INT8 | [-128,126] | int_contents | 807e
        INT16 | [-16384,1] | int_contents | 00c00100 | INT32 | [-32768,2] | int_contents | 0080ffff02000000
        INT32 | [-1073741824,1] | int_contents | 000000c001000000 | INT32 | [-2147483648,2] | int_contents | 0000008002000000
        INT64 | [4611686018427387903,-1] | int64_contents | ffffffffffffff3fffffffffffffffff | INT64 | [9223372036854775806,-2] | int64_contents | feffffffffffff7ffeffffffffffffff
        FP16  | [0.5,-1] | | 003800bc | FP16 | [1.0,-2.0] | | 003c00c0
        FP32  | [0.5,-1] | fp32_contents | 0000003f000080bf | FP32 | [1.0,-2.0] | fp32_contents | 0000803f000000c0
        FP64  | [0.5,-1] | fp64_contents | 000000000000e03f000000000000f0bf | FP32 | [1.0,-2.0] | fp32_contents | 0000803f000000c0
        """)
    void tensorsOfEveryTypeComeAndGo(
            String datatype,
            String data,
            String contents,
            String bytes,
            String answered,
            String answer,
            String answeredContents,
            String answeredBytes)
            throws Exception {
        var raw = HexFormat.of().parseHex(bytes);
        var output = "{\"name\": \"output_0\", \"datatype\": \"%s\", \"shape\": [2, 1], %s}";
        var head = "{\"model_name\": \"model\", \"model_version\": \"1\", \"id\": \"a\", \"outputs\": [%s]}";
        assertThat(Infer.json(Infer.send(doubled, "model", """
        {"id": "a", "inputs": [{"name": "values", "datatype": "%s", "shape": [2, 1], "data": %s}]}""".formatted(datatype, data))))
                .isEqualTo(Infer.tree(head.formatted(output.formatted(answered, "\"data\": " + answer))));

        var binary = Infer.sendBinary(doubled, "model", """
        {"id": "a", "parameters": {"binary_data_output": true}, "inputs": [{"name": "values", "datatype": "%s", "shape": [2, 1],
         "parameters": {"binary_data_size": %d}}]}""".formatted(datatype, raw.length), raw);
        int length = Integer.parseInt(binary.headers().firstValue(Infer.LENGTH).orElseThrow());
        assertThat(binary.headers().firstValue("Content-Type")).contains("application/octet-stream");
        var size = "\"parameters\": {\"binary_data_size\": %d}".formatted(answeredBytes.length() / 2);
        assertThat(Infer.tree(new String(binary.body(), 0, length, StandardCharsets.UTF_8)))
                .isEqualTo(Infer.tree(head.formatted(output.formatted(answered, size))));
        assertThat(HexFormat.of().formatHex(binary.body(), length, binary.body().length))
                .isEqualTo(answeredBytes);

        var response = client.call("ModelInfer", raw("""
        model_name: 'model' inputs { name: 'values' datatype: '%s' shape: [2] }""".formatted(datatype), bytes), CallOptions.DEFAULT);
        assertThat(text(response)).contains("datatype: \"%s\" shape: 2 }".formatted(answered));
        assertThat((Collection<?>)
                        response.getField(response.getDescriptorForType().findFieldByName("raw_output_contents")))
                .singleElement()
                .isEqualTo(ByteString.copyFrom(HexFormat.of().parseHex(answeredBytes)));
        if (contents != null) {
            var values = answer.replaceAll("[\\[\\]]", "").split(",");
            assertThat(text(client.call("ModelInfer", """
            model_name: 'model' id: 'a'
            inputs { name: 'values' datatype: '%s' shape: [2, 1] contents { %s: %s } }""".formatted(datatype, contents, data))))
                    .isEqualTo(
                            "model_name: \"model\" model_version: \"1\" id: \"a\" outputs { name: \"output_0\" datatype: \"%s\" shape: 2 shape: 1 contents { %s: %s %2$s: %s } }"
                                    .formatted(answered, answeredContents, values[0], values[1]));
        }
    }

    private static DynamicMessage raw(String request, String bytes) {
        var message = GrpcClient.message("ModelInferRequest", request);
        var field = message.getDescriptorForType().findFieldByName("raw_input_contents");
        return message.toBuilder()
                .addRepeatedField(field, ByteString.copyFrom(HexFormat.of().parseHex(bytes)))
                .build();
    }

    @Test
    void textsAreColumnsOfRecords() throws Exception {
        try (var server = TestServer.sample().start("BERTH_GRPC_PORT=0");
                var asking = new GrpcClient(server)) {
            var response = asking.call("ModelInfer", """
          inputs { name: 'question' datatype: 'BYTES' shape: 1 contents { bytes_contents: 'Where is it?' } }
          inputs { name: 'context' datatype: 'BYTES' shape: 1 contents { bytes_contents: 'It is in the house.' } }
          outputs { name: 'answer' }""");
            assertThat(text(response))
                    .contains("name: \"answer\" datatype: \"BYTES\" shape: 1 contents { bytes_contents: \"")
                    .contains("house")
                    .doesNotContain("score");
            assertThat(text(asking.call("ModelInfer", """
          parameters { key: 'top_k' value { int64_param: 2 } }
          inputs { name: 'question' datatype: 'BYTES' shape: 1 contents { bytes_contents: 'Where is it?' } }
          inputs { name: 'context' datatype: 'BYTES' shape: 1 contents { bytes_contents: 'It is in the house.' } }""")))
                    .contains("name: \"score\" datatype: \"FP64\" shape: 1 shape: 2");
            assertThat(text(asking.call("ModelInfer", """
          inputs { name: 'question' datatype: 'BYTES' shape: 2 }
          inputs { name: 'context' datatype: 'BYTES' shape: 2 }
          outputs { name: 'answer' }
          raw_input_contents: ['\\005\\000\\000\\000Where\\004\\000\\000\\000Who?', '\\006\\000\\000\\000a home\\005\\000\\000\\000a boy']"""))).contains("raw_output_contents", "home", "boy");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ModelInfer | model_name: 'other'    | NOT_FOUND | model: found ~other~, expected model
        ModelInfer | model_name: 'model' model_version: '2' | NOT_FOUND | version: found ~2~, expected 1
        ModelInfer | model_name: 'model'    | INVALID_ARGUMENT | inputs: found none, expected at least one
        ModelInfer | inputs { name: 'values' datatype: 'X' } | INVALID_ARGUMENT | inputs[0].datatype: found ~X~, expected one of
        ModelInfer | inputs { name: 'values' datatype: 'FP16' shape: 1 } | INVALID_ARGUMENT | inputs[0].contents: found none, expected raw_input_contents for FP16
        ModelInfer | inputs { name: 'values' datatype: 'FP32' shape: 1 } | INVALID_ARGUMENT | inputs[0].contents: found none, expected fp32_contents for FP32
        ModelInfer | inputs { name: 'values' datatype: 'FP32' shape: 1 contents { int_contents: 1 } } | INVALID_ARGUMENT | inputs[0].contents: found int_contents, expected fp32_contents
        ModelInfer | inputs { name: 'values' datatype: 'FP32' shape: 1 contents { int_contents: 1 fp32_contents: 1 } } | INVALID_ARGUMENT | contents: found int_contents and fp32_contents
        ModelInfer | inputs { name: 'values' datatype: 'FP32' shape: 1 contents { fp32_contents: [1, 2] } } | INVALID_ARGUMENT | inputs[0].contents: found 2 elements, expected 1 for the shape [1]
        ModelInfer | inputs { name: 'values' datatype: 'FP32' shape: 1 } raw_input_contents: 'aa' | INVALID_ARGUMENT | inputs[0]: found 2 bytes, expected 4 for FP32[1]
        ModelInfer | inputs { name: 'values' datatype: 'FP32' shape: 1 } raw_input_contents: ['a', 'a'] | INVALID_ARGUMENT | raw_input_contents: found 2, expected 1
        ModelInfer | inputs { name: 'values' datatype: 'FP32' shape: 1 contents { fp32_contents: 1 } } raw_input_contents: 'aaaa' | INVALID_ARGUMENT | found raw_input_contents too
        ModelInfer | parameters { key: 'timeout' value { int64_param: 1 } } inputs { name: 'values' datatype: 'FP32' shape: 1 } raw_input_contents: 'aaaa' | DEADLINE_EXCEEDED | the request's time ran out
        ModelInfer | inputs { name: 'wert ä' datatype: 'FP32' shape: 1 } raw_input_contents: 'aaaa' | INVALID_ARGUMENT | found ~wert ä~, expected one of [values]
        ModelMetadata | name: 'other' | NOT_FOUND | expected model
        ModelMetadata | name: 'model' version: '3' | NOT_FOUND | expected 1
        """)
    void whatIsWrongIsNamed(String method, String request, Code code, String message) {
        assertFails(() -> client.call(method, request), code, message.replace('~', '"'));
    }

    @Test
    void modelsThatAreNotThereAreNotReady() {
        for (var asked : List.of("name: 'other'", "name: 'model' version: '2'")) {
            // False is what protobuf leaves out.
            assertThat(text(client.call("ModelReady", asked))).isEmpty();
        }
    }

    /// A text that is longer than its message; a field 7 of 20,000 bytes before the name of a model; a name
    /// that is longer than what is read first; a text that is not UTF-8.
    @ParameterizedTest
    @CsvSource({
        "ModelInfer, 2a09, 0, message: not a ModelInferRequest: ",
        "ModelInfer, 0a09, 0, message: not a ModelInferRequest: ",
        "ModelInfer, 3aa09c01, 20000, 'raw_input_contents: found 1, expected 0'",
        "ModelInfer, 0aa09c01, 20000, 'model_name: found '",
        "ModelReady, 0a01ff, 0, message: not a ModelReadyRequest: ",
        "ModelStatistics, 0a09, 0, message: not a ModelStatisticsRequest: ",
        "RepositoryIndex, 0a09, 0, message: not a RepositoryIndexRequest: ",
        "RepositoryModelLoad, 0a09, 0, message: not a RepositoryModelLoadRequest: ",
        "grpc.health.v1.Health/Check, 0a01ff, 0, message: not a HealthCheckRequest: "
    })
    void messagesThatAreBrokenAreBadRequests(String method, String bytes, int zeros, String message) {
        var request = HexFormat.of().parseHex(bytes + "00".repeat(zeros));
        assertFails(() -> client.call(method, request), Code.INVALID_ARGUMENT, message);
    }

    @Test
    void anotherMethodIsUnimplemented() {
        assertFails(() -> client.call("Nope", new byte[0]), Code.UNIMPLEMENTED, "no such method");
    }

    @ParameterizedTest
    @ValueSource(strings = {"identity", "gzip", "deflate"})
    void largeMessagesComeWholeHoweverTheyAreCompressed(String coding) {
        var bytes = new byte[3 << 20];
        bytes[bytes.length - 1] = 1;
        var request = raw(
                "model_name: 'model' inputs { name: 'values' datatype: 'UINT8' shape: [1, 3145728] }",
                HexFormat.of().formatHex(bytes));
        assertThat(text(client.call("ModelInfer", request, packed(coding)))).endsWith("\\002\"");
        var asked = GrpcClient.message("ModelReadyRequest", "name: 'model'");
        assertThat(text(client.call("ModelReady", asked, packed(coding)))).isEqualTo("ready: true");
    }

    private static CallOptions packed(String coding) {
        return coding.equals("identity") ? CallOptions.DEFAULT : CallOptions.DEFAULT.withCompression(coding);
    }

    @Test
    void aMessageThatWouldBeTooLargeOrIsCompressedOtherwiseIsRefused() {
        var zeros = GrpcClient.message("ModelInferRequest", "model_name: 'model' inputs { name: 'values' }");
        var field = zeros.getDescriptorForType().findFieldByName("raw_input_contents");
        var bomb = zeros.toBuilder()
                .addRepeatedField(field, ByteString.copyFrom(new byte[110 << 20]))
                .build();
        assertFails(
                () -> client.call("ModelInfer", bomb, CallOptions.DEFAULT.withCompression("gzip")),
                Code.RESOURCE_EXHAUSTED,
                "found ");
        assertFails(
                () -> client.call("ModelInfer", zeros, CallOptions.DEFAULT.withCompression("snappy")),
                Code.UNIMPLEMENTED,
                "grpc-encoding: found \"snappy\", expected one of identity, gzip, deflate");
    }

    @ParameterizedTest
    @ValueSource(strings = {"identity", "gzip", "deflate"})
    void aStreamAnswersItsRequestsOneAfterAnother(String coding) throws Exception {
        var request = """
        model_name: 'model' id: '%s' inputs { name: 'values' datatype: 'INT64' shape: 1 contents { int64_contents: %d } }""";
        var answers = client.stream(
                "ModelStreamInfer",
                "ModelInferRequest",
                packed(coding),
                request.formatted("a", 1),
                "model_name: 'other'",
                "model_name: 'model'",
                request.formatted("b", 2));
        assertThat(answers.stream().map(GrpcClient::text))
                .containsExactly(
                        "infer_response { model_name: \"model\" model_version: \"1\" id: \"a\" parameters { key: \"triton_final_response\" value { bool_param: true } } outputs { name: \"output_0\" datatype: \"INT64\" shape: 1 contents { int64_contents: 2 } } }",
                        "error_message: \"model: found \\\"other\\\", expected model; --model-name gives it another name\"",
                        "error_message: \"inputs: found none, expected at least one\"",
                        "infer_response { model_name: \"model\" model_version: \"1\" id: \"b\" parameters { key: \"triton_final_response\" value { bool_param: true } } outputs { name: \"output_0\" datatype: \"INT64\" shape: 1 contents { int64_contents: 4 } } }");
    }

    @Test
    void aStreamEndsWhenTheServerStops() throws Exception {
        try (var stopping = TestServer.artifact(directory.resolve("doubled")).start("BERTH_GRPC_PORT=0");
                var asking = new GrpcClient(stopping)) {
            var call = asking.open("ModelStreamInfer", "ModelInferRequest", CallOptions.DEFAULT);
            call.write(GrpcClient.message("ModelInferRequest", "model_name: 'x'"));
            assertThat(text(call.read())).startsWith("error_message");
            stopping.close();
            assertFails(call::read, Code.UNAVAILABLE, "the server is stopping");
        }
    }

    @Test
    void eachRequestOfAStreamIsLoggedAndCounted() throws Exception {
        try (var log = new CapturedLog()) {
            var request =
                    "model_name: 'model' inputs { name: 'values' datatype: 'INT64' shape: 1 contents { int64_contents: 1 } }";
            client.stream("ModelStreamInfer", "ModelInferRequest", CallOptions.DEFAULT, request, "model_name: 'x'");
            await().untilAsserted(() -> assertThat(log.text())
                    .contains(
                            "message /inference.GRPCInferenceService/ModelStreamInfer 200",
                            "message /inference.GRPCInferenceService/ModelStreamInfer 404"));
        }
    }

    @Test
    void aCallOverHttp1IsToldWhereToGo() throws Exception {
        var response = overHttp1(doubled);
        assertThat(response.statusCode()).isEqualTo(415);
        assertThat(response.body()).contains("over HTTP/1.1, expected application/grpc over HTTP/2, at --grpc-port");
    }

    @Test
    void withoutAPortThereIsNoGrpc() throws Exception {
        try (var server = TestServer.with(new GatedHandler(new Gate(1))).start()) {
            assertThat(server.server().otherPorts()).isEmpty();
            assertThat(overHttp1(server).statusCode()).isEqualTo(404);
        }
    }

    private static HttpResponse<String> overHttp1(TestServer server) throws Exception {
        var path = "/inference.GRPCInferenceService/ServerLive";
        return server.send(server.request(path, BodyPublishers.noBody(), "Content-Type", "application/grpc"));
    }

    @Test
    @Tag("INV-13")
    void aFullQueueIsUnavailableAndCountedAndALateCallIsGivenUp() throws Exception {
        var gate = new Gate(1);
        int status = ErrorType.OVERLOADED.status();
        var request = "inputs { name: 'content' datatype: 'BYTES' shape: 1 contents { bytes_contents: '\"a\"' } }";
        try (var log = new CapturedLog();
                var server = TestServer.with(new GatedHandler(gate))
                        .start("BERTH_GRPC_PORT=0", "SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_QUEUE_CAPACITY=1");
                var asking = new GrpcClient(server)) {
            var running = asking.callAsync("ModelInfer", request);
            gate.awaitArrival();
            assertIsGivenUp(asking, "ModelInfer", request);
            server.awaitQueued(0);
            var waiting = asking.callAsync("ModelInfer", request);
            server.awaitQueued(1);
            assertFails(() -> asking.call("ModelInfer", request), Code.UNAVAILABLE, "model is overloaded");
            var refused = Infer.send(server, "model", Infer.body("content BYTES [1] \"\\\"a\\\"\""));
            Infer.assertError(refused, status, "model is overloaded");
            assertThat(refused.headers().firstValue("Retry-After")).isPresent();
            gate.open();
            assertThat(text(running.get())).contains("A");
            assertThat(text(waiting.get())).contains("A");
            assertStatus(Infer.send(server, "model", Infer.body("content BYTES [1] \"\\\"a\\\"\"")), 200);
            for (var route : List.of("GRPCInferenceService/ModelInfer", "/v2/models/{name}/infer")) {
                assertThat(server.get("/metrics").body().lines().filter(line -> line.contains(route)))
                        .anyMatch(line -> line.contains("\"" + status + "\""));
            }
            await().untilAsserted(() -> assertThat(log.text())
                    .contains("ModelInfer " + status, "ModelInfer 200", "model/infer " + status, "model/infer 200"));
        }
    }

    @Test
    void aCallThatAsksTheHooksEndsInItsOwnTime() throws Exception {
        var gate = new Gate(1);
        var handler = new TextHandler() {
            @Override
            public Signature signature() {
                try {
                    gate.pass();
                } catch (InterruptedException _) {
                    // At its deadline.
                }
                return Signature.UNKNOWN;
            }
        };
        try (var log = new CapturedLog();
                var server = TestServer.with(handler).start("BERTH_GRPC_PORT=0");
                var asking = new GrpcClient(server)) {
            assertIsGivenUp(asking, "ModelMetadata", "");
            await().untilAsserted(() -> assertThat(log.text()).contains("ModelMetadata 504"));
            gate.open();
        }
    }

    /// What nobody answers ends when its client wants it to.
    private static void assertIsGivenUp(GrpcClient asking, String method, String request) {
        var message = GrpcClient.message(method + "Request", request);
        // A client's first call has a connection to make, which takes longer on a slow machine.
        assertThat(text(asking.call("ServerLive", ""))).isEqualTo("live: true");
        var soon = CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS);
        assertFails(() -> asking.call(method, message, soon), Code.DEADLINE_EXCEEDED, "");
    }

    @Test
    void aModelThatIsNotThereIsUnavailable() throws Exception {
        var broken = Files.createDirectory(directory.resolve("broken"));
        Files.writeString(broken.resolve("model.json"), "{}");
        try (var server = TestServer.artifact(broken).startWithoutWaiting("BERTH_GRPC_PORT=0");
                var asking = new GrpcClient(server)) {
            var problem = "the model could not be loaded";
            await().untilAsserted(() -> Infer.assertError(server.get("/v2/health/ready"), 503, problem));
            Infer.assertError(server.get("/v2/models/model/ready"), 503, problem);
            Infer.assertError(Infer.send(server, "model", "{}"), 503, problem);
            assertThat(server.get("/v2/health/live").statusCode()).isEqualTo(200);
            assertFails(() -> asking.call("ModelInfer", ""), Code.UNAVAILABLE, problem);
            assertThat(text(asking.call("ServerLive", ""))).isEqualTo("live: true");
            assertThat(text(asking.call("ServerReady", ""))).isEmpty();
            assertThat(text(asking.call("ModelReady", ""))).isEmpty();
        }
    }

    @Test
    void oneOfManyModelsIsAskedByItsName() throws Exception {
        var root = Files.createDirectory(directory.resolve("many"));
        TestArtifact.tensors(root, "twice", "doubled.pt", null);
        try (var server = TestServer.ofDirectory(root).start("BERTH_GRPC_PORT=0");
                var asking = new GrpcClient(server)) {
            assertThat(
                            text(
                                    asking.call(
                                            "ModelInfer",
                                            "model_name: 'twice' inputs { name: 'values' datatype: 'FP32' shape: 1 contents { fp32_contents: 4 } }")))
                    .contains("model_name: \"twice\"", "fp32_contents: 8.0");
            assertFails(() -> asking.call("ModelInfer", "model_name: 'nope'"), Code.NOT_FOUND, "nope");
            assertThat(server.get("/v2/models/twice/ready").statusCode()).isEqualTo(200);
            assertThat(Infer.json(server.get("/v2/models/twice")).path("name").asText())
                    .isEqualTo("twice");
            Infer.assertError(server.get("/v2/models/nope/ready"), 404, "nope");
            Infer.assertError(Infer.send(server, "nope", "{}"), 404, "nope");
            assertThat(Infer.json(Infer.send(server, "twice", Infer.body("values FP32 [1] 4")))
                            .at("/outputs/0/data/0")
                            .asDouble())
                    .isEqualTo(8);
        }
    }
}
