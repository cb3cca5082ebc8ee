package dev.berth.openinference;

import static dev.berth.testing.GrpcClient.assertFails;
import static dev.berth.testing.GrpcClient.method;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import dev.berth.hooks.ModelContext;
import dev.berth.openinference.HealthProtocol.HealthCheckRequest;
import dev.berth.openinference.HealthProtocol.HealthCheckResponse;
import dev.berth.openinference.HealthProtocol.HealthCheckResponse.ServingStatus;
import dev.berth.openinference.ReflectionProtocol.ServerReflectionRequest;
import dev.berth.openinference.ReflectionProtocol.ServerReflectionResponse;
import dev.berth.testing.Gate;
import dev.berth.testing.GrpcClient;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import io.grpc.CallOptions;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status.Code;
import io.grpc.StatusException;
import io.grpc.stub.ClientCalls;
import java.net.InetAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// gRPC's own services, asked by gRPC's own client: health and reflection.
@Timeout(300)
class GrpcServicesTest {

    @AutoClose
    private static TestServer server;

    @AutoClose
    private static GrpcClient client;

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new TextHandler()).start("BERTH_GRPC_PORT=0");
        client = new GrpcClient(server);
    }

    private static MethodDescriptor<HealthCheckRequest, HealthCheckResponse> health(MethodType type, String name) {
        return method(type, "grpc.health.v1.Health/" + name, HealthCheckRequest.parser(), HealthCheckResponse.parser());
    }

    private static HealthCheckRequest of(String service) {
        return HealthCheckRequest.newBuilder().setService(service).build();
    }

    private static ServingStatus check(GrpcClient asking, String service) {
        return ClientCalls.blockingUnaryCall(
                        asking.channel(), health(MethodType.UNARY, "Check"), CallOptions.DEFAULT, of(service))
                .getStatus();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "inference.GRPCInferenceService", "model"})
    void theServerAndItsModelServe(String service) {
        assertThat(check(client, service)).isEqualTo(ServingStatus.SERVING);
    }

    @Test
    void anotherServiceIsNotFound() {
        assertFails(() -> check(client, "other"), Code.NOT_FOUND, "model: found \"other\", expected model");
    }

    @Test
    void whoWatchesIsToldOfEachChange() throws Exception {
        var loading = new Gate(1);
        var handler = new TextHandler() {
            @Override
            public Object modelFn(ModelContext context) throws Exception {
                loading.pass();
                return this;
            }
        };
        try (var starting = TestServer.with(handler).startWithoutWaiting("BERTH_GRPC_PORT=0");
                var asking = new GrpcClient(starting)) {
            loading.awaitArrival();
            assertThat(check(asking, "")).isEqualTo(ServingStatus.NOT_SERVING);
            assertThat(check(asking, "model")).isEqualTo(ServingStatus.NOT_SERVING);
            var watch = ClientCalls.blockingV2ServerStreamingCall(
                    asking.channel(), health(MethodType.SERVER_STREAMING, "Watch"), CallOptions.DEFAULT, of(""));
            assertThat(watch.read().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
            loading.open();
            assertThat(watch.read().getStatus()).isEqualTo(ServingStatus.SERVING);
            starting.close();
            assertThat(watch.read().getStatus()).isEqualTo(ServingStatus.NOT_SERVING);
            assertFails(watch::read, Code.UNAVAILABLE, "the server is stopping");
        }
    }

    @Test
    void anUnknownServiceMayBeWatchedUntilItComes() throws Exception {
        var watch = ClientCalls.blockingV2ServerStreamingCall(
                client.channel(), health(MethodType.SERVER_STREAMING, "Watch"), CallOptions.DEFAULT, of("other"));
        assertThat(watch.read().getStatus()).isEqualTo(ServingStatus.SERVICE_UNKNOWN);
        watch.cancel("it was enough", null);
        server.awaitMetrics("berth_requests_total{route=\"/grpc.health.v1.Health/Watch\"");
    }

    @Test
    void whoOnlyWatchesMakesWayForNewConnections() throws Exception {
        var sockets = new ArrayList<Socket>();
        try (var full = TestServer.with(new TextHandler()).start("BERTH_GRPC_PORT=0", "BERTH_MAX_CONNECTIONS=6");
                var asking = new GrpcClient(full)) {
            var watch = ClientCalls.blockingV2ServerStreamingCall(
                    asking.channel(), health(MethodType.SERVER_STREAMING, "Watch"), CallOptions.DEFAULT, of(""));
            assertThat(watch.read().getStatus()).isEqualTo(ServingStatus.SERVING);
            var end = CompletableFuture.supplyAsync(() -> catchThrowableOfType(StatusException.class, watch::read));
            await().until(() -> {
                sockets.add(new Socket(
                        InetAddress.getLoopbackAddress(), full.server().port()));
                return end.isDone();
            });
            assertThat(end.get().getStatus().getCode()).isEqualTo(Code.UNAVAILABLE);
        } finally {
            for (var socket : sockets) {
                socket.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aLongRequestForReflectionIsRefused(boolean compressed) {
        var options = CallOptions.DEFAULT;
        assertFails(
                () -> reflected(
                        compressed ? options.withCompression("gzip") : options,
                        "grpc.reflection.v1.ServerReflection",
                        request().setFileContainingSymbol("a".repeat(1 << 20))),
                Code.INVALID_ARGUMENT,
                "message: not a ServerReflectionRequest: ");
    }

    private static List<ServerReflectionResponse> reflected(String service, ServerReflectionRequest.Builder... requests)
            throws Exception {
        return reflected(CallOptions.DEFAULT, service, requests);
    }

    private static List<ServerReflectionResponse> reflected(
            CallOptions options, String service, ServerReflectionRequest.Builder... requests) throws Exception {
        var call = ClientCalls.blockingBidiStreamingCall(
                client.channel(),
                method(
                        MethodType.BIDI_STREAMING,
                        service + "/ServerReflectionInfo",
                        ServerReflectionRequest.parser(),
                        ServerReflectionResponse.parser()),
                options);
        for (var request : requests) {
            call.write(request.setHost("here").build());
        }
        call.halfClose();
        var answers = new ArrayList<ServerReflectionResponse>();
        for (var answer = call.read(); answer != null; answer = call.read()) {
            answers.add(answer);
        }
        return answers;
    }

    private static ServerReflectionRequest.Builder request() {
        return ServerReflectionRequest.newBuilder();
    }

    @ParameterizedTest
    @ValueSource(strings = {"grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection"})
    void reflectionListsServicesAndTheirFiles(String service) throws Exception {
        var answers =
                reflected(service, request().setListServices("*"), request().setFileByFilename("health.proto"));
        assertThat(answers.getFirst().getListServicesResponse().getServiceList())
                .extracting(ReflectionProtocol.ServiceResponse::getName)
                .containsExactly(
                        "inference.GRPCInferenceService",
                        "grpc.health.v1.Health",
                        "grpc.reflection.v1.ServerReflection");
        assertThat(answers.getFirst().getValidHost()).isEqualTo("here");
        assertThat(file(answers.get(1)).getPackage()).isEqualTo("grpc.health.v1");
    }

    private static FileDescriptorProto file(ServerReflectionResponse answer) throws Exception {
        return FileDescriptorProto.parseFrom(answer.getFileDescriptorResponse().getFileDescriptorProto(0));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "inference.GRPCInferenceService",
                "inference.GRPCInferenceService.ModelStreamInfer",
                "inference.ModelInferRequest",
                "inference.ModelInferRequest.InferInputTensor",
                "inference.DataType"
            })
    void theFileOfASymbolIsFound(String symbol) throws Exception {
        var answers = reflected("grpc.reflection.v1.ServerReflection", request().setFileContainingSymbol(symbol));
        assertThat(file(answers.getFirst()).getName()).isEqualTo("inference.proto");
    }

    @Test
    void whatIsNotThereIsNotFoundAndTheStreamGoesOn() throws Exception {
        var requests = Stream.of(
                        request().setFileContainingSymbol("inference.Nope"),
                        request().setFileContainingSymbol("inference.GRPCInferenceService.Nope"),
                        request().setFileContainingSymbol("nope"),
                        request().setFileByFilename("nope.proto"),
                        request().setAllExtensionNumbersOfType("inference.Nope"),
                        request()
                                .setFileContainingExtension(ReflectionProtocol.ExtensionRequest.newBuilder()
                                        .setContainingType("inference.ModelConfig")
                                        .setExtensionNumber(1)))
                .toArray(ServerReflectionRequest.Builder[]::new);
        var answers = reflected("grpc.reflection.v1.ServerReflection", requests);
        assertThat(answers).hasSize(requests.length);
        assertThat(answers).allSatisfy(answer -> {
            assertThat(answer.getErrorResponse().getErrorCode()).isEqualTo(5);
            assertThat(answer.getErrorResponse().getErrorMessage()).contains("there ");
        });
    }

    @Test
    void aRequestForNothingEndsTheStream() {
        assertFails(
                () -> reflected("grpc.reflection.v1.ServerReflection", request()),
                Code.INVALID_ARGUMENT,
                "message_request: found none, expected one");
    }
}
