package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.config.Configuration;
import dev.berth.engine.Machine;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Which workers there are, and how large their batches. `CheckTest` is about what is wrong.
class DeploymentTest {

    private static final int CORES = Runtime.getRuntime().availableProcessors();

    @Test
    void aProfileDecidesHowWorkersShareTheCores() throws Exception {
        assertThat(plan(Map.of()).workers()).isEqualTo(workers(CORES, CpuProfile.ADAPTIVE));
        assertThat(plan(Map.of("BERTH_CPU_PROFILE", "latency")).workers()).isEqualTo(workers(1, CpuProfile.LATENCY));
        assertThat(plan(Map.of("BERTH_CPU_PROFILE", "throughput")).workers())
                .isEqualTo(workers(CORES, CpuProfile.THROUGHPUT));
        assertThat(plan(Map.of("BERTH_CPU_PROFILE", "throughput", "SAGEMAKER_MODEL_SERVER_WORKERS", "7"))
                        .workers())
                .isEqualTo(workers(7, CpuProfile.THROUGHPUT));
    }

    @Test
    void aBatchIsAsLargeAsTheModelAndTheDeviceWant(@TempDir Path directory) throws Exception {
        assertThat(plan(Map.of()).limits().maxBatchSize()).isEqualTo(1);
        TestArtifact.compiled(directory, "cpu", "waves-1x128.pt", "waves-4x128.pt", "waves-2x384.pt");
        var artifact = directory.toString();
        assertThat(plan(Map.of("BERTH_MODEL_DIR", artifact)).limits().maxBatchSize())
                .isEqualTo(4);
        assertThat(plan(Map.of("BERTH_MODEL_DIR", artifact, "BERTH_MAX_BATCH_SIZE", "9"))
                        .limits()
                        .maxBatchSize())
                .isEqualTo(9);
    }

    private static List<Accelerator> workers(int count, CpuProfile profile) {
        return Collections.nCopies(count, new Accelerator.Cpu(CORES, profile));
    }

    private static Deployment plan(Map<String, String> environment) throws Exception {
        var all =
                new HashMap<>(Map.of("INSTANCE_TYPE", "cpu", "BERTH_MODEL_DIR", TestServer.SAMPLE_ARTIFACT.toString()));
        all.putAll(environment);
        var config = Configuration.read(all, Map.of(), Path.of(".")).config();
        var deployment = Deployment.plan(config, Machine.current());
        ((AutoCloseable) deployment.hooks().handler()).close();
        return deployment;
    }
}
