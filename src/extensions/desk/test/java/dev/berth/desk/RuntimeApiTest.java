package dev.berth.desk;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static software.amazon.awssdk.core.SdkBytes.fromUtf8String;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.testing.RawConnection;
import dev.berth.testing.RememberingHandler;
import dev.berth.testing.SpellingHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import dev.berth.testing.UnreadBodies;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.sagemakerruntime.SageMakerRuntimeClient;
import software.amazon.awssdk.services.sagemakerruntime.model.InvokeEndpointRequest;
import software.amazon.awssdk.services.sagemakerruntime.model.InvokeEndpointResponse;
import software.amazon.awssdk.services.sagemakerruntime.model.ModelErrorException;
import software.amazon.awssdk.services.sagemakerruntime.model.ValidationErrorException;
import software.amazon.eventstream.Message;
import software.amazon.eventstream.MessageDecoder;

/// AWS's SDK asks a server as it asks an endpoint. Its synchronous client does not stream, so what
/// streams is read by the SDK's own decoder.
class RuntimeApiTest {

    private static final String STREAM = "/endpoints/any/invocations-response-stream";

    @AutoClose
    private TestServer server;

    @AutoClose
    private SageMakerRuntimeClient client;

    @TempDir
    Path models;

    @Test
    void anSdkIsAnsweredAsByAnEndpoint() throws Exception {
        var handler = new TextHandler() {
            @Override
            public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) throws IOException {
                return super.outputFn(predictions, request)
                        .withCustomAttributes("%s %s %s"
                                .formatted(
                                        request.path(),
                                        request.customAttributes().orElse(""),
                                        request.inferenceId()));
            }
        };
        start(TestServer.with(handler));
        var answer = ask(request -> request.body(fromUtf8String("a\nb"))
                .contentType("text/plain")
                .accept("text/plain")
                .customAttributes("k=v")
                .inferenceId("id-1"));
        assertThat(answer.body().asUtf8String()).isEqualTo("A\nB");
        assertThat(answer.contentType()).isEqualTo("text/plain");
        assertThat(answer.invokedProductionVariant()).isEqualTo("AllTraffic");
        assertThat(answer.customAttributes()).isEqualTo("/invocations k=v id-1");
    }

    @Test
    void whatTheContainerRefusesIsAModelError() throws Exception {
        start(TestServer.sample());
        assertThatThrownBy(() -> ask(request -> request.body(fromUtf8String("{"))))
                .isInstanceOfSatisfying(ModelErrorException.class, error -> {
                    assertThat(error.statusCode()).isEqualTo(424);
                    assertThat(error.originalStatusCode()).isEqualTo(400);
                    assertThat(error.originalMessage()).contains("body: not JSON at column 2");
                    assertThat(error.awsErrorDetails().errorMessage())
                            .startsWith("Received client error (400) from primary with message \"{");
                });
        assertThatThrownBy(() -> ask(request -> request.body(SdkBytes.fromByteArray(new byte[(25 << 20) + 1]))))
                .isInstanceOf(ValidationErrorException.class)
                .hasMessageContaining("found 26214401 bytes, expected at most the 26214400");
    }

    @Test
    void ofManyModelsTheRequestNamesOne() throws Exception {
        Files.createSymbolicLink(models.resolve("a b"), TestServer.SAMPLE_ARTIFACT);
        var question = fromUtf8String("{\"question\": \"Who?\", \"context\": \"Bob came.\"}");
        start(TestServer.ofDirectory(models));
        for (Consumer<InvokeEndpointRequest.Builder> naming : List.<Consumer<InvokeEndpointRequest.Builder>>of(
                request -> request.targetModel("a b.tar.gz"),
                request -> request.inferenceComponentName("a b"),
                request -> request.endpointName("a b"))) {
            assertThat(ask(naming.andThen(request -> request.body(question))).body())
                    .extracting(SdkBytes::asUtf8String)
                    .asString()
                    .contains("\"answer\":\"Bob\"");
        }
        assertRefused(
                request -> request.targetModel("a b").inferenceComponentName("c"),
                "is asked for a target model already");
        assertThatThrownBy(() -> ask(request -> request.targetModel("none").body(question)))
                .isInstanceOfSatisfying(
                        ModelErrorException.class,
                        error -> assertThat(error.originalStatusCode()).isEqualTo(404));
    }

    /// An answer of something else would look like that of what was chosen.
    @Test
    void whatChoosesSomethingThatTheEndpointDoesNotHaveIsAValidationError() throws Exception {
        start(TestServer.with(new TextHandler()));
        assertRefused(
                request -> request.targetModel("b.tar.gz"),
                "X-Amzn-SageMaker-Target-Model: found \"b.tar.gz\", but endpoint \"any\" is no multi-model endpoint; leave it out");
        assertRefused(request -> request.inferenceComponentName("b"), "has no inference components");
        assertRefused(request -> request.targetContainerHostname("b"), "has one container");
        assertRefused(request -> request.enableExplanations("`true`"), "has no explainer");
        assertRefused(request -> request.targetVariant("b"), "has one variant, AllTraffic");
        var answer = ask(request -> request.targetVariant("AllTraffic")
                .prefixAwareId("p")
                .contentType("text/plain")
                .body(fromUtf8String("a")));
        assertThat(answer.body().asUtf8String()).isEqualTo("A");

        for (var path : List.of(STREAM, "/endpoints/any/openai/v1/chat/completions")) {
            var refused = server.send(
                    server.request(path, BodyPublishers.ofString("a"), "X-Amzn-SageMaker-Target-Variant", "b"));
            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(refused.headers().firstValue("x-amzn-ErrorType")).hasValue("ValidationError");
        }
    }

    private void assertRefused(Consumer<InvokeEndpointRequest.Builder> choosing, String message) {
        assertThatThrownBy(() -> ask(choosing.andThen(request -> request.body(fromUtf8String("a")))))
                .isInstanceOf(ValidationErrorException.class)
                .hasMessageContaining(message);
    }

    @Test
    void namesOfModelsAreUtf8InHeaders() throws Exception {
        Files.createSymbolicLink(models.resolve("żółw é"), TestServer.SAMPLE_ARTIFACT);
        var question = "{\"question\": \"Who?\", \"context\": \"Bob came.\"}";
        server = TestServer.ofDirectory(models).start();
        for (var header : List.of("Target-Model: żółw é.tar.gz", "Inference-Component: żółw é")) {
            var request =
                    "POST /endpoints/any/invocations HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\nX-Amzn-SageMaker-%s\r\n\r\n%s"
                            .formatted(question.length(), header, question);
            try (var connection = new RawConnection(server.uri("/").getPort())) {
                assertThat(connection
                                .send(request.getBytes(StandardCharsets.UTF_8))
                                .readResponse())
                        .startsWith("HTTP/1.1 200")
                        .contains("\"answer\":\"Bob\"");
            }
        }
    }

    @Test
    void sessionsAreNamedAsByAnEndpoint() throws Exception {
        start(TestServer.with(new RememberingHandler(Duration.ofMinutes(1))));
        var opened = ask(
                request -> request.sessionId("NEW_SESSION").body(fromUtf8String("{\"requestType\": \"NEW_SESSION\"}")));
        assertThat(opened.newSessionId()).contains("; Expires=");
        var closed = ask(request -> request.sessionId(opened.newSessionId().replaceAll(";.*", ""))
                .body(fromUtf8String("{\"requestType\": \"CLOSE\"}")));
        assertThat(closed.closedSessionId()).isNotEmpty();
    }

    @Test
    void thePartsOfAStreamAreEvents() throws Exception {
        server = TestServer.with(new SpellingHandler()).start();
        var answer = post(server, STREAM, "ab");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.headers().firstValue("Content-Type")).hasValue("application/vnd.amazon.eventstream");
        assertThat(answer.headers().firstValue("X-Amzn-SageMaker-Content-Type")).hasValue("text/plain");
        var events = events(answer.body());
        assertThat(events)
                .allSatisfy(event -> assertThat(header(event, ":event-type")).isEqualTo("PayloadPart"));
        assertThat(text(events)).isEqualTo("AB");
    }

    @Test
    void aStreamThatBreaksOffSaysSo() throws Exception {
        server = TestServer.with(new SpellingHandler()).start();
        var events = events(post(server, STREAM, "ab!").body());
        var last = events.removeLast();
        assertThat(text(events)).isEqualTo("AB");
        assertThat(header(last, ":message-type")).isEqualTo("exception");
        assertThat(header(last, ":exception-type")).isEqualTo("ModelStreamError");
        assertThat(text(List.of(last))).contains("\"ErrorCode\":\"StreamBroken\"");

        var refused = post(server, STREAM, "0");
        assertThat(refused.statusCode()).isEqualTo(424);
        assertThat(refused.headers().firstValue("x-amzn-ErrorType")).hasValue("ModelError");
        assertThat(new String(refused.body(), StandardCharsets.UTF_8))
                .contains("line: found a 0, expected letters", "\"OriginalStatusCode\":400");
    }

    /// The platform forwards this path to the container's own.
    @Test
    void pathsOfOpenAiArePassedOn() throws Exception {
        server = TestServer.with(new TextHandler()).start();
        var answer = post(server, "/endpoints/any/openai/v1/chat/completions", "a");
        assertThat(answer.statusCode()).isEqualTo(424);
        assertThat(new String(answer.body(), StandardCharsets.UTF_8))
                .contains("\"OriginalStatusCode\":404", "/v1/chat/completions");
    }

    @Test
    void wherePlatformsRunTheServerThereAreNoEndpoints() throws Exception {
        try (var platform = TestServer.with(new TextHandler()).start("SAGEMAKER_REGION=eu-west-1")) {
            assertStatus(post(platform, "/endpoints/any/invocations", "a"), 404);
        }
        server = TestServer.with(new TextHandler()).start();
        assertThat(post(server, "/endpoints/any/other", "a").statusCode()).isEqualTo(404);
        assertThat(server.get("/endpoints/any/invocations").statusCode()).isEqualTo(404);
    }

    private void start(TestServer.Builder builder) throws Exception {
        server = builder.start();
        client = server.runtimeClient();
    }

    private InvokeEndpointResponse ask(Consumer<InvokeEndpointRequest.Builder> request) {
        return client.invokeEndpoint(builder -> request.accept(builder.endpointName("any")));
    }

    private static HttpResponse<byte[]> post(TestServer server, String path, String body) throws Exception {
        var headers = new String[] {"Content-Type", "text/plain", "X-Amzn-SageMaker-Accept", "text/plain"};
        return server.send(server.request(path, BodyPublishers.ofString(body), headers), BodyHandlers.ofByteArray());
    }

    private static List<Message> events(byte[] body) {
        var events = new ArrayList<Message>();
        new MessageDecoder(events::add).feed(ByteBuffer.wrap(body));
        return events;
    }

    private static String header(Message event, String name) {
        return event.getHeaders().get(name).getString();
    }

    /// The server may put parts together.
    private static String text(List<Message> events) {
        return events.stream()
                .map(event -> new String(event.getPayload(), StandardCharsets.UTF_8))
                .collect(Collectors.joining());
    }

    @ParameterizedTest
    @CsvSource({
        "4, POST /endpoints/any/async-invocations",
        "4, POST /endpoints/any/invocations|X-Amzn-SageMaker-Target-Model: a",
        "100000000000, POST /endpoints/any/invocations",
        "100000000000, POST /endpoints/any/async-invocations",
        "100000000000, POST /endpoints/any/invocations|Expect: 100-continue"
    })
    void aRefusedRequestWhoseBodyComesLaterIsToldThatTheConnectionCloses(long length, String request) throws Exception {
        server = TestServer.with(new TextHandler()).start();
        UnreadBodies.assertClosed(server, request, length, 400);
    }

    @ParameterizedTest
    @CsvSource({
        "30000000, POST /endpoints/any/invocations",
        "200000, POST /endpoints/any/async-invocations",
        "4, POST /endpoints/any/invocations|X-Amzn-SageMaker-Target-Model: a"
    })
    void aRefusedRequestWhoseBodyIsThereKeepsItsConnection(int length, String request) throws Exception {
        server = TestServer.with(new TextHandler()).start();
        UnreadBodies.assertRead(server, request, length, 400);
    }
}
