package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.dockerjava.api.command.InspectImageResponse;
import com.github.dockerjava.api.model.Device;
import dev.berth.testing.BerthImage;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;

/// What is in the image, what is not, and what it says of itself.
@Tag("packaged")
class ImageTest {

    private static final long GIGABYTE = 1_000_000_000;

    @AutoClose
    private static GenericContainer<?> container;

    private static InspectImageResponse image;

    @BeforeAll
    static void buildAndStart() throws Exception {
        BerthImage.build();
        image = DockerClientFactory.instance()
                .client()
                .inspectImageCmd(BerthImage.NAME)
                .exec();
        // Something that runs, to look around in.
        container = new GenericContainer<>(BerthImage.NAME)
                .withCreateContainerCmdModifier(
                        cmd -> cmd.withEntrypoint("sleep").withCmd("36000"));
        container.start();
    }

    @Test
    @Tag("RUN-03")
    @Tag("RUN-04")
    void itStartsTheServerItselfAsRoot() {
        var config = image.getConfig();
        // The shell's form would be an array that begins with /bin/sh.
        assertThat(config.getEntrypoint()).containsExactly("/opt/berth/serve");
        assertThat(config.getCmd()).isNullOrEmpty();
        assertThat(config.getUser()).isIn("", "root", "0");
    }

    @Test
    @Tag("RUN-11")
    @Tag("RUN-12")
    @Tag("BIDI-05")
    void itsLabelsSayWhatItCan() {
        assertThat(image.getConfig().getLabels())
                .containsEntry("com.amazonaws.sagemaker.capabilities.accept-bind-to-port", "true")
                .containsEntry("com.amazonaws.sagemaker.capabilities.bidirectional-streaming", "true")
                .containsEntry("com.amazonaws.sagemaker.capabilities.multi-models", "true")
                .containsAllEntriesOf(Map.of(
                        "org.opencontainers.image.title", "Berth",
                        "org.opencontainers.image.licenses", "Apache-2.0"))
                .containsKeys(
                        "org.opencontainers.image.version",
                        "org.opencontainers.image.revision",
                        "org.opencontainers.image.source",
                        "org.opencontainers.image.base.name");
    }

    @Test
    void itIsMadeForTheCpu() {
        assertThat(image.getConfig().getEnv()).contains("INSTANCE_TYPE=cpu");
    }

    @Test
    @Tag("SLS-02")
    void itIsATenthOfWhatServerlessTakes() {
        assertThat(image.getSize()).isLessThan(GIGABYTE);
    }

    @Test
    @Tag("RUN-20")
    void itHasNothingOfAGpu() throws Exception {
        assertThat(run("find", "/", "-xdev", "-name", "libcuda*", "-o", "-name", "*nvidia*"))
                .isEmpty();
    }

    @Test
    void nobodyButRootMayChangeIt() throws Exception {
        assertThat(run("find", "/", "-xdev", "-type", "f", "-perm", "-0002")).isEmpty();
        assertThat(run("find", "/opt", "-xdev", "!", "-perm", "-0004"))
                .as("what an unprivileged user can't read")
                .isEmpty();
    }

    @Test
    void nothingIsLeftOfItsMaking() throws Exception {
        assertThat(run("find", "/root", "/tmp", "/opt/ml", "-type", "f")).isEmpty();
        assertThat(run("sh", "-c", "command -v mvn gcc strip pip jlink; true")).isEmpty();
    }

    @Test
    void itHasNoPackageManagerAndNothingThatGivesRights() throws Exception {
        assertThat(run("sh", "-c", "command -v apt apt-get dpkg perl python3 bash su mount; true"))
                .isEmpty();
        assertThat(run("find", "/", "-xdev", "-type", "f", "(", "-perm", "-4000", "-o", "-perm", "-2000", ")"))
                .isEmpty();
    }

    @Test
    void itHasAUserOfItsOwnForThoseWhoWantOne() throws Exception {
        assertThat(run("sh", "-c", "grep ^berth: /etc/passwd")).startsWith("berth:x:65532:65532:");
        var other = BerthImage.NAME + "-nonroot";
        BerthImage.run(
                List.of("docker", "build", "--target", "cpu-nonroot", "-t", other, "."),
                Path.of("target", "docker-build-nonroot.log"));
        var user = DockerClientFactory.instance()
                .client()
                .inspectImageCmd(other)
                .exec()
                .getConfig()
                .getUser();
        assertThat(user).isEqualTo("65532:65532");
    }

    /// A machine with a GPU is no reason to look for libtorch.
    @Test
    void itHasAVariantForOnnxFilesWithoutLibtorch() throws Exception {
        var other = BerthImage.buildForOnnx();
        var size = DockerClientFactory.instance()
                .client()
                .inspectImageCmd(other)
                .exec()
                .getSize();
        assertThat(size).isLessThan(image.getSize() / 2);
        try (var sample = new GenericContainer<>(other)
                // It ends at once if it can't use the cache.
                .withEnv("JAVA_OPTS", "-XX:AOTMode=on")
                .withCreateContainerCmdModifier(
                        cmd -> cmd.getHostConfig().withDevices(new Device("rwm", "/dev/nvidia0", "/dev/null")))) {
            sample.start();
            BerthImage.assertAnswers(sample);
            assertThat(BerthImage.out(sample)).contains("in ONNX for cpu");
        }
        BerthImage.assertEnds(
                BerthImage.serving(other, TestServer.SAMPLE_ARTIFACT),
                "found a TorchScript file, but this image has no libtorch; use the CPU image");
    }

    /// Those of DJL unpack themselves into a cache when the server starts.
    @Test
    void itsNativeLibrariesAreUnpacked() throws Exception {
        assertThat(run("sh", "-c", "cd /opt/berth && ls native torch"))
                .contains(
                        "libtokenizers.so",
                        "libjnidispatch.so",
                        "libwebp-imageio.so",
                        "libtorch_cpu.so",
                        "libdjl_torch.so");
        assertThat(run("sh", "-c", "ls /opt/berth/lib"))
                .doesNotContain("pytorch-native", "pytorch-jni")
                .contains("tokenizers-");
    }

    @Test
    void itsJavaCanCompileHooks() throws Exception {
        assertThat(run("java", "-XX:-UsePerfData", "--list-modules"))
                .contains("jdk.compiler@25", "java.desktop@25", "java.net.http@25");
    }

    /// XGBoost's and LightGBM's link to libgomp, which is not that of libtorch.
    @Test
    void librariesInHooksJarsFindWhatTheyLinkTo() throws Exception {
        var load = """
        import java.lang.foreign.*;
        void main(String[] names) {
          for (var name : names) SymbolLookup.libraryLookup(name, Arena.global());
        }
        """;
        run("sh", "-c", "echo '" + load + "' > /dev/shm/Load.java");
        run(
                "java",
                "-XX:-UsePerfData",
                "--enable-native-access=ALL-UNNAMED",
                "/dev/shm/Load.java",
                "libgomp.so.1",
                "libstdc++.so.6",
                "libgcc_s.so.1",
                "libz.so.1");
    }

    @Test
    void hooksCanBeDebuggedInIt() throws Exception {
        assertThat(run("java", "-XX:-UsePerfData", "-agentlib:jdwp=help")).contains("address=");
    }

    /// The first probe comes after an interval.
    @Test
    void itIsHealthySecondsAfterItIsReady() {
        assertThat(Duration.ofNanos(image.getConfig().getHealthcheck().getInterval()))
                .isLessThanOrEqualTo(Duration.ofSeconds(5));
    }

    @Test
    void itListsWhatItIsMadeOf() throws Exception {
        var bill = new ObjectMapper().readTree(run("cat", "/opt/berth/berth.cdx.json"));
        assertThat(bill.path("bomFormat").asText()).isEqualTo("CycloneDX");
        assertThat(bill.at("/metadata/component/name").asText()).isEqualTo("berth");
        assertThat(bill.path("components").findValuesAsText("name"))
                .contains("api", "pytorch-engine", "pytorch-native-cpu", "tokenizers", "javalin", "jackson-databind")
                .doesNotContain("junit-jupiter", "testcontainers")
                .contains("openjdk", "libc6", "libgomp1", "libstdc++6", "busybox-static");
        // Every package of the system is there, with its version.
        var installed = run(
                        "sh", "-c", "cat /var/lib/dpkg/status.d/* | grep -E '^(Package|Version): ' | sed 's/.*: //'")
                .lines()
                .toList();
        for (int i = 0; i < installed.size(); i += 2) {
            var name = installed.get(i);
            var listed = bill.path("components")
                    .valueStream()
                    .filter(component -> component.path("purl").asText().startsWith("pkg:deb/"))
                    .filter(component -> component.path("name").asText().equals(name))
                    .findFirst();
            assertThat(listed).as(name).isPresent();
            assertThat(listed.get().path("version").asText()).isEqualTo(installed.get(i + 1));
        }
        var java = bill.path("components")
                .valueStream()
                .filter(one -> one.path("name").asText().equals("openjdk"))
                .findFirst();
        assertThat(java.orElseThrow().path("version").asText()).startsWith("25.");
        assertThat(run("ls", "/opt/berth")).contains("LICENSE", "NOTICE");
    }

    private static String run(String... command) throws Exception {
        var result = container.execInContainer(command);
        assertThat(result.getExitCode()).as(result.getStderr()).isZero();
        return result.getStdout();
    }
}
