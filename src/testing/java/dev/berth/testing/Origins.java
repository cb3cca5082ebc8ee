package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;

/// What a page in the browser of somebody who can reach the server has it do.
public final class Origins {

    private Origins() {}

    /// @param route a method and a path that change the server
    public static void assertRefusesPagesFromElsewhere(TestServer server, String route) throws IOException {
        int port = server.port();
        for (var origin : new String[] {"https://evil.example", "null", "http://localhost:1", "http://[", ""}) {
            assertThat(ask(server, route, "localhost:" + port, "Origin: " + origin + "\r\n"))
                    .startsWith("HTTP/1.1 403")
                    .contains("Origin: found", "expected none or this server's own, http://localhost:" + port);
        }
        // A name that its owner points to this machine.
        assertThat(ask(server, route, "evil.example", "Origin: http://evil.example\r\n"))
                .startsWith("HTTP/1.1 403");
        for (var host : new String[] {"localhost:" + port, "127.0.0.1:" + port, "[::1]"}) {
            assertThat(ask(server, route, host, "Origin: http://" + host.replace("l", "L") + "\r\n"))
                    .doesNotStartWith("HTTP/1.1 403");
        }
        assertThat(ask(server, route, "any", "")).doesNotStartWith("HTTP/1.1 403");
    }

    private static String ask(TestServer server, String route, String host, String headers) throws IOException {
        try (var connection = new RawConnection(server.port())) {
            return connection
                    .send("%s HTTP/1.1\r\nHost: %s\r\nContent-Length: 0\r\n%s\r\n".formatted(route, host, headers))
                    .readResponse();
        }
    }
}
