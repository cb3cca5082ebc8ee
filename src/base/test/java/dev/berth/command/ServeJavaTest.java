package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Which JDKs `serve` takes, and with what it starts them: those here only say that they were
/// started.
@EnabledOnOs(OS.LINUX)
class ServeJavaTest {

    private static final String COMPAT = "/usr/local/cuda/compat";
    private static final String DRIVER = "/proc/driver/nvidia/version";

    @TempDir
    private Path home;

    /// The launcher, which looks for JDKs in `home/jdks` instead of in the system's directories, and
    /// its jar.
    @BeforeEach
    void install() throws IOException {
        var system = "/opt/java/openjdk /usr/lib/jvm/*";
        var finder = Files.readString(Path.of("find-java.sh"));
        assertThat(finder).contains(system);
        Files.writeString(home.resolve("find-java.sh"), finder.replace(system, "\"$home\"/jdks/*"));
        var launcher = Files.readString(Path.of("serve"));
        assertThat(launcher).contains(COMPAT, DRIVER);
        executable(
                home.resolve("serve"),
                launcher.replace(COMPAT, home.resolve("compat").toString())
                        .replace(DRIVER, home.resolve("driver").toString()));
        Files.createFile(home.resolve("berth.jar"));
        Files.createDirectory(home.resolve("tools"));
        for (var tool : new String[] {"sed", "head", "dirname", "readlink", "find", "uname"}) {
            Files.createSymbolicLink(home.resolve("tools").resolve(tool), Path.of("/usr/bin", tool));
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"25.0.3", "25.0.3+9", "25.0.3.0.1", "25.0.3+9-LTS", "25.0.10", "25.1", "26", "26-ea", "26-ea+12"
            })
    void aJdkThatIsNewEnoughIsUsed(String version) throws Exception {
        jdk("one", version);
        assertThat(serve(0)).isEqualTo("started " + version + "\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"25", "25-ea", "25.0.1", "25.0.2+10", "25.0.3-ea+5", "24.0.2", "17.0.15", "1.8.0_402"})
    void anOlderJdkIsRefusedWithItsVersionAndTheReason(String version) throws Exception {
        var jdk = jdk("one", version);
        assertThat(serve(1).lines().findFirst())
                .get()
                .asString()
                .contains("needs Java 25.0.3 or newer", "JDK-8377811", "found: Java " + version + " in " + jdk);
    }

    @Test
    void anOlderJdkIsPassedOverForANewerOne() throws Exception {
        jdk("a", "25.0.1");
        jdk("b", "25.0.3");
        assertThat(serve(0)).isEqualTo("started 25.0.3\n");
    }

    @Test
    void aJdkWithoutAReleaseFileIsAskedForItsVersion() throws Exception {
        Files.delete(jdk("a", "25.0.2").resolve("release"));
        Files.delete(jdk("b", "25.0.4").resolve("release"));
        assertThat(serve(0)).isEqualTo("started 25.0.4\n");
    }

    /// The last two look like others.
    @ParameterizedTest
    @CsvSource({
        "'', '', 40",
        "SAGEMAKER_MULTI_MODEL, true, 25",
        "SAGEMAKER_MULTI_MODEL, True, 25",
        "BERTH_MODELS, models, 25",
        "'', --models models, 25",
        "'', --models=models, 25",
        "SAGEMAKER_MULTI_MODEL, false, 40",
        "'', --model-dir models, 40"
    })
    void modelsHaveMoreOfTheMemoryWhereThereAreMany(String variable, String value, int share) throws Exception {
        jdk("one", "25.0.3");
        var environment = variable.isEmpty() ? Map.<String, String>of() : Map.of(variable, value);
        var arguments = variable.isEmpty() ? value.split(" ") : new String[0];
        assertThat(serve(0, environment, arguments)).contains("-XX:MaxRAMPercentage=%d ".formatted(share));
    }

    @Test
    void aJobHasLittleHeapUnlessItIsGivenMore() throws Exception {
        jdk("one", "25.0.3");
        assertThat(serve(0, Map.of(), "transform")).contains("-XX:ErgoHeapSizeLimit=512m ");
        assertThat(serve(0, Map.of("JAVA_OPTS", "-Xmx4g"), "transform"))
                .containsSubsequence("-XX:ErgoHeapSizeLimit=512m ", "-Xmx4g ");
        assertThat(serve(0, Map.of(), "check")).contains("-XX:ErgoHeapSizeLimit=29g ");
    }

    @Test
    void theSecondCompilerIsOffBehindATokenizerWithoutHooks() throws Exception {
        jdk("one", "25.0.3");
        var model = Files.createDirectory(home.resolve("model"));
        var option = "--model-dir=" + model;
        var only = "-XX:TieredStopAtLevel=1 ";
        assertThat(serve(0, Map.of(), option)).doesNotContain(only);
        Files.createFile(model.resolve("tokenizer.json"));
        assertThat(serve(0, Map.of(), option)).contains(only);
        assertThat(serve(0, Map.of(), "--model-dir", model.toString())).contains(only);
        assertThat(serve(0, Map.of("BERTH_MODEL_DIR", model.toString()), "--port=1"))
                .contains(only);
        assertThat(serve(0, Map.of(), "check", option)).doesNotContain(only);
        Files.createDirectory(model.resolve("code"));
        assertThat(serve(0, Map.of(), option)).doesNotContain(only);
    }

    /// The lines of NVIDIA's two kernel modules. Without a driver there is no file.
    @ParameterizedTest
    @CsvSource({
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  470.256.02  Thu May  2 14:37:44 UTC 2024, true",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.144.01  Release Build  (root), true",
        "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.86.15  Fri Jan 24 15:33:25 UTC 2025, false",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build  (root), false",
        "'', false"
    })
    void anOlderDriverGetsTheCompatibilityLibrariesOfCuda(String driver, boolean used) throws Exception {
        jdk("one", "25.0.3");
        Files.createDirectory(home.resolve("compat"));
        Files.createFile(home.resolve("compat/libcuda.so.570.124.06"));
        Files.createSymbolicLink(home.resolve("compat/libcuda.so.1"), Path.of("libcuda.so.570.124.06"));
        if (!driver.isEmpty()) {
            Files.writeString(
                    home.resolve("driver"), driver + "\nGCC version:  gcc version 12.2.0 (Debian 12.2.0-14)\n");
        }
        var libraries = used ? home.resolve("compat") + ":/other" : "/other";
        assertThat(serve(0, Map.of("LD_LIBRARY_PATH", "/other"), "check")).contains("libraries " + libraries + "\n");
    }

    private Path jdk(String name, String version) throws IOException {
        var jdk = home.resolve("jdks").resolve(name);
        Files.createDirectories(jdk.resolve("bin"));
        Files.writeString(jdk.resolve("release"), "IMPLEMENTOR=\"Acme\"\nJAVA_VERSION=\"%s\"\n".formatted(version));
        executable(jdk.resolve("bin/java"), """
        #!/bin/sh
        case $1 in
          -version) echo 'openjdk version "%1$s" 2026-04-21' >&2 ;;
          *)
            echo 'started %1$s'
            [ -z "$PRINT_OPTIONS" ] || printf '%%s\n' "$*" "libraries $LD_LIBRARY_PATH"
            ;;
        esac
        """.formatted(version));
        return jdk;
    }

    private static void executable(Path file, String content) throws IOException {
        Files.writeString(file, content);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    /// @return all that it printed
    private String serve(int exitCode) throws Exception {
        return serve(exitCode, Map.of());
    }

    private String serve(int exitCode, Map<String, String> environment, String... arguments) throws Exception {
        var command = new ArrayList<>(List.of(home.resolve("serve").toString()));
        command.addAll(List.of(arguments));
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().putAll(environment);
        if (!environment.isEmpty() || arguments.length > 0) {
            builder.environment().put("PRINT_OPTIONS", "true");
        }
        builder.environment().put("HOME", home.toString());
        builder.environment().put("PATH", home.resolve("tools").toString());
        var process = builder.start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(output).isEqualTo(exitCode);
        return output;
    }
}
