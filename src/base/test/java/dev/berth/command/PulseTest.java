package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.RawConnection;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class PulseTest {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @Test
    void aPortThatOthersCrowdIsNoReasonToEnd() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start()) {
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            assertThat(server.server().worksInside(PATIENCE)).isTrue();
            // Nobody has come in since then.
            assertThat(server.server().worksInside(PATIENCE)).isFalse();
            try (var _ = new RawConnection(server.port())) {
                await().until(() -> server.server().worksInside(PATIENCE));
            }
            server.close();
            assertThat(server.server().worksInside(PATIENCE)).isFalse();
        }
    }
}
