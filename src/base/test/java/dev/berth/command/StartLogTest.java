package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.ServeProcess;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What the log says of a start.
@Tag("slow")
class StartLogTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @Test
    void itHasTheSettingsThatSomebodyChose() throws Exception {
        try (var server = ServeProcess.java(Map.of("BERTH_QUEUE_CAPACITY", "5")).awaitReady()) {
            assertThat(server.terminate().exitCode()).isZero();
            assertThat(server.out())
                    .contains("queue-capacity = 5 (BERTH_QUEUE_CAPACITY)", "host = 127.0.0.1 (flag --host)")
                    .doesNotContain("(default)", "(detected)", "BatchLimits[")
                    .containsPattern("Java .* 512 MiB of heap at most, 100 MiB for the body of a request")
                    .containsPattern("- \\d\\d settings have their defaults")
                    .containsPattern("ready: \\d+ workers, max-batch-size \\d+, queue-capacity 5\n");
        }
    }

    /// Whoever collects the log reads why a container did not start.
    @ParameterizedTest
    @CsvSource({
        "SAGEMAKER_MODEL_SERVER_WORKERS, many, 2, 'SAGEMAKER_MODEL_SERVER_WORKERS: found \"many\"'",
        "INSTANCE_TYPE, ml.g5.xlarge, 1, ml.g5.xlarge",
        "'', '', 1, can't listen on 127.0.0.1 port"
    })
    void whyItFailedIsJsonWhereTheLogIs(String variable, String value, int code, String why) throws Exception {
        try (var taken = new ServerSocket(0);
                var server = ServeProcess.java(Map.of(
                        "BERTH_LOG_FORMAT",
                        "json",
                        variable.isEmpty() ? "SAGEMAKER_BIND_TO_PORT" : variable,
                        variable.isEmpty() ? String.valueOf(taken.getLocalPort()) : value))) {
            assertThat(server.exitCode()).isEqualTo(code);
            assertThat(server.err()).isEmpty();
            var errors = new ArrayList<JsonNode>();
            for (var line : server.out().lines().toList()) {
                var event = JSON.readTree(line);
                if (event.path("level").asText().equals("ERROR")) {
                    errors.add(event);
                }
            }
            assertThat(errors).singleElement().matches(event -> !event.has("stack"));
            assertThat(errors.getFirst().path("message").asText()).contains(why);
        }
    }
}
