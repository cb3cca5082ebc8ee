package dev.berth.sockets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.EndlessConnections;
import dev.berth.testing.ModelNames;
import dev.berth.testing.RawSocket;
import dev.berth.testing.TestCertificate;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.eclipse.jetty.websocket.api.StatusCode;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Sockets of a server that has many models, speaks TLS, or has other connections.
@Timeout(600)
class SocketsOfAServerTest {

    private static final String PATH = "/invocations-bidirectional-stream";

    @Test
    @Tag("BIDI-01")
    void aSocketTalksToOneOfManyModelsUntilThatIsGone(@TempDir Path directory) throws Exception {
        var artifact = new CodeArtifact(directory).source("Inference.java", """
                public class Inference extends RememberingHandler {
                  public Inference() { super(java.time.Duration.ofMinutes(20)); }
                }
                """).directory();
        try (var server = TestServer.ofModels().start()) {
            assertThat(server.load("one", artifact).statusCode()).isEqualTo(200);
            try (var socket = RawSocket.open(server.port(), "/models/one" + PATH)) {
                assertThat(socket.head()).startsWith("HTTP/1.1 101");
                assertThat(socket.text("a").read().text()).isEqualTo("A");
                assertThat(socket.text("b").read().text()).isEqualTo("A,B");
                assertThat(server.unload("one").statusCode()).isEqualTo(200);
                assertThat(socket.text("c").read().text()).contains("\"error\"", "one");
            }
            server.awaitMetrics("berth_sockets 0.0");
            try (var socket = RawSocket.open(server.port(), "/models/none" + PATH)) {
                assertThat(socket.head()).startsWith("HTTP/1.1 404");
            }
        }
    }

    @ParameterizedTest
    @Tag("MME-18")
    @MethodSource("dev.berth.testing.ModelNames#all")
    void aModelOfAnyNameHasASocket(String name, @TempDir Path directory) throws Exception {
        var artifact = CodeArtifact.hooks(directory, "").directory();
        try (var server = TestServer.ofModels().start()) {
            assertThat(server.load(name, artifact).statusCode()).isEqualTo(200);
            try (var socket = RawSocket.open(server.port(), "/models/%s%s".formatted(ModelNames.encoded(name), PATH))) {
                assertThat(socket.head()).startsWith("HTTP/1.1 101");
            }
        }
    }

    /// What a page in somebody's browser may open. A server that others reach has names.
    @ParameterizedTest
    @CsvSource({
        "0.0.0.0,   models.example, https://models.example, 101",
        "0.0.0.0,   models.example, https://evil.example,   403",
        "127.0.0.1, localhost,      https://evil.example,   403",
        "127.0.0.1, localhost,      http://localhost,       101",
        "127.0.0.1, any,            ,                       101"
    })
    void aSocketIsNotForPagesFromElsewhere(String host, String name, String origin, int status) throws Exception {
        var headers = Stream.of("Host", name, "Origin", origin).limit(origin == null ? 2 : 4);
        try (var server = TestServer.with(new TextHandler())
                        .set("BERTH_HOST", host)
                        .start();
                var socket = RawSocket.open(server.port(), PATH, headers.toArray(String[]::new))) {
            assertThat(socket.head()).startsWith("HTTP/1.1 " + status);
        }
    }

    @Test
    @Tag("BIDI-01")
    void anotherClientTalksToTheSameHooksOverTls(@TempDir Path directory) throws Exception {
        var certificate = TestCertificate.of("RSA", directory);
        var key = Files.writeString(directory.resolve("server.key"), certificate.keyPem());
        var received = new LinkedBlockingQueue<String>();
        var listener = new WebSocket.Listener() {
            @Override
            public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
                received.add(data.toString());
                socket.request(1);
                return null;
            }

            @Override
            public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
                received.add("closed " + code);
                return null;
            }
        };
        try (var server = TestServer.with(new TextHandler())
                        .set(
                                "BERTH_TLS_CERTIFICATE",
                                Files.writeString(directory.resolve("server.crt"), certificate.pem())
                                        .toString())
                        .set("BERTH_TLS_KEY", key.toString())
                        .start();
                var client = HttpClient.newBuilder()
                        .sslContext(certificate.trusted())
                        .build()) {
            var uri = URI.create("wss://localhost:%d%s".formatted(server.port(), PATH));
            var socket = client.newWebSocketBuilder().buildAsync(uri, listener).join();
            for (var text : List.of("one", "two")) {
                socket.sendText(text, true).join();
                assertThat(received.poll(30, TimeUnit.SECONDS)).isEqualTo(text.toUpperCase(Locale.ROOT));
            }
            socket.sendClose(WebSocket.NORMAL_CLOSURE, "done").join();
            assertThat(received.poll(30, TimeUnit.SECONDS)).isEqualTo("closed 1000");
        }
    }

    /// Tried again where the machine stood still at the end of the first handshake, so that the
    /// second socket waits for longer.
    @Test
    void idleSocketsMakeWayAndAreToldSo() {
        await().ignoreExceptionsInstanceOf(SocketTimeoutException.class)
                .untilAsserted(SocketsOfAServerTest::theFirstSocketMakesWay);
    }

    private static void theFirstSocketMakesWay() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_MAX_CONNECTIONS=2");
                var first = RawSocket.open(server.port(), PATH);
                var second = RawSocket.open(server.port(), PATH)) {
            assertThat(server.invoke("a").body()).isEqualTo("A");
            first.socket().setSoTimeout(10_000);
            var close = first.read();
            assertThat(close.opcode()).isEqualTo(RawSocket.CLOSE);
            assertThat(close.code()).isEqualTo(StatusCode.TRY_AGAIN_LATER);
            assertThat(second.text("b").read().text()).isEqualTo("B");
        }
    }

    @Test
    @Tag("slow")
    void messagesWithoutEndKeepNobodyElseOut() throws Exception {
        var handshake = """
        GET %s HTTP/1.1\r
        Host: x\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Version: 13\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        \r
        \1\201\0\0\0\0a\
        """.formatted(PATH);
        try (var server = TestServer.with(new TextHandler()).start()) {
            int count = Runtime.getRuntime().availableProcessors() + 1;
            EndlessConnections.assertKeepNobodyOut(
                    server, server.port(), count, handshake, "\0\201\0\0\0\0a".repeat(2000));
        }
    }
}
