package dev.berth.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.engine.Engine;
import dev.berth.testing.Pipes;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class ModelArtifactTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;

    private ObjectNode model;

    @BeforeEach
    void copyTheSample() throws Exception {
        for (var file : new String[] {"tokenizer.json", "model.pt"}) {
            Files.createSymbolicLink(directory.resolve(file), TestServer.SAMPLE_ARTIFACT.resolve(file));
        }
        model = (ObjectNode)
                JSON.readTree(TestServer.SAMPLE_ARTIFACT.resolve("model.json").toFile());
    }

    @Test
    void theSampleSaysWhatItIs() {
        var artifact = ModelArtifact.open(TestServer.SAMPLE_ARTIFACT);
        assertThat(artifact.task()).isEqualTo("question-answering");
        assertThat(artifact.target()).isEqualTo(Target.CPU);
        assertThat(artifact.header().origin().precision()).isEqualTo("int8");
        assertThat(artifact.inputs()).containsExactly("input_ids", "attention_mask", "token_type_ids");
        assertThat(artifact.shapes().isDynamic()).isTrue();
        assertThat(artifact.padding()).isZero();
        assertThat(artifact.header().origin().provenance()).containsEntry("licence", "CC BY-SA 4.0");
    }

    @Test
    void howFarItAnswersAsInFp32IsReadOrLeftOut() throws Exception {
        model.putObject("agreement")
                .put("questions", 120)
                .put("sameAnswers", 108)
                .put("largestScoreDifference", 0.25);
        write();
        assertThat(ModelArtifact.open(directory).header().origin().agreement()).contains(new Agreement(120, 108, 0.25));
        model.remove("agreement");
        write();
        assertThat(ModelArtifact.open(directory).header().origin().agreement()).isEmpty();
    }

    @Test
    void anAgreementThatCannotBeIsNamed() throws Exception {
        model.putObject("agreement").put("questions", 0).put("sameAnswers", 0).put("largestScoreDifference", "much");
        write();
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .hasMessageContaining("agreement.questions: found 0, expected a whole number of at least 1")
                .hasMessageContaining("agreement.largestScoreDifference: found \"much\", expected a number");
        model.put("agreement", 0.9);
        write();
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .hasMessageContaining("agreement: found 0.9, expected an object");
    }

    @Test
    @Tag("RUN-15")
    void aTarballBesideItsFilesDoesNotMatter() throws Exception {
        write();
        Files.writeString(directory.resolve("model.tar.gz"), "packed");
        assertThat(ModelArtifact.open(directory).task()).isEqualTo("question-answering");
    }

    @Test
    void aRelativePathWillDo() {
        var sample = Path.of("").toAbsolutePath().relativize(TestServer.SAMPLE_ARTIFACT);
        assertThat(ModelArtifact.open(sample).task()).isEqualTo("question-answering");
        assertThat(TensorArtifact.open(Path.of("examples/mnist/../mnist/."), Engine.FORMS)
                        .file())
                .exists();
    }

    @Test
    void compiledShapesAreSortedByTheirLength() throws Exception {
        model.put("shapes", "compiled");
        model.withArray("files").removeAll();
        model.withArray("files")
                .addObject()
                .put("path", "model.pt")
                .put("batch", 2)
                .put("sequence", 256);
        model.withArray("files")
                .addObject()
                .put("path", "model.pt")
                .put("batch", 4)
                .put("sequence", 64);
        write();
        assertThat(ModelArtifact.open(directory).shapes().files())
                .extracting(Shapes.Shape::sequence)
                .containsExactly(64, 256);
    }

    @Test
    void shapesThatTheModelOrTheDeviceCannotTakeAreNamed() throws Exception {
        model.put("shapes", "compiled");
        ((ObjectNode) model.path("files").path(0)).put("batch", 1).put("sequence", 513);
        write();
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .hasMessageContaining("files: found a sequence of 513, expected at most the maxSequenceLength of 512");
        model.put("shapes", "dynamic").put("target", "inf2").put("precision", "fp8");
        model.withArray("files").addObject().put("path", "model.pt");
        write();
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .hasMessageContaining("shapes: found \"dynamic\", expected \"compiled\" for inf2")
                .hasMessageContaining("precision: found \"fp8\", expected one of fp32, fp16, bf16, int8")
                .hasMessageContaining("files: found 2, expected one that takes every shape");
    }

    @Test
    @Tag("RUN-14")
    void everythingThatIsWrongIsSaidAtOnce() throws Exception {
        model.put("task", 5)
                .put("target", "tpu")
                .put("shapes", "round")
                .put("maxSequenceLength", 0)
                .put("lowerCase", "yes")
                .remove("pair");
        model.withArray("inputs").removeAll();
        Files.delete(directory.resolve("tokenizer.json"));
        write();
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .isInstanceOf(ModelArtifactException.class)
                .hasMessageContaining(directory.toString())
                .hasMessageContaining("task: found 5, expected a text")
                .hasMessageContaining("target: found \"tpu\", expected one of cpu, gpu, inf1, inf2, trn1")
                .hasMessageContaining("shapes: found \"round\"")
                .hasMessageContaining("maxSequenceLength: found 0")
                .hasMessageContaining("lowerCase: found \"yes\", expected true or false")
                .hasMessageContaining("pair.padding: found nothing")
                .hasMessageContaining("inputs: found an empty list, expected a list of names")
                .hasMessageContaining("tokenizer.json: not found");
    }

    @Test
    @Tag("RUN-14")
    void aModelFileThatIsMissingOrOutsideIsNamed() throws Exception {
        for (var path : new String[] {"missing.pt", "../model.pt", ""}) {
            ((ObjectNode) model.path("files").path(0)).put("path", path);
            write();
            assertThatThrownBy(() -> ModelArtifact.open(directory))
                    .hasMessageContaining("files[0].path: found \"%s\"", path);
        }
    }

    @Test
    void anotherFormatAsksForANewTrace() throws Exception {
        model.put("format", 2);
        write();
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .hasMessageContaining("format: found 2, expected 1")
                .hasMessageContaining("trace");
    }

    @Test
    @Tag("RUN-14")
    void whatIsNoArtifactAtAllIsSaidPlainly() throws Exception {
        assertThatThrownBy(() -> ModelArtifact.open(directory.resolve("none"))).hasMessageContaining("not a directory");
        assertThatThrownBy(() -> ModelArtifact.open(directory)).hasMessageContaining("model.json: not found");
        Files.writeString(directory.resolve("model.tar.gz"), "packed");
        assertThatThrownBy(() -> ModelArtifact.open(directory)).hasMessageContaining("still packed");
        Files.writeString(directory.resolve("model.json"), "{\n oops");
        assertThatThrownBy(() -> ModelArtifact.open(directory)).hasMessageContaining("model.json: not JSON at line 2");
        Files.writeString(directory.resolve("model.json"), "{\"format\": 1}\n{\"format\": 1}");
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .hasMessageContaining("model.json: found a second JSON value at line 2, column 1");
        Files.writeString(directory.resolve("model.json"), "{\"format\": 1, \"format\": 1}");
        assertThatThrownBy(() -> ModelArtifact.open(directory)).hasMessageContaining("found 'format' twice");
        Files.writeString(directory.resolve("model.json"), "[".repeat(100_000));
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .hasMessageContaining("model.json: ")
                .hasMessageContaining("too deep");
        Files.writeString(directory.resolve("model.json"), "[]");
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .hasMessageContaining("found an empty list, expected an object");
    }

    @Test
    @Timeout(600)
    void whatIsNoRegularFileIsNamedAndNeverRead() throws Exception {
        for (var file : List.of("tokenizer.json", "model.pt")) {
            Files.delete(directory.resolve(file));
            Pipes.make(directory.resolve(file));
        }
        Files.createDirectory(directory.resolve("sample.json"));
        Files.createSymbolicLink(directory.resolve("sample-response.json"), directory.resolve("nothing"));
        write();
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .hasMessageContaining("model.pt: found a pipe, socket or device, expected a regular file")
                .hasMessageContaining("tokenizer.json: found a pipe, socket or device, expected a regular file")
                .hasMessageContaining("sample.json: found a directory, expected a regular file")
                .hasMessageContaining("sample-response.json: found a link to nothing, expected a regular file");
        Files.delete(directory.resolve("model.json"));
        assertThatThrownBy(() -> TensorArtifact.open(directory, Engine.FORMS))
                .hasMessageContaining("model.pt: found a pipe");
        Pipes.make(directory.resolve("model.json"));
        assertThatThrownBy(() -> ModelArtifact.open(directory)).hasMessageContaining("model.json: found a pipe");
        assertThatThrownBy(() -> ModelJson.ifAny(directory)).hasMessageContaining("model.json: found a pipe");
    }

    private void write() throws Exception {
        JSON.writeValue(directory.resolve("model.json").toFile(), model);
    }
}
