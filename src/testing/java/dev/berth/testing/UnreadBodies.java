package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;

/// What becomes of a connection whose request is answered before its body was asked for. A request is
/// its method and path, and headers, between bars: `POST /invocations|Accept: image/png`.
public final class UnreadBodies {

    private UnreadBodies() {}

    /// The client is told that the connection closes where the body does not come.
    public static void assertClosed(TestServer server, String request, long length, int status) throws IOException {
        try (var asks = new RawConnection(server.port()).send(head(request, length))) {
            assertThat(asks.readResponse())
                    .startsWith("HTTP/1.1 " + status)
                    .containsIgnoringCase("\nConnection: close\n");
            assertThat(asks.readLine()).isNull();
        }
    }

    /// The connection stays where the body is there.
    public static void assertRead(TestServer server, String request, int length, int status) throws IOException {
        try (var asks = new RawConnection(server.port())) {
            for (int i = 0; i < 2; i++) {
                asks.send(head(request, length) + " ".repeat(length));
                assertThat(asks.readResponse())
                        .startsWith("HTTP/1.1 " + status)
                        .doesNotContainIgnoringCase("Connection:");
            }
            asks.send(head("GET /ping", 0));
            assertThat(asks.readResponse()).startsWith("HTTP/1.1 200");
        }
    }

    public static String head(String request, long length) {
        var parts = request.split("\\|", 2);
        return "%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n"
                .formatted(parts[0], length, parts.length > 1 ? parts[1].replace("|", "\r\n") + "\r\n" : "");
    }
}
