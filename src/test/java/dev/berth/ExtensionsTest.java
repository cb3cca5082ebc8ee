package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.OtlpReceiver;
import dev.berth.testing.RawSocket;
import dev.berth.testing.SpellingHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import io.opentelemetry.proto.trace.v1.Span;
import java.net.URI;
import java.net.http.WebSocket;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/// Two extensions beside each other.
class ExtensionsTest {

    /// SageMaker's callers may choose any path for a socket, and at a desk they may too.
    @Test
    void aSocketOnThePathOfThePageGoesToTheModelAllTheSame() throws Exception {
        try (var server = TestServer.with(new SpellingHandler()).start()) {
            var address = URI.create("ws://127.0.0.1:%d/".formatted(server.port()));
            var socket = server.client()
                    .newWebSocketBuilder()
                    .buildAsync(address, new WebSocket.Listener() {})
                    .join();
            socket.abort();
        }
    }

    @Test
    void theTraceOfASocketsMessageIsBelowItsHandshake() throws Exception {
        var path = "/invocations-bidirectional-stream";
        try (var receiver = new OtlpReceiver();
                var server = TestServer.with(new TextHandler())
                        .set("BERTH_OTLP_ENDPOINT", receiver.endpoint())
                        .start("OTEL_BSP_SCHEDULE_DELAY=50");
                var socket = RawSocket.open(
                        server.port(),
                        path,
                        "traceparent",
                        "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")) {
            socket.text("a");
            assertThat(socket.read().text()).isEqualTo("A");
            var handshake = span(receiver, "GET " + path);
            assertThat(HexFormat.of().formatHex(handshake.getParentSpanId().toByteArray()))
                    .isEqualTo("00f067aa0ba902b7");
            var message = span(receiver, "message " + path);
            assertThat(message.getParentSpanId()).isEqualTo(handshake.getSpanId());
            assertThat(span(receiver, "outputFn").getParentSpanId()).isEqualTo(message.getSpanId());
        }
    }

    private static Span span(OtlpReceiver receiver, String name) {
        await().until(() -> !receiver.spans(name).isEmpty());
        return receiver.spans(name).getFirst();
    }
}
