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
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Which workers there are, and how large their batches. `CheckTest` is about what is wrong.
class DeploymentTest {

    private static final int CORES = Runtime.getRuntime().availableProcessors();

    @ParameterizedTest
    @CsvSource({"adaptive, 0, 0", "latency, 0, 1", "throughput, 0, 0", "throughput, 7, 7"})
    void aProfileDecidesHowWorkersShareTheCores(String profile, int asked, int expected) throws Exception {
        var workers = plan(Map.of(
                        "BERTH_CPU_PROFILE", profile, "SAGEMAKER_MODEL_SERVER_WORKERS", asked == 0 ? "" : "" + asked))
                .workers();
        var accelerator = new Accelerator.Cpu(CORES, CpuProfile.valueOf(profile.toUpperCase(Locale.ROOT)));
        assertThat(workers).isEqualTo(Collections.nCopies(expected == 0 ? CORES : expected, accelerator));
    }

    @ParameterizedTest
    @CsvSource({"'', 4", "9, 9"})
    void aBatchIsAsLargeAsTheModelAndTheDeviceWant(String asked, int expected, @TempDir Path directory)
            throws Exception {
        TestArtifact.compiled(directory, "cpu", "waves-1x128.pt", "waves-4x128.pt", "waves-2x384.pt");
        assertThat(plan(Map.of("BERTH_MODEL_DIR", directory.toString(), "BERTH_MAX_BATCH_SIZE", asked))
                        .limits()
                        .maxBatchSize())
                .isEqualTo(expected);
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
