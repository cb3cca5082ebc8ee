package dev.berth.sockets;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What sockets a page in somebody's browser may open.
@Timeout(300)
class SocketOriginsTest {

    @Test
    void aServerThatOthersReachHasNames() throws Exception {
        try (var open =
                TestServer.with(new TextHandler()).set("BERTH_HOST", "0.0.0.0").start()) {
            assertThat(handshake(open, "Host", "models.example", "Origin", "https://models.example"))
                    .contains(" 101 ");
            assertThat(handshake(open, "Host", "models.example", "Origin", "https://evil.example"))
                    .contains(" 403 ");
        }
    }

    @Test
    void aSocketIsNotForPagesFromElsewhere() throws Exception {
        try (var one = TestServer.with(new TextHandler()).start()) {
            assertThat(handshake(one, "Host", "localhost", "Origin", "https://evil.example"))
                    .contains(" 403 ");
            assertThat(handshake(one, "Host", "localhost", "Origin", "http://localhost"))
                    .contains(" 101 ");
            assertThat(handshake(one, "Host", "any")).contains(" 101 ");
        }
    }

    /// @return the first line of the answer
    private static String handshake(TestServer one, String... headers) throws Exception {
        try (var connection = new RawConnection(one.port())) {
            var head = new StringBuilder("GET " + Socket.PATH + " HTTP/1.1\r\n");
            for (int i = 0; i < headers.length; i += 2) {
                head.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
            }
            return connection.send(head + """
                  Upgrade: websocket\r
                  Connection: Upgrade\r
                  Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
                  Sec-WebSocket-Version: 13\r
                  \r
                  """).readLine();
        }
    }
}
