package dev.berth.engine.torch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.memory.Footprint;
import dev.berth.testing.Malloc;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class TorchFootprintTest {

    private static final Path SAMPLE = TestServer.SAMPLE_ARTIFACT.resolve("model.pt");

    @TempDir
    Path directory;

    /// Its layers are int8, so the file is there twice while it is loaded. The JVM's own memory comes
    /// and goes meanwhile.
    @Test
    @EnabledOnOs(OS.LINUX)
    void theSampleTakesNoMoreThanIsSaidBefore() throws IOException {
        var torch = new Torch();
        var cpu = new Accelerator.Cpu(1, CpuProfile.ADAPTIVE);
        var footprint = torch.footprint(SAMPLE);
        assertThat(footprint.whileLoading()).isEqualTo(Files.size(SAMPLE));
        torch.load(SAMPLE, cpu).close();
        long before = Malloc.used();
        try (var _ = torch.load(SAMPLE, cpu)) {
            assertThat(Malloc.used() - before).isPositive().isLessThan(footprint.kept());
        }
    }

    @Test
    void floatsAreThereOnceAndNothingIsSaidOfAFileThatIsNoModel() throws IOException {
        var file = Path.of("src/test/resources/torchscript/echo.pt");
        assertThat(new Torch().footprint(file).whileLoading()).isEqualTo(Files.size(file) / 20);
        for (var none :
                List.of(directory.resolve("nothing.pt"), Files.writeString(directory.resolve("text.pt"), "PK"))) {
            assertThat(new Torch().footprint(none)).isEqualTo(Footprint.NONE);
        }
    }

    @Test
    void aProcessorHasNoMemoryOfItsOwn() {
        assertThat(new Torch().memory(new Accelerator.Cpu(1, CpuProfile.ADAPTIVE)))
                .isEmpty();
    }
}
