package dev.berth.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EngineTest {

    @TempDir
    Path artifact;

    @Test
    void theFormOfAFileChoosesItsEngine() {
        assertThat(Engine.isModel(artifact.resolve("model.pt"))).isTrue();
        assertThat(Engine.isModel(artifact.resolve("tokenizer.json"))).isFalse();
        assertThat(Engine.of(artifact.resolve("model.pt")).name()).isEqualTo("pytorch");
        assertThat(Engine.of(artifact.resolve("weights.bin")).name())
                .as("the default")
                .isEqualTo("pytorch");
        assertThat(Engine.named(artifact)).isEmpty();
    }

    @Test
    void modelJsonMayNameTheEngineOfAllFilesOfTheArtifact() throws IOException {
        describe("{\"engine\": \"pytorch\"}");
        assertThat(Engine.named(artifact).map(Engine::name)).hasValue("pytorch");
        assertThat(Engine.of(artifact.resolve("deeper/weights.bin")).name()).isEqualTo("pytorch");
    }

    @Test
    void anUnknownEngineIsToldWithThoseThereAre() throws IOException {
        describe("{\"engine\": \"tensorflow\"}");
        assertThatThrownBy(() -> Engine.of(artifact.resolve("deeper/model.pt")))
                .isInstanceOf(EngineException.class)
                .hasMessageStartingWith("model.json: engine: found \"tensorflow\", expected one of pytorch");
    }

    private void describe(String json) throws IOException {
        Files.writeString(artifact.resolve("model.json"), json);
    }
}
