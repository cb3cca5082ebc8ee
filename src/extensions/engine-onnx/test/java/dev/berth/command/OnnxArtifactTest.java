package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.engine.Engine;
import dev.berth.testing.OnnxModel;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What the server sees of an artifact with an ONNX file before it loads it.
class OnnxArtifactTest {

    @Test
    void theEngineOfAModelOfTheHubIsKnown(@TempDir Path directory) throws Exception {
        assertThat(Deployment.engines(directory)).isEmpty();
        OnnxModel.linear()
                .write(Files.createDirectory(directory.resolve("onnx")).resolve("model.onnx"));
        assertThat(Deployment.engines(directory)).extracting(Engine::name).containsExactly("onnx");
    }
}
