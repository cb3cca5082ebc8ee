package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.RawConnection;
import dev.berth.testing.RememberingHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.URLDecoder;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/// Types and headers, on the sample model where its own types matter.
class HeadersTest {

    private static final String BOB = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

    @AutoClose
    private static TestServer sample;

    /// Of hooks that write three types.
    @AutoClose
    private static TestServer typed;

    /// Of hooks that answer with the trace that they are told of, and with Amazon's header.
    @AutoClose
    private static TestServer traced;

    @BeforeAll
    static void start() throws Exception {
        sample = TestServer.sample().start();
        typed = TestServer.with(writing(MediaType.JSON, MediaType.JSON_LINES, MediaType.CSV))
                .start();
        traced = TestServer.with(TextHandler.answering(request -> List.of(
                        request.traceParent().orElse("none"),
                        request.header("x-amzn-trace-id").orElse("none"))))
                .start();
    }

    private static TextHandler writing(MediaType... types) {
        return new TextHandler() {
            @Override
            public List<MediaType> responseTypes() {
                return List.of(types);
            }
        };
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(
            strings = {
                "application/json; charset=utf-8",
                "Application/JSON;charset=\"UTF-8\"",
                "application/json;version=1"
            })
    @Tag("HDR-01")
    @Tag("HDR-02")
    void noContentTypeMeansJsonAndParametersAndCaseDoNotMatter(String contentType) throws Exception {
        var headers = contentType == null ? new String[0] : new String[] {"Content-Type", contentType};
        assertThat(sample.invoke(BOB, headers).body()).startsWith("{\"answer\":\"Bob\"");
    }

    @Test
    void hooksSeeTheHeadersThatSageMakerLetsThrough() throws Exception {
        var handler = TextHandler.answering(
                request -> Stream.of("X-Amzn-SageMaker-Target-Variant", "content-type", "Authorization", "X-Mine")
                        .map(name -> name + "=" + request.header(name).orElse(""))
                        .toList());
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
        var handler = TextHandler.answering(request -> List.of(
                request.header("X-Amzn-SageMaker-Target-Variant").orElse(""),
                request.customAttributes().orElse("")));
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
    void hooksSeeThePathTheQueryAndTheTimeThatIsLeft() throws Exception {
        var handler = TextHandler.answering(request -> List.of(
                request.path() + "?" + request.query().orElse(""),
                request.remaining().toString()));
        try (var server = TestServer.with(handler).start()) {
            var seen = server.post("/invocations?a=b%20c", "x").body().split("\n");
            assertThat(seen[0]).isEqualTo("/invocations?a=b%20c");
            assertThat(Duration.parse(seen[1])).isBetween(Duration.ofNanos(1), Duration.ofMinutes(10));
        }
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
    @CsvSource(delimiter = '|', nullValues = "none", textBlock = """
        none                                                                        | application/json
        ''                                                                          | application/json
        */*                                                                         | application/json
        application/*                                                               | application/json
        text/*                                                                      | text/csv
        text/csv                                                                    | text/csv
        TEXT/CSV                                                                    | text/csv
        application/jsonlines                                                       | application/jsonlines
        image/png, text/csv                                                         | text/csv
        text/csv, application/json                                                  | text/csv
        text/csv;q=0.1, application/json                                            | application/json
        text/csv;q=0.1, */*;q=0.01                                                  | text/csv
        */*, application/json;q=0                                                   | application/jsonlines
        */*, application/jsonlines;q=0, application/json;q=0                        | text/csv
        */*, application/json;q=0.1, application/jsonlines;q=0.1, text/csv;q=0.2    | text/csv
        application/json;q=0.5, text/*;q=0.4, */*;q=0                               | application/json
        text/csv;q=nonsense                                                         | text/csv
        text/html;a=",", text/csv                                                   | text/csv
        rubbish, application/json                                                   | application/json
        """)
    @Tag("HDR-03")
    @Tag("HDR-04")
    @Tag("HDR-06")
    @Tag("HDR-07")
    @Tag("HDR-13")
    void theBestAcceptedTypeIsWritten(String accept, String contentType) throws Exception {
        var headers = accept == null ? new String[0] : new String[] {"Accept", accept};
        assertThat(type(typed.invoke("a", headers))).isEqualTo(contentType);
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/x-unknown", "rubbish", "text/csv;q=0", "image/*", "*/*;q=0"})
    @Tag("HDR-08")
    void aTypeThatTheModelDoesNotWriteIs406(String accept) throws Exception {
        assertStatus(
                sample.invoke(BOB, "Accept", accept),
                406,
                "{\"message\":\"Accept: found \\\"%s\\\", expected one of".formatted(accept),
                "application/jsonlines");
    }

    @ParameterizedTest
    @ValueSource(strings = {",", "\"", "a/b;c=\"\\\\", "*/*,"})
    void anAcceptMadeToCostTimeIsRefusedByItsLength(String unit) throws Exception {
        var refused = sample.invoke(BOB, "Accept", "a/b," + unit.repeat(3000));
        assertStatus(refused, 406, "Accept: found ", "expected at most 1024");
    }

    @Test
    void whereHooksDeclareOtherTypesTheirFirstOneOrTheCallersIsWritten() throws Exception {
        try (var declared =
                        TestServer.with(writing(MediaType.TEXT, MediaType.CSV)).start();
                var any = TestServer.with(new TextHandler()).start()) {
            assertThat(type(declared.invoke("a"))).isEqualTo("text/plain");
            assertThat(type(any.invoke("a", "Accept", "image/png;q=0.5, image/jpeg")))
                    .isEqualTo("image/jpeg");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"application/x-unknown", "nonsense", "*/*", "application/x-www-form-urlencoded"})
    @Tag("HDR-09")
    void aTypeThatTheModelDoesNotReadIs415(String contentType) throws Exception {
        assertStatus(
                sample.invoke(BOB, "Content-Type", contentType),
                415,
                "{\"message\":\"Content-Type: found ",
                "application/jsonlines");
    }

    @Test
    void theTypeThatCurlSendsUnaskedSaysHowToNameAnother() throws Exception {
        assertStatus(
                sample.invoke(BOB, "Content-Type", "application/x-www-form-urlencoded"),
                415,
                "; curl sends it where no -H \\\"Content-Type: application/json\\\" is given");
    }

    @Test
    @Tag("HDR-10")
    @Tag("HDR-11")
    void customAttributesReachTheHooksAndComeBackOnlyWhenSet() throws Exception {
        var sent = "a=1,b=2;" + "x".repeat(1024 - 8);
        var handler = TextHandler.writing((predictions, request) -> {
            var attributes = request.customAttributes().orElseThrow();
            var response = InvocationResponse.of(attributes, request.accept());
            return predictions.contains("ECHO") ? response.withCustomAttributes(attributes) : response;
        });
        try (var server = TestServer.with(handler).start()) {
            var seen = server.invoke("a", Headers.CUSTOM_ATTRIBUTES, sent);
            assertThat(seen.body()).isEqualTo(sent);
            assertThat(seen.headers().firstValue(Headers.CUSTOM_ATTRIBUTES)).isEmpty();
            var echoed = server.invoke("echo", Headers.CUSTOM_ATTRIBUTES, sent);
            assertThat(echoed.headers().firstValue(Headers.CUSTOM_ATTRIBUTES)).contains(sent);
        }
    }

    @Test
    @Tag("HDR-11")
    void customAttributesThatNoHeaderMayHaveAreTheHooksFault() throws Exception {
        var refused = Map.of(
                "%c3%bc",
                "expected printable ASCII",
                "a%0d%0aX-Injected: 1",
                "expected printable ASCII",
                "x".repeat(1025),
                "found 1025 characters, expected at most 1024");
        var handler = TextHandler.writing((predictions, request) -> InvocationResponse.of("x", request.accept())
                .withCustomAttributes(URLDecoder.decode(predictions.getFirst(), StandardCharsets.UTF_8)));
        try (var server = TestServer.with(handler).start()) {
            for (var attributes : refused.entrySet()) {
                assertStatus(server.invoke(attributes.getKey()), 500, "outputFn", attributes.getValue());
            }
        }
    }

    /// In a session that is opened, with ids of the caller's own, so that there are as many as can be.
    @Test
    @Tag("ASY-03")
    void theLongestHeadersOfHooksAreNotTooLongForAsynchronousEndpoints() throws Exception {
        var longest = new MediaType("text", "plain", Map.of("p", "x".repeat(1024 - "text/plain; p=".length())));
        var handler = new RememberingHandler(Duration.ofMinutes(20)) {
            @Override
            public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
                return InvocationResponse.of("x", longest).withCustomAttributes("a".repeat(1024));
            }
        };
        try (var server = TestServer.with(handler).start();
                var connection = new RawConnection(server.port())) {
            var answer = connection
                    .send("POST /invocations HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Type: text/plain\r\n"
                            + "X-Amzn-SageMaker-Session-Id: NEW_SESSION\r\nx-amzn-RequestId: %s\r\ntraceparent: %s\r\n\r\nb"
                                    .formatted("i".repeat(64), "00-%032x-%016x-01".formatted(1, 1)))
                    .readResponse();
            assertThat(answer)
                    .startsWith("HTTP/1.1 200")
                    .contains(
                            longest.toString(), "a".repeat(1024), "New-Session-Id: ", "i".repeat(64), "traceparent: ");
            var head = answer.substring(0, answer.indexOf("\n\n"));
            assertThat(head.lines()
                            .mapToInt(line -> line.length() + "\r\n".length())
                            .sum())
                    .isLessThan(4096);
        }
    }

    @Test
    @Tag("ASY-03")
    void aContentTypeThatIsTooLongIsTheHooksFault() throws Exception {
        var handler = TextHandler.writing((_, _) ->
                InvocationResponse.of("x", MediaType.of("text", "x".repeat(1025 - "text/".length()))));
        try (var server = TestServer.with(handler).start()) {
            assertStatus(
                    server.invoke("a"), 500, "outputFn", "contentType: found 1025 characters, expected at most 1024");
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
        var responses = List.of(
                sample.get("/ping"),
                sample.get("/metrics"),
                sample.get("/execution-parameters"),
                sample.get("/nowhere"),
                sample.get("/invocations"),
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
                var response = connection.send(malformed).readResponse();
                // The line of the request before may come late.
                assertThat(log.events())
                        .filteredOn(event -> event.getFormattedMessage().startsWith("malformed request 4"))
                        .singleElement()
                        .satisfies(event -> assertThat(response)
                                .containsIgnoringCase("x-amzn-requestid: "
                                        + event.getMDCPropertyMap().get("request_id")));
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
            assertThat(log.events())
                    .filteredOn(event -> event.getFormattedMessage().startsWith("malformed request 4"))
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
            protected void enter(String hook, List<String> lines) {
                hooks.info(hook);
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

    /// The W3C's header wins over Amazon's, and only it is sent back.
    @Test
    void aTraceIsPassedThroughToHooksToTheLogAndBack() throws Exception {
        var trace = "4bf92f3577b34da6a3ce929d0e0e4736";
        var parent = "00-%s-00f067aa0ba902b7-01".formatted(trace);
        var amazons = "Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1";
        try (var log = new CapturedLog()) {
            var response = traced.invoke("a", "traceparent", parent, "X-Amzn-Trace-Id", amazons);
            assertThat(response.body()).isEqualTo(parent + "\n" + amazons);
            assertThat(response.headers().firstValue("traceparent")).contains(parent);
            await().untilAsserted(() -> assertThat(log.events())
                    .anySatisfy(event -> assertThat(event.getMDCPropertyMap()).containsEntry("trace_id", trace)));
            assertThat(traced.get("/nowhere").headers().firstValue("traceparent"))
                    .isEmpty();
        }
    }

    @Test
    void whatIsNoTraceParentIsNone() throws Exception {
        var root = "Root=1-67891233-abcdef012345678912345678";
        var own = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";
        var names = Map.of(
                "traceparent",
                List.of(
                        "",
                        "none",
                        "00-" + own,
                        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
                        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
                        "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
                        "ff-%s-01".formatted(own),
                        "00-%s-01-more".formatted(own)),
                "X-Amzn-Trace-Id",
                List.of(
                        "",
                        root,
                        "Parent=53995c3f42cd8ad8",
                        root + ";Parent=0000000000000000",
                        root + "0;Parent=53995c3f42cd8ad8",
                        root + ";Parent=53995C3F42CD8AD8",
                        "Root=1-00000000-000000000000000000000000;Parent=53995c3f42cd8ad8"));
        for (var name : names.keySet()) {
            for (var value : names.get(name)) {
                var response = traced.invoke("a", name, value);
                assertThat(response.body()).as(value).startsWith("none\n");
                assertThat(response.headers().firstValue("traceparent")).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1, 01",
        "Self=1-67891234-12456789abcdef012345678;Parent=53995c3f42cd8ad8; Root=1-67891233-abcdef012345678912345678, 00",
        "Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=0;Lineage=a:1, 00"
    })
    void amazonsHeaderIsATraceParentForHooksAlone(String header, String flags) throws Exception {
        var response = traced.invoke("a", "X-Amzn-Trace-Id", header);
        assertThat(response.body())
                .isEqualTo("00-67891233abcdef012345678912345678-53995c3f42cd8ad8-%s\n%s".formatted(flags, header));
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
