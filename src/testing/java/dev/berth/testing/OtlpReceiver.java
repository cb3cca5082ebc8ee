package dev.berth.testing;

import com.google.protobuf.ByteString;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.logs.v1.ExportLogsServiceRequest;
import io.opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.common.v1.KeyValue;
import io.opentelemetry.proto.logs.v1.LogRecord;
import io.opentelemetry.proto.metrics.v1.Metric;
import io.opentelemetry.proto.resource.v1.Resource;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/// A collector: it takes OTLP over HTTP on a free port, reads it with the protocol's own classes,
/// and keeps it.
public final class OtlpReceiver implements AutoCloseable {

    private final HttpServer http;
    private final List<Span> spans = new CopyOnWriteArrayList<>();
    private final List<LogRecord> logs = new CopyOnWriteArrayList<>();
    private final List<Resource> resources = new CopyOnWriteArrayList<>();

    /// Those of the latest export.
    private volatile List<Metric> metrics = List.of();

    public OtlpReceiver() throws IOException {
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.createContext("/v1/traces", exchange -> {
            var export = ExportTraceServiceRequest.parseFrom(exchange.getRequestBody());
            export.getResourceSpansList().forEach(from -> {
                resources.add(from.getResource());
                from.getScopeSpansList().forEach(scope -> spans.addAll(scope.getSpansList()));
            });
            answer(exchange);
        });
        http.createContext("/v1/metrics", exchange -> {
            var export = ExportMetricsServiceRequest.parseFrom(exchange.getRequestBody());
            metrics = export.getResourceMetricsList().stream()
                    .flatMap(from -> from.getScopeMetricsList().stream())
                    .flatMap(scope -> scope.getMetricsList().stream())
                    .toList();
            answer(exchange);
        });
        http.createContext("/v1/logs", exchange -> {
            var export = ExportLogsServiceRequest.parseFrom(exchange.getRequestBody());
            export.getResourceLogsList()
                    .forEach(from -> from.getScopeLogsList().forEach(scope -> logs.addAll(scope.getLogRecordsList())));
            answer(exchange);
        });
        http.start();
    }

    /// An empty message: all was taken.
    private static void answer(HttpExchange exchange) throws IOException {
        exchange.getResponseHeaders().add("Content-Type", "application/x-protobuf");
        exchange.sendResponseHeaders(200, -1);
        exchange.close();
    }

    public String endpoint() {
        return "http://127.0.0.1:" + http.getAddress().getPort();
    }

    public List<Span> spans() {
        return spans;
    }

    public List<Span> spans(String name) {
        return spans.stream().filter(span -> span.getName().equals(name)).toList();
    }

    public List<LogRecord> logs() {
        return logs;
    }

    public List<Resource> resources() {
        return resources;
    }

    public List<Metric> metrics() {
        return metrics;
    }

    public static Map<String, String> attributes(List<KeyValue> attributes) {
        return attributes.stream().collect(Collectors.toMap(KeyValue::getKey, pair -> switch (pair.getValue()
                .getValueCase()) {
            case STRING_VALUE -> pair.getValue().getStringValue();
            case INT_VALUE -> Long.toString(pair.getValue().getIntValue());
            default -> pair.getValue().toString();
        }));
    }

    public static String hex(ByteString id) {
        return HexFormat.of().formatHex(id.toByteArray());
    }

    @Override
    public void close() {
        http.stop(0);
    }
}
