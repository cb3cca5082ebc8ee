package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.ServeProcess;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Which of the JVM's compilers `./serve` asks for: the first one alone where a built-in task is
/// all that is served.
@Tag("packaged")
class ServeCompilersTest {

    @ParameterizedTest
    @CsvSource({
        "--model-dir=model-artifact, 1",
        "--model-dir=tools/bench/nothing, 4",
        "--models=examples, 4",
    })
    void hooksAndManyModelsHaveBoth(String option, int level) throws Exception {
        try (var server = ServeProcess.serve(Map.of("JAVA_OPTS", "-XX:+PrintFlagsFinal"), option)
                .awaitReady()) {
            assertThat(server.out()).containsPattern("TieredStopAtLevel += %d ".formatted(level));
        }
    }
}
