package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/// Types and headers, on the sample model where its own types matter.
class HeadersTest {

    private static final String BOB = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

    private static TestServer sample;

    @BeforeAll
    static void start() throws Exception {
        sample = TestServer.sample().start();
    }

    @AfterAll
    static void stop() throws Exception {
        sample.close();
    }

    @Test
    @Tag("HDR-01")
    void noContentTypeMeansJson() throws Exception {
        assertThat(sample.invoke(BOB).body()).startsWith("{\"answer\":\"Bob\"");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "application/json; charset=utf-8",
                "Application/JSON;charset=\"UTF-8\"",
                "application/json;version=1"
            })
    @Tag("HDR-02")
    void parametersAndCaseOfAContentTypeDoNotMatter(String contentType) throws Exception {
        assertThat(sample.invoke(BOB, "Content-Type", contentType).body()).startsWith("{\"answer\":\"Bob\"");
    }

    @Test
    void hooksSeeTheHeadersThatSageMakerLetsThrough() throws Exception {
        var handler = new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) {
                return Stream.of("X-Amzn-SageMaker-Target-Variant", "content-type", "Authorization", "X-Mine")
                        .map(name -> name + "=" + request.header(name).orElse(""))
                        .toList();
            }

            @Override
            public List<String> predictFn(List<String> records, Object model) {
                return records;
            }
        };
        try (var server = TestServer.with(handler).start()) {
            var answer = server.invoke(
                    "x",
                    "X-Amzn-Sagemaker-Target-Variant",
                    "a",
                    "X-Amzn-Sagemaker-Target-Variant",
                    "b",
                    "Content-Type",
                    "text/plain",
                    "Authorization",
                    "secret",
                    "X-Mine",
                    "mine");
            assertThat(answer.body().lines())
                    .containsExactly(
                            "X-Amzn-SageMaker-Target-Variant=a, b",
                            "content-type=text/plain",
                            "Authorization=",
                            "X-Mine=");
        }
    }

    @Test
    void headersAreUtf8OrElseIso88591() throws Exception {
        var handler = new TextHandler() {
            @Override
            public List<String> predictFn(List<String> records, Object model) {
                return records;
            }

            @Override
            public List<String> inputFn(InvocationRequest request) {
                return List.of(
                        request.header("X-Amzn-SageMaker-Target-Variant").orElse(""),
                        request.customAttributes().orElse(""));
            }
        };
        try (var server = TestServer.with(handler).start();
                var connection = new RawConnection(server.uri("/").getPort())) {
            connection.send(
                    "POST /invocations HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nX-Amzn-SageMaker-Target-Variant: ");
            connection.send("żółw 日本".getBytes(StandardCharsets.UTF_8));
            connection.send("\r\nX-Amzn-SageMaker-Custom-Attributes: k=é\r\n\r\n");
            assertThat(connection.readResponse()).endsWith("\nżółw 日本\nk=é");
        }
    }

    @Test
    void hooksSeeTheTimeThatIsLeft() throws Exception {
        var handler = new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) {
                var left = request.remaining();
                return List.of(
                        left.isPositive() && left.compareTo(Duration.ofMinutes(10)) <= 0 ? "some" : left.toString());
            }
        };
        try (var server = TestServer.with(handler).start()) {
            assertThat(server.invoke("x").body()).isEqualTo("SOME");
        }
    }

    @Test
    @Tag("HDR-03")
    @Tag("HDR-04")
    void withoutAcceptOrWithAnyTypeTheAnswerIsJson() throws Exception {
        assertThat(type(sample.invoke(BOB))).isEqualTo("application/json");
        assertThat(type(sample.invoke(BOB, "Accept", "*/*"))).isEqualTo("application/json");
        assertThat(type(sample.invoke(BOB, "Accept", ""))).isEqualTo("application/json");
    }

    @Test
    @Tag("HDR-03")
    @Tag("HDR-04")
    @Tag("HDR-05")
    void theDefaultTypeFollowsItsVariable() throws Exception {
        try (var server = TestServer.sample().start("SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT=text/csv")) {
            assertThat(type(server.invoke(BOB))).isEqualTo("text/csv");
            assertThat(type(server.invoke(BOB, "Accept", "*/*"))).isEqualTo("text/csv");
            assertThat(type(server.invoke(BOB, "Accept", "application/json"))).isEqualTo("application/json");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "image/png, text/csv | text/csv",
                "text/csv;q=0.1, application/json | application/json",
                "text/csv | text/csv",
                "application/jsonlines | application/jsonlines"
            })
    @Tag("HDR-06")
    @Tag("HDR-07")
    @Tag("HDR-13")
    void theBestAcceptedTypeIsWritten(String accept, String contentType) throws Exception {
        assertThat(type(sample.invoke(BOB, "Accept", accept))).isEqualTo(contentType);
    }

    @Test
    @Tag("HDR-08")
    void aTypeThatTheModelDoesNotWriteIs406() throws Exception {
        var response = sample.invoke(BOB, "Accept", "application/x-unknown");
        assertThat(response.statusCode()).isEqualTo(406);
        assertThat(response.body()).startsWith("{\"message\":\"Accept: found \\\"application/x-unknown\\\"");
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/x-unknown", "nonsense", "*/*", "application/x-www-form-urlencoded"})
    @Tag("HDR-09")
    void aTypeThatTheModelDoesNotReadIs415(String contentType) throws Exception {
        var response = sample.invoke(BOB, "Content-Type", contentType);
        assertThat(response.statusCode()).isEqualTo(415);
        assertThat(response.body())
                .startsWith("{\"message\":\"Content-Type: found ")
                .contains("application/jsonlines");
    }

    @Test
    @Tag("HDR-10")
    @Tag("HDR-11")
    void customAttributesReachTheHooksAndComeBackOnlyWhenSet() throws Exception {
        var attributes = "a=1,b=2;" + "x".repeat(1024 - 8);
        var handler = new TextHandler() {
            @Override
            public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
                var response = InvocationResponse.of(request.customAttributes().orElse("none"), request.accept());
                return predictions.contains("ECHO")
                        ? response.withCustomAttributes(
                                request.customAttributes().orElseThrow())
                        : response;
            }
        };
        try (var server = TestServer.with(handler).start()) {
            var seen = server.invoke("a", Headers.CUSTOM_ATTRIBUTES, attributes);
            assertThat(seen.body()).isEqualTo(attributes);
            assertThat(seen.headers().firstValue(Headers.CUSTOM_ATTRIBUTES)).isEmpty();
            var echoed = server.invoke("echo", Headers.CUSTOM_ATTRIBUTES, attributes);
            assertThat(echoed.headers().firstValue(Headers.CUSTOM_ATTRIBUTES)).contains(attributes);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"ü", "a\r\nX-Injected: 1"})
    @Tag("HDR-11")
    void customAttributesThatAreNoPrintableAsciiAreTheHooksFault(String attributes) throws Exception {
        checkRefused(attributes, "expected printable ASCII");
    }

    @Test
    @Tag("HDR-11")
    void customAttributesThatAreTooLongAreTheHooksFault() throws Exception {
        checkRefused("x".repeat(1025), "found 1025 characters, expected at most 1024");
    }

    private static void checkRefused(String attributes, String message) throws Exception {
        var handler = TextHandler.writing((predictions, request) ->
                InvocationResponse.of("x", request.accept()).withCustomAttributes(attributes));
        try (var server = TestServer.with(handler).start()) {
            var response = server.invoke("a");
            assertStatus(response, 500, "outputFn", message);
        }
    }

    @Test
    @Tag("HDR-12")
    void theInferenceIdStandsOnEveryLineOfItsRequest() throws Exception {
        var handler = TextHandler.reading(request -> List.of(request.inferenceId()));
        try (var server = TestServer.with(handler).start();
                var log = new CapturedLog()) {
            var response = server.invoke("a", "X-Amzn-SageMaker-Inference-Id", "abc");
            assertThat(response.body()).isEqualTo("ABC");
            assertThat(requestId(response)).isEqualTo("abc");
            assertThat(server.invoke("a", "X-Amzn-SageMaker-Inference-Id", "y".repeat(65))
                            .body())
                    .doesNotContain("YYYY");
            await().untilAsserted(() -> assertThat(log.events()).hasSize(2));
            assertThat(log.events())
                    .filteredOn(event -> "abc".equals(event.getMDCPropertyMap().get("request_id")))
                    .singleElement()
                    .satisfies(event -> assertThat(event.getFormattedMessage()).startsWith("POST /invocations 200"));
            assertThat(log.events())
                    .allSatisfy(event -> assertThat(event.getMDCPropertyMap()).containsKey("request_id"));
        }
    }

    @Test
    @Tag("HDR-12")
    void theCallersRequestIdComesFirstAndHooksStillSeeTheInferenceId() throws Exception {
        var handler = TextHandler.reading(request -> List.of(request.inferenceId()));
        try (var server = TestServer.with(handler).start();
                var log = new CapturedLog()) {
            var both = server.invoke("a", "X-Amzn-SageMaker-Inference-Id", "abc", "X-AMZN-REQUESTID", "def");
            assertThat(both.body()).isEqualTo("ABC");
            assertThat(requestId(both)).isEqualTo("def");
            await().untilAsserted(() -> assertThat(log.events())
                    .singleElement()
                    .satisfies(event -> assertThat(event.getMDCPropertyMap())
                            .containsEntry("request_id", "def")
                            .containsEntry("inference_id", "abc")));
            var one = server.invoke("a", "x-amzn-RequestId", "ghi");
            assertThat(one.body()).isEqualTo("GHI");
            assertThat(requestId(server.invoke("a", "x-amzn-RequestId", "z".repeat(65))))
                    .doesNotContain("z")
                    .hasSize(36);
        }
    }

    @Test
    void everyResponseHasAnIdAndSoHasTheLineThatSaysWhatHappened() throws Exception {
        var unknown = HttpRequest.newBuilder(sample.uri("/nowhere")).build();
        var notAllowed = HttpRequest.newBuilder(sample.uri("/invocations")).build();
        var responses = List.of(
                sample.get("/ping"),
                sample.get("/metrics"),
                sample.get("/execution-parameters"),
                sample.send(unknown),
                sample.send(notAllowed),
                sample.send(HttpRequest.newBuilder(sample.uri("/ping"))
                        .method("HEAD", BodyPublishers.noBody())
                        .build()),
                sample.send(HttpRequest.newBuilder(sample.uri("/ping"))
                        .method("BREW", BodyPublishers.noBody())
                        .build()),
                sample.invoke(BOB),
                sample.invoke("no json"),
                sample.invoke(BOB, "Accept", "image/png"),
                sample.invoke(BOB, "Content-Type", "image/png"));
        assertThat(responses)
                .allSatisfy(response ->
                        assertThat(requestId(response)).as(response.toString()).hasSize(36));
        assertThat(responses).extracting(HeadersTest::requestId).doesNotHaveDuplicates();
        var tooLong = "GET /ping HTTP/1.1\r\nHost: x\r\nX-Long: %s\r\n\r\n".formatted("x".repeat(100_000));
        for (var malformed : List.of("GARBAGE\r\n\r\n", tooLong)) {
            try (var log = new CapturedLog();
                    var connection = new RawConnection(sample.port())) {
                var id = connection
                        .send(malformed)
                        .readResponse()
                        .lines()
                        .filter(line -> line.regionMatches(true, 0, "x-amzn-requestid: ", 0, 18))
                        .findFirst()
                        .orElseThrow()
                        .substring(18);
                // The line of the request before may come late.
                var lines = log.events().stream()
                        .filter(event -> event.getFormattedMessage().startsWith("malformed request 4"));
                assertThat(lines)
                        .singleElement()
                        .satisfies(
                                event -> assertThat(event.getMDCPropertyMap()).containsEntry("request_id", id));
            }
        }
    }

    @Test
    @Tag("OBS-05")
    void whatAMalformedRequestSentReachesTheLogInQuotesOnly() throws Exception {
        var forged = "GET /ping HTTP/1.1\r\nHost: a\r\nHost: ] ERROR Worker - \u009b31m ends [\r\n\r\n";
        try (var log = new CapturedLog();
                var connection = new RawConnection(sample.port())) {
            assertThat(connection.send(forged).readResponse()).startsWith("HTTP/1.1 400");
            var lines = log.events().stream()
                    .filter(event -> event.getFormattedMessage().startsWith("malformed request 4"));
            assertThat(lines)
                    .singleElement()
                    .satisfies(event -> assertThat(event.getFormattedMessage())
                            .matches("malformed request 400: (\"[^\"]*\"|[A-Za-z0-9._:/+=@-]+)"));
        }
    }

    @Test
    @Tag("HDR-12")
    void linesOfPredictFnHaveTheIdsOfAllRequestsOfTheBatch() throws Exception {
        var hooks = LoggerFactory.getLogger("hooks");
        var handler = new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) throws IOException {
                hooks.info("inputFn");
                return super.inputFn(request);
            }

            @Override
            public List<String> predictFn(List<String> records, Object model) throws Exception {
                hooks.info("predictFn");
                return super.predictFn(records, model);
            }
        };
        try (var server = TestServer.with(handler)
                        .start(
                                "SAGEMAKER_MODEL_SERVER_WORKERS=1",
                                "BERTH_MAX_BATCH_SIZE=2",
                                "BERTH_MAX_BATCH_DELAY_MS=60000");
                var log = new CapturedLog()) {
            var one = server.invokeAsync("a", "x-amzn-RequestId", "one");
            var two = server.invokeAsync("b", "x-amzn-RequestId", "two");
            assertThat(one.get().body() + two.get().body()).isEqualTo("AB");
            assertThat(ids(log, "inputFn")).containsExactlyInAnyOrder("one", "two");
            assertThat(ids(log, "predictFn")).singleElement().isIn("one,two", "two,one");
        }
    }

    private static List<String> ids(CapturedLog log, String message) {
        return log.events().stream()
                .filter(event -> event.getFormattedMessage().equals(message))
                .map(event -> event.getMDCPropertyMap().get("request_id"))
                .toList();
    }

    @Test
    void aTraceIsPassedThroughToHooksToTheLogAndBack() throws Exception {
        var handler =
                TextHandler.reading(request -> List.of(request.traceParent().orElse("none")));
        var trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        var parent = "00-%s-00f067aa0ba902b7-01".formatted(trace);
        try (var server = TestServer.with(handler).start();
                var log = new CapturedLog()) {
            var response = server.invoke("a", "traceparent", parent);
            assertThat(response.body()).isEqualToIgnoringCase(parent);
            assertThat(response.headers().firstValue("traceparent")).contains(parent);
            await().untilAsserted(() -> assertThat(log.events())
                    .anySatisfy(event -> assertThat(event.getMDCPropertyMap()).containsEntry("trace_id", trace)));
            assertThat(server.get("/nowhere").headers().firstValue("traceparent"))
                    .isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "none",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
                "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
                "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more"
            })
    void aTraceThatIsNotValidIsIgnored(String parent) throws Exception {
        var response = sample.invoke(BOB, "traceparent", parent);
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("traceparent")).isEmpty();
    }

    private static String requestId(HttpResponse<String> response) {
        return response.headers().firstValue("x-amzn-RequestId").orElse("none");
    }

    private static String type(HttpResponse<String> response) {
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return response.headers().firstValue("Content-Type").orElseThrow();
    }
}
