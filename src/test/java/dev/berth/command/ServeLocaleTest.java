package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.ServeProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Names that are not ASCII, where the process is told nothing of their encoding. A shell makes
/// them: this JVM may be told as little.
@Tag("packaged")
class ServeLocaleTest {

    private static final String JOB = """
      cd "$0" && name=$(printf '\\346\\227\\245') && mkdir in && printf '{"question": "Who?", "context": "Bob came."}' > "in/$name.json"
      "$1/transform" --input in --output out --content-type application/json && cat "out/$name.json.out\"""";

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"C", "", "xx_XX.UTF-8"})
    void aJobReadsFilesOfAnyName(String locale) throws Exception {
        try (var job = shell(locale, JOB)) {
            assertThat(job.exitCode()).as(job.err()).isZero();
            assertThat(job.out()).containsPattern("succeeded +1\n").contains("\"answer\":\"Bob\"");
        }
    }

    @Test
    void aJobWithANameThatCannotBeReadFails() throws Exception {
        try (var job = shell("C.UTF-8", JOB.replace("\\346\\227\\245", "caf\\351"))) {
            assertThat(job.exitCode()).isEqualTo(1);
            assertThat(job.err()).contains("found a name that is not UTF-8");
        }
    }

    @Test
    void aModelMayStandInADirectoryOfAnyName() throws Exception {
        var check =
                "cd \"$0\" && ln -s \"$1/model-artifact\" \"$(printf 'm\\303\\274ller')\" && \"$1/serve\" check \"$(printf 'm\\303\\274ller')\"";
        try (var process = shell("C", check)) {
            assertThat(process.exitCode()).as(process.err()).isZero();
            assertThat(process.out()).contains("artifact    müller");
        }
    }

    private ServeProcess shell(String locale, String script) throws Exception {
        return ServeProcess.start(
                Map.of("LC_ALL", locale),
                List.of(
                        "sh",
                        "-c",
                        script,
                        directory.toString(),
                        Path.of("").toAbsolutePath().toString()));
    }
}
