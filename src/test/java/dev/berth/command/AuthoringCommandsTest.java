package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestArtifact;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `./serve init` and `./serve check` in processes of their own. `TemplateTest` serves what the first writes,
/// `CheckTest` is about what the second finds.
@Tag("packaged")
class AuthoringCommandsTest {

    @TempDir
    private Path directory;

    @Test
    void whatItWritesPassesItsCheck() throws Exception {
        var artifact = directory.resolve("films").toString();
        try (var init = ServeProcess.serve(Map.of(), "init", "--template", "recommender", artifact)) {
            assertThat(init.exitCode()).as(init.err()).isZero();
            assertThat(init.out())
                    .contains("wrote the template recommender")
                    .contains("serve check " + artifact)
                    .doesNotContain("left code/");
        }
        try (var check = ServeProcess.serve(Map.of("INSTANCE_TYPE", "cpu"), "check", artifact)) {
            assertThat(check.exitCode()).as(check.err()).isZero();
            assertThat(check.err()).isEmpty();
            assertThat(check.out())
                    .doesNotContain("INFO")
                    .contains("Inference of code/Inference.java", "records/s")
                    .contains(
                            "{\"films\":[\"Aliens\",\"Solaris\",\"Notorious\"]} (checked against sample-response.json)");
        }
        try (var again = ServeProcess.serve(Map.of(), "init", artifact)) {
            assertThat(again.exitCode()).as(again.err()).isZero();
            assertThat(again.out())
                    .startsWith("nothing is missing in " + artifact)
                    .contains("left code/ as it is, and added no test; for both to copy from: ")
                    .doesNotContain("wrote");
        }
        try (var file = ServeProcess.serve(Map.of(), "init", artifact + "/films.csv")) {
            assertThat(file.exitCode()).isEqualTo(1);
            assertThat(file.err().lines())
                    .singleElement()
                    .asString()
                    .endsWith("found a file, expected a directory, or nothing");
        }
    }

    @Test
    void whatItDoesNotUnderstandIsNamed() throws Exception {
        try (var unknown = ServeProcess.serve(Map.of(), "init", "--template", "sound", directory.toString())) {
            assertThat(unknown.exitCode()).isEqualTo(2);
            assertThat(unknown.err()).contains("--template").contains("sound").contains("recommender");
        }
        try (var nowhere = ServeProcess.serve(Map.of(), "init")) {
            assertThat(nowhere.exitCode()).isEqualTo(2);
            assertThat(nowhere.err()).contains("DIR");
        }
        try (var help = ServeProcess.serve(Map.of(), "init", "--help")) {
            assertThat(help.exitCode()).isZero();
            assertThat(help.out()).contains("--template").contains("tensor");
        }
    }

    @Test
    @Tag("RUN-14")
    void aCheckThatFindsProblemsNamesThemAndEndsWithOne() throws Exception {
        TestArtifact.compiled(directory, "inf2", "waves-1x128.pt");
        Files.delete(directory.resolve("tokenizer.json"));
        try (var check = ServeProcess.serve(Map.of("INSTANCE_TYPE", "inf2"), "check", directory.toString())) {
            assertThat(check.exitCode()).isEqualTo(1);
            assertThat(check.err().lines())
                    .hasSize(2)
                    .anyMatch(line -> line.contains("no Neuron device"))
                    .anyMatch(line -> line.contains("tokenizer.json: not found"));
            assertThat(check.out()).isEmpty();
        }
        try (var check = ServeProcess.serve(
                Map.of(), "check", directory.resolve("none.tar.gz").toString())) {
            assertThat(check.exitCode()).isEqualTo(1);
            assertThat(check.err().lines())
                    .singleElement()
                    .asString()
                    .contains("none.tar.gz: found no such directory", "; unpack it first: mkdir my-model && tar -xzf ");
        }
        try (var check = ServeProcess.serve(Map.of(), "--models", directory.toString(), "check")) {
            assertThat(check.exitCode()).isEqualTo(2);
            assertThat(check.err().lines()).singleElement().asString().contains("--models: found it before check");
        }
        try (var check = ServeProcess.serve(Map.of(), "--workers", "0", "check")) {
            assertThat(check.exitCode()).isEqualTo(2);
            assertThat(check.err().lines()).singleElement().asString().contains("--workers: found \"0\"");
        }
    }

    @Test
    void aCheckLogsToStderr() throws Exception {
        try (var check = ServeProcess.serve(Map.of("SAGEMAKER_MODEL_SERVER_WORKER", "1"), "--workers", "3", "check")) {
            assertThat(check.exitCode()).isZero();
            assertThat(check.out()).containsPattern("workers +3,").doesNotContain("WARN");
            assertThat(check.err()).contains("WARN").contains("did you mean SAGEMAKER_MODEL_SERVER_WORKERS?");
        }
    }
}
