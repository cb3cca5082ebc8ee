package dev.berth.openinference;

import static dev.berth.testing.GrpcClient.assertFails;
import static dev.berth.testing.GrpcClient.text;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import com.google.protobuf.DynamicMessage;
import dev.berth.metrics.ServingMetrics;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.GrpcClient;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import io.grpc.CallOptions;
import io.grpc.Status.Code;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// gRPC of a real server, asked by gRPC's own client.
@Timeout(300)
class GrpcTest {

    @TempDir
    private static Path directory;

    private static TestServer doubled;
    private static GrpcClient client;

    @BeforeAll
    static void start() throws Exception {
        var artifact = Files.createDirectory(directory.resolve("doubled"));
        Files.copy(TestArtifact.TORCHSCRIPT.resolve("doubled.pt"), artifact.resolve("model.pt"));
        doubled = TestServer.artifact(artifact).set("BERTH_GRPC_PORT", "0").start();
        client = new GrpcClient(doubled.server().otherPorts().get("HTTP/2"));
    }

    @AfterAll
    static void stop() throws Exception {
        client.close();
        doubled.close();
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
    @CsvSource(
            delimiter = '|',
            value = {
                "BOOL  | bool_contents: [true, false]     | INT64 | int64_contents: 2 int64_contents: 0",
                "UINT8 | uint_contents: [1, 127]          | UINT8 | uint_contents: 2 uint_contents: 254",
                "INT8  | int_contents: [-64, 63]          | INT8  | int_contents: -128 int_contents: 126",
                "INT16 | int_contents: [-16384, 1]        | INT32 | int_contents: -32768 int_contents: 2",
                "INT32 | int_contents: [-1073741824, 1]   | INT32 | int_contents: -2147483648 int_contents: 2",
                "INT64 | int64_contents: [4611686018427387903, -1] | INT64 | int64_contents: 9223372036854775806 int64_contents: -2",
                "FP32  | fp32_contents: [0.5, -1]         | FP32  | fp32_contents: 1.0 fp32_contents: -2.0",
                "FP64  | fp64_contents: [0.5, -1]         | FP32  | fp32_contents: 1.0 fp32_contents: -2.0"
            })
    void typedContentsComeAndGo(String datatype, String contents, String answered, String answer) {
        var response = client.call("ModelInfer", """
        model_name: 'model' id: 'a'
        inputs { name: 'values' datatype: '%s' shape: [2, 1] contents { %s } }""".formatted(datatype, contents));
        assertThat(text(response))
                .isEqualTo(
                        "model_name: \"model\" model_version: \"1\" id: \"a\" outputs { name: \"output_0\" datatype: \"%s\" shape: 2 shape: 1 contents { %s } }"
                                .formatted(answered, answer));
    }

    @ParameterizedTest
    @CsvSource({
        "BOOL, 0100, INT64, 02000000000000000000000000000000",
        "UINT8, 017f, UINT8, 02fe",
        "INT8, c0ff, INT8, 80fe",
        "INT16, 0100ff00, INT32, 02000000fe010000",
        "INT32, 01000000ffffffff, INT32, 02000000feffffff",
        "INT64, 0100000000000000ffffffffffffffff, INT64, 0200000000000000feffffffffffffff",
        "FP16, 003c0038, FP16, 0040003c",
        "FP32, 0000803f0000003f, FP32, 000000400000803f",
        "FP64, 000000000000f03f000000000000e03f, FP32, 000000400000803f"
    })
    void rawContentsComeAndGo(String datatype, String bytes, String answered, String answer) {
        var response = client.call("ModelInfer", raw("""
        model_name: 'model' inputs { name: 'values' datatype: '%s' shape: [2] }""".formatted(datatype), bytes), CallOptions.DEFAULT);
        assertThat(text(response)).contains("datatype: \"%s\" shape: 2 }".formatted(answered));
        var outputs = (Collection<?>)
                response.getField(response.getDescriptorForType().findFieldByName("raw_output_contents"));
        assertThat(outputs)
                .singleElement()
                .isEqualTo(ByteString.copyFrom(HexFormat.of().parseHex(answer)));
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
        try (var server = TestServer.sample().set("BERTH_GRPC_PORT", "0").start();
                var asking = new GrpcClient(server.server().otherPorts().get("HTTP/2"))) {
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
        }
    }

    @Test
    void rawTextsAreElementsOfTheirContents() throws Exception {
        try (var server = TestServer.sample().set("BERTH_GRPC_PORT", "0").start();
                var asking = new GrpcClient(server.server().otherPorts().get("HTTP/2"))) {
            var response = asking.call("ModelInfer", """
          inputs { name: 'question' datatype: 'BYTES' shape: 2 }
          inputs { name: 'context' datatype: 'BYTES' shape: 2 }
          outputs { name: 'answer' }
          raw_input_contents: ['\\005\\000\\000\\000Where\\004\\000\\000\\000Who?', '\\006\\000\\000\\000a home\\005\\000\\000\\000a boy']""");
            assertThat(text(response)).contains("raw_output_contents").contains("home", "boy");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "model_name: 'other'    | NOT_FOUND | model: found ~other~, expected model",
                "model_name: 'model' model_version: '2' | NOT_FOUND | version: found ~2~, expected 1",
                "model_name: 'model'    | INVALID_ARGUMENT | inputs: found none, expected at least one",
                "inputs { name: 'values' datatype: 'X' } | INVALID_ARGUMENT | inputs[0].datatype: found ~X~, expected one of",
                "inputs { name: 'values' datatype: 'FP16' shape: 1 } | INVALID_ARGUMENT | inputs[0].contents: found none, expected raw_input_contents for FP16",
                "inputs { name: 'values' datatype: 'FP32' shape: 1 } | INVALID_ARGUMENT | inputs[0].contents: found none, expected fp32_contents for FP32",
                "inputs { name: 'values' datatype: 'FP32' shape: 1 contents { int_contents: 1 } } | INVALID_ARGUMENT | inputs[0].contents: found int_contents, expected fp32_contents",
                "inputs { name: 'values' datatype: 'FP32' shape: 1 contents { int_contents: 1 fp32_contents: 1 } } | INVALID_ARGUMENT | contents: found int_contents and fp32_contents",
                "inputs { name: 'values' datatype: 'FP32' shape: 1 contents { fp32_contents: [1, 2] } } | INVALID_ARGUMENT | inputs[0].contents: found 2 elements, expected 1 for the shape [1]",
                "inputs { name: 'values' datatype: 'INT8' shape: 1 contents { int_contents: 300 } } | INVALID_ARGUMENT | inputs[0].contents[0]: found 300, expected a whole number that is int8",
                "inputs { name: 'values' datatype: 'FP32' shape: 1 } raw_input_contents: 'aa' | INVALID_ARGUMENT | inputs[0]: found 2 bytes, expected 4 for FP32[1]",
                "inputs { name: 'values' datatype: 'FP32' shape: 1 } raw_input_contents: ['a', 'a'] | INVALID_ARGUMENT | raw_input_contents: found 2, expected 1",
                "inputs { name: 'values' datatype: 'FP32' shape: 1 contents { fp32_contents: 1 } } raw_input_contents: 'aaaa' | INVALID_ARGUMENT | found raw_input_contents too",
                "outputs { name: 'output_0' parameters { key: 'classification' value { int64_param: 3 } } } | INVALID_ARGUMENT | outputs[0].parameters: found the unknown parameter ~classification~",
                "inputs { name: 'values' parameters { key: 'shared_memory_region' value { string_param: 'a' } } datatype: 'FP32' } | INVALID_ARGUMENT | inputs[0].parameters: found the unknown parameter ~shared_memory_region~",
                "parameters { key: 'sequence_id' value { int64_param: 3 } } | INVALID_ARGUMENT | parameters.sequence_id: found ~3~, expected none",
                "parameters { key: 'timeout' value { int64_param: 1 } } inputs { name: 'values' datatype: 'FP32' shape: 1 } raw_input_contents: 'aaaa' | DEADLINE_EXCEEDED | the request's time ran out",
                "inputs { name: 'wert ä' datatype: 'FP32' shape: 1 } raw_input_contents: 'aaaa' | INVALID_ARGUMENT | found ~wert ä~, expected one of [values]"
            })
    void whatIsWrongIsNamed(String request, Code code, String message) {
        assertFails(() -> client.call("ModelInfer", request), code, message.replace('~', '"'));
    }

    @Test
    void otherModelsAreUnknown() {
        assertFails(() -> client.call("ModelMetadata", "name: 'other'"), Code.NOT_FOUND, "expected model");
        assertFails(() -> client.call("ModelMetadata", "name: 'model' version: '3'"), Code.NOT_FOUND, "expected 1");
    }

    @Test
    void modelsThatAreNotThereAreNotReady() {
        for (var asked : List.of("name: 'other'", "name: 'model' version: '2'")) {
            // False is what protobuf leaves out.
            assertThat(text(client.call("ModelReady", asked))).isEmpty();
        }
    }

    @Test
    void messagesThatAreBrokenAreBadRequests() {
        // A field 7 of 20,000 bytes before model_name; a string that is longer than the message; a text
        // that is not UTF-8.
        var late = new byte[20_004];
        late[0] = 0x3a;
        late[1] = (byte) 0xa0;
        late[2] = (byte) 0x9c;
        late[3] = 1;
        assertFails(
                () -> client.call("ModelInfer", new byte[] {0x2a, 9}),
                Code.INVALID_ARGUMENT,
                "message: not a ModelInferRequest: ");
        assertFails(
                () -> client.call("ModelInfer", new byte[] {0x0a, 9}),
                Code.INVALID_ARGUMENT,
                "message: found no model_name");
        assertFails(
                () -> client.call("ModelInfer", late),
                Code.INVALID_ARGUMENT,
                "raw_input_contents: found 1, expected 0");
        assertFails(
                () -> client.call("ModelReady", new byte[] {0x0a, 1, -1}),
                Code.INVALID_ARGUMENT,
                "message: not a ModelReadyRequest: ");
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
        try (var stopping = TestServer.artifact(directory.resolve("doubled"))
                        .set("BERTH_GRPC_PORT", "0")
                        .start();
                var asking = new GrpcClient(stopping.server().otherPorts().get("HTTP/2"))) {
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
        var response = doubled.send(HttpRequest.newBuilder(doubled.uri("/inference.GRPCInferenceService/ServerLive"))
                .header("Content-Type", "application/grpc")
                .POST(BodyPublishers.noBody())
                .build());
        assertThat(response.statusCode()).isEqualTo(415);
        assertThat(response.body()).contains("over HTTP/1.1, expected application/grpc over HTTP/2, at --grpc-port");
    }

    @Test
    void withoutAPortThereIsNoGrpc() throws Exception {
        try (var server = TestServer.with(new GatedHandler(new Gate(1))).start()) {
            assertThat(server.server().otherPorts()).isEmpty();
            var response = server.send(HttpRequest.newBuilder(server.uri("/inference.GRPCInferenceService/ServerLive"))
                    .header("Content-Type", "application/grpc")
                    .POST(BodyPublishers.noBody())
                    .build());
            assertThat(response.statusCode()).isEqualTo(404);
        }
    }

    @Test
    void aFullQueueIsUnavailableAndCountsAs503AndALateCallIsGivenUp() throws Exception {
        var gate = new Gate(1);
        var request = "inputs { name: 'content' datatype: 'BYTES' shape: 1 contents { bytes_contents: '\"a\"' } }";
        try (var log = new CapturedLog();
                var server = TestServer.with(new GatedHandler(gate))
                        .set("BERTH_GRPC_PORT", "0")
                        .set("SAGEMAKER_MODEL_SERVER_WORKERS", "1")
                        .set("BERTH_QUEUE_CAPACITY", "1")
                        .start();
                var asking = new GrpcClient(server.server().otherPorts().get("HTTP/2"))) {
            var running = asking.callAsync("ModelInfer", request);
            gate.awaitArrival();
            var late = GrpcClient.message("ModelInferRequest", request);
            assertFails(
                    () -> asking.call(
                            "ModelInfer", late, CallOptions.DEFAULT.withDeadlineAfter(200, TimeUnit.MILLISECONDS)),
                    Code.DEADLINE_EXCEEDED,
                    "");
            await().until(() -> server.get("/metrics")
                    .body()
                    .lines()
                    .anyMatch(line -> line.matches("berth_queue_depth.* 0(\\.0)?")));
            var waiting = asking.callAsync("ModelInfer", request);
            await().until(() -> server.get("/metrics")
                    .body()
                    .lines()
                    .anyMatch(line -> line.matches("berth_queue_depth.* 1(\\.0)?")));
            assertFails(() -> asking.call("ModelInfer", request), Code.UNAVAILABLE, "model is overloaded");
            gate.open();
            assertThat(text(running.get())).contains("A");
            assertThat(text(waiting.get())).contains("A");
            assertThat(server.get("/metrics")
                            .body()
                            .lines()
                            .filter(line -> line.contains("GRPCInferenceService/ModelInfer")))
                    .anyMatch(line -> line.contains("503"));
            await().untilAsserted(() -> assertThat(log.text()).contains("ModelInfer 503", "ModelInfer 200"));
        }
    }

    @Test
    void aModelThatIsNotThereIsUnavailable() throws Exception {
        var broken = Files.createDirectory(directory.resolve("broken"));
        Files.writeString(broken.resolve("model.json"), "{}");
        try (var server =
                        TestServer.artifact(broken).set("BERTH_GRPC_PORT", "0").startWithoutWaiting();
                var asking = new GrpcClient(server.server().otherPorts().get("HTTP/2"))) {
            await().untilAsserted(() -> assertFails(
                    () -> asking.call("ModelInfer", ""), Code.UNAVAILABLE, "the model could not be loaded"));
            assertThat(text(asking.call("ServerLive", ""))).isEqualTo("live: true");
            assertThat(text(asking.call("ServerReady", ""))).isEmpty();
            assertThat(text(asking.call("ModelReady", ""))).isEmpty();
        }
    }

    @Test
    void oneOfManyModelsIsAskedByItsName() throws Exception {
        var root = Files.createDirectory(directory.resolve("many"));
        Files.createDirectory(root.resolve("twice"));
        Files.copy(
                TestArtifact.TORCHSCRIPT.resolve("doubled.pt"),
                root.resolve("twice").resolve("model.pt"));
        try (var server =
                        TestServer.ofDirectory(root).set("BERTH_GRPC_PORT", "0").start();
                var asking = new GrpcClient(server.server().otherPorts().get("HTTP/2"))) {
            assertThat(
                            text(
                                    asking.call(
                                            "ModelInfer",
                                            "model_name: 'twice' inputs { name: 'values' datatype: 'FP32' shape: 1 contents { fp32_contents: 4 } }")))
                    .contains("model_name: \"twice\"", "fp32_contents: 8.0");
            assertFails(() -> asking.call("ModelInfer", "model_name: 'nope'"), Code.NOT_FOUND, "nope");
        }
    }
}
