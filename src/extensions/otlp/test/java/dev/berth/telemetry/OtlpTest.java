package dev.berth.telemetry;

import static dev.berth.testing.OtlpReceiver.attributes;
import static dev.berth.testing.OtlpReceiver.hex;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.OtlpReceiver;
import dev.berth.testing.SpellingHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.trace.v1.Span;
import io.opentelemetry.proto.trace.v1.Status.StatusCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/// What a collector gets from a real server.
class OtlpTest {

    private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
    private static final String CALLER = "00f067aa0ba902b7";
    private static final String PARENT = "00-%s-%s-01".formatted(TRACE, CALLER);

    @AutoClose
    private OtlpReceiver receiver;

    @BeforeEach
    void receive() throws IOException {
        receiver = new OtlpReceiver();
    }

    private TestServer.Builder server(InferenceHandler<?, ?, ?> handler) {
        return TestServer.with(handler)
                .set("BERTH_OTLP_ENDPOINT", receiver.endpoint())
                .set("OTEL_BSP_SCHEDULE_DELAY", "50")
                .set("OTEL_BLRP_SCHEDULE_DELAY", "50")
                .set("OTEL_METRIC_EXPORT_INTERVAL", "100")
                .set("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment=test");
    }

    private Span span(String name) {
        await().until(() -> !receiver.spans(name).isEmpty());
        return receiver.spans(name).getFirst();
    }

    @Test
    void aRequestIsATraceBelowItsCallers() throws Exception {
        var seen = new CopyOnWriteArrayList<String>();
        var handler = TextHandler.reading(request -> {
            seen.add(request.traceParent().orElseThrow());
            return request.text().lines().toList();
        });
        try (var server = server(handler).start()) {
            server.get("/ping");
            server.get("/metrics");
            var response = server.invoke("a\nb", "traceparent", PARENT, "x-amzn-RequestId", "one");
            assertThat(response.headers().firstValue("traceparent")).hasValue(PARENT);
            var request = span("POST /invocations");
            assertThat(hex(request.getTraceId())).isEqualTo(TRACE);
            assertThat(hex(request.getParentSpanId())).isEqualTo(CALLER);
            assertThat(request.getKind()).isEqualTo(Span.SpanKind.SPAN_KIND_SERVER);
            assertThat(request.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_UNSET);
            assertThat(attributes(request.getAttributesList()))
                    .containsAllEntriesOf(Map.of(
                            "http.request.method", "POST",
                            "http.route", "/invocations",
                            "http.response.status_code", "200",
                            "url.path", "/invocations",
                            "berth.model", "model",
                            "berth.records", "2",
                            "berth.request_id", "one"));
            assertThat(receiver.spans()).noneMatch(span -> span.getName().startsWith("GET"));
            for (var step : List.of("inputFn", "queue", "batch", "outputFn")) {
                assertThat(span(step).getParentSpanId()).as(step).isEqualTo(request.getSpanId());
                assertThat(span(step).getTraceId()).as(step).isEqualTo(request.getTraceId());
            }
            // Two workers may have taken a record each.
            var run = span("predictFn");
            await().untilAsserted(() -> assertThat(receiver.spans("batch"))
                    .extracting(Span::getSpanId)
                    .contains(run.getParentSpanId()));
            assertThat(seen).containsExactly("00-%s-%s-01".formatted(TRACE, hex(request.getSpanId())));
            assertThat(receiver.resources())
                    .allSatisfy(resource -> assertThat(attributes(resource.getAttributesList()))
                            .containsEntry("service.name", "berth")
                            .containsEntry("deployment.environment", "test"));
        }
    }

    @Test
    void amazonsHeaderNamesTheCallersTraceToo() throws Exception {
        try (var server = server(new TextHandler()).start()) {
            server.invoke(
                    "a",
                    "X-Amzn-Trace-Id",
                    "Root=1-%s-%s;Parent=%s;Sampled=1".formatted(TRACE.substring(0, 8), TRACE.substring(8), CALLER));
            var request = span("POST /invocations");
            assertThat(hex(request.getTraceId())).isEqualTo(TRACE);
            assertThat(hex(request.getParentSpanId())).isEqualTo(CALLER);
        }
    }

    @Test
    void whatTheCallerDoesNotSampleIsNotSent() throws Exception {
        try (var server = server(new TextHandler()).start()) {
            server.invoke("a", "traceparent", PARENT.replaceAll("01$", "00"));
            server.invoke("b");
            span("outputFn");
            assertThat(receiver.spans())
                    .noneMatch(span -> hex(span.getTraceId()).equals(TRACE));
        }
    }

    @Test
    void aBatchHasLinksToAllOfItsRequests() throws Exception {
        var gate = new Gate(1);
        try (var server =
                server(new GatedHandler(gate)).start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_MAX_BATCH_SIZE=8")) {
            var first = server.invokeAsync("first");
            gate.awaitArrival();
            var others = List.of(server.invokeAsync("a"), server.invokeAsync("b"));
            server.awaitQueued(2);
            gate.open();
            first.join();
            others.forEach(CompletableFuture::join);
            await().until(() -> receiver.spans("batch").size() == 2
                    && receiver.spans("POST /invocations").size() == 3);
            var batch = receiver.spans("batch").stream()
                    .filter(span -> span.getLinksCount() == 2)
                    .findFirst()
                    .orElseThrow();
            assertThat(attributes(batch.getAttributesList()))
                    .containsEntry("berth.batch.requests", "2")
                    .containsEntry("berth.batch.records", "2")
                    .containsEntry("berth.worker", "0");
            var linked = batch.getLinksList().stream().map(Span.Link::getSpanId).toList();
            var requests = receiver.spans("POST /invocations").stream()
                    .filter(span -> linked.contains(span.getSpanId()))
                    .toList();
            assertThat(requests).hasSize(2);
            assertThat(requests)
                    .filteredOn(span -> span.getSpanId().equals(batch.getParentSpanId()))
                    .singleElement()
                    .returns(0, Span::getLinksCount);
            assertThat(requests)
                    .filteredOn(span -> !span.getSpanId().equals(batch.getParentSpanId()))
                    .singleElement()
                    .satisfies(span -> assertThat(span.getLinksList())
                            .extracting(Span.Link::getSpanId)
                            .containsExactly(batch.getSpanId()));
        }
    }

    @Test
    void aFailureIsOnTheStepThatFailedAndOnTheRequest() throws Exception {
        var handler = new TextHandler() {
            @Override
            protected void enter(String hook, List<String> lines) {
                if (hook.equals("inputFn") && lines.contains("bad")) {
                    throw new BadInputException("line: found bad, expected good");
                }
                if (hook.equals("predictFn")) {
                    throw new IllegalStateException("the secret of a payload");
                }
            }
        };
        try (var server = server(handler).start()) {
            assertThat(server.invoke("bad").statusCode()).isEqualTo(400);
            var refused = span("POST /invocations");
            assertThat(refused.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_UNSET);
            assertThat(attributes(refused.getAttributesList())).containsEntry("error.type", "BAD_INPUT");
            assertThat(span("inputFn").getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_ERROR);

            assertThat(server.invoke("good").statusCode()).isEqualTo(500);
            await().until(() -> receiver.spans("POST /invocations").size() == 2);
            var failed = receiver.spans("POST /invocations").getLast();
            assertThat(failed.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_ERROR);
            assertThat(attributes(failed.getAttributesList())).containsEntry("error.type", "INTERNAL");
            for (var step : List.of("predictFn", "batch")) {
                assertThat(span(step).getStatus().getCode()).as(step).isEqualTo(StatusCode.STATUS_CODE_ERROR);
                assertThat(attributes(span(step).getAttributesList()))
                        .containsEntry("error.type", "java.lang.IllegalStateException");
            }
            assertThat(receiver.spans()).noneMatch(span -> span.toString().contains("secret"));
        }
    }

    @Test
    void aRequestThatLeavesTheQueueUnansweredSaysSo() throws Exception {
        var gate = new Gate(1);
        try (var server = server(new GatedHandler(gate))
                .startWithoutWaiting(
                        "SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_MAX_BATCH_SIZE=1", "BERTH_DRAIN_SECONDS=0")) {
            server.server().awaitReady();
            var running = server.invokeAsync("a");
            gate.awaitArrival();
            var waiting = server.invokeAsync("b");
            server.awaitQueued(1);
            var closing = server.stop();
            assertThat(waiting.join().statusCode()).isEqualTo(503);
            gate.open();
            running.join();
            closing.join();
            assertThat(receiver.spans("queue")).anySatisfy(span -> {
                assertThat(span.getStatus().getCode()).isEqualTo(StatusCode.STATUS_CODE_ERROR);
                assertThat(attributes(span.getAttributesList())).containsEntry("error.type", "NOT_READY");
            });
        }
    }

    @Test
    void aStreamIsASpanFromItsFirstStepToItsLast() throws Exception {
        try (var server = server(new SpellingHandler()).start()) {
            assertThat(server.invoke("abc", "Accept", "text/plain").body()).isEqualTo("ABC");
            assertThat(span("stream").getParentSpanId())
                    .isEqualTo(span("POST /invocations").getSpanId());
            server.invoke("a?", "Accept", "text/event-stream");
            await().until(() -> receiver.spans("stream").size() == 2);
            assertThat(receiver.spans("stream").getLast().getStatus().getCode())
                    .isEqualTo(StatusCode.STATUS_CODE_ERROR);
            server.invoke("0", "Accept", "text/plain");
            await().until(() -> receiver.spans("stream").size() == 3);
            assertThat(receiver.spans("stream").getLast().getStatus().getCode())
                    .isEqualTo(StatusCode.STATUS_CODE_ERROR);
        }
    }

    @Test
    void metricsAndLogsArriveToo() throws Exception {
        try (var server = server(new TextHandler()).start()) {
            server.invoke("a\nb", "traceparent", PARENT);
            await().untilAsserted(() -> assertThat(receiver.metrics())
                    .filteredOn(metric -> metric.getName().equals("berth_records"))
                    .singleElement()
                    .satisfies(metric -> {
                        assertThat(metric.getSum().getIsMonotonic()).isTrue();
                        assertThat(metric.getSum().getDataPoints(0).getAsDouble())
                                .isEqualTo(2);
                        assertThat(attributes(metric.getSum().getDataPoints(0).getAttributesList()))
                                .containsEntry("model", "model");
                    }));
            assertThat(receiver.metrics())
                    .extracting(metric -> metric.getName())
                    .contains(
                            "berth_requests_in_flight",
                            "berth_build_info",
                            "jvm_memory_used_bytes",
                            "berth_predict_seconds_max");
            await().untilAsserted(() -> assertThat(receiver.metrics())
                    .filteredOn(metric -> metric.getName().equals("berth_predict_seconds"))
                    .singleElement()
                    .satisfies(metric -> {
                        var point = metric.getHistogram().getDataPoints(0);
                        assertThat(metric.getUnit()).isEqualTo("s");
                        assertThat(point.getCount())
                                .isPositive()
                                .isEqualTo(point.getBucketCountsList().stream()
                                        .mapToLong(Long::longValue)
                                        .sum());
                        assertThat(point.getExplicitBoundsList()).hasSize(15).contains(0.001, 60.0);
                    }));
            await().until(() -> served().isPresent());
            var line = served();
            assertThat(hex(line.orElseThrow().getTraceId())).isEqualTo(TRACE);
            assertThat(line.get().getSpanId())
                    .isEqualTo(span("POST /invocations").getSpanId());
            assertThat(line.get().getSeverityText()).isEqualTo("INFO");
            assertThat(attributes(line.get().getAttributesList()))
                    .containsEntry("status", "200")
                    .containsEntry("model", "model");
        }
    }

    /// The line of the log of a request.
    private Optional<LogRecord> served() {
        return receiver.logs().stream()
                .filter(line -> line.getBody().getStringValue().startsWith("POST /invocations 200"))
                .findFirst();
    }

    @Test
    void aSignalWithoutAnEndpointIsNotSent() throws Exception {
        try (var server = server(new TextHandler())
                .set("BERTH_OTLP_ENDPOINT", "")
                .set("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", receiver.endpoint() + "/v1/traces")
                .start()) {
            server.invoke("a");
            span("POST /invocations");
        }
        try (var log = new CapturedLog();
                var disabled = server(new TextHandler()).start("OTEL_SDK_DISABLED=true")) {
            disabled.invoke("b");
            assertThat(log.text()).doesNotContain("by OTLP");
        }
        assertThat(receiver.spans("POST /invocations")).hasSize(1);
        assertThat(receiver.metrics()).isEmpty();
        assertThat(receiver.logs()).isEmpty();
    }

    @Test
    void theLastLinesAreSentWhereMetricsCannotBe() throws Exception {
        try (var silent = new ServerSocket(0, 0, InetAddress.getLoopbackAddress());
                var server = server(new TextHandler())
                        .set("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://127.0.0.1:" + silent.getLocalPort())
                        .set("OTEL_METRIC_EXPORT_INTERVAL", "3600000")
                        .set("OTEL_BLRP_SCHEDULE_DELAY", "3600000")
                        .start()) {
            server.invoke("a");
        }
        assertThat(receiver.logs())
                .anyMatch(line -> line.getBody().getStringValue().equals("stopping"));
    }
}
