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
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

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
    void aRelativePathWillDo() {
        var sample = Path.of("").toAbsolutePath().relativize(TestServer.SAMPLE_ARTIFACT);
        assertThat(ModelArtifact.open(sample).task()).isEqualTo("question-answering");
        assertThat(TensorArtifact.open(Path.of("examples/mnist/../mnist/."), Engine.FORMS)
                        .file())
                .exists();
    }

    @Test
    void compiledShapesAreSortedByTheirLength() throws Exception {
        model.put("shapes", "compiled").set("files", JSON.readTree("""
                [{"path": "model.pt", "batch": 2, "sequence": 256}, {"path": "model.pt", "batch": 4, "sequence": 64}]"""));
        write();
        assertThat(ModelArtifact.open(directory).shapes().files())
                .extracting(Shapes.Shape::sequence)
                .containsExactly(64, 256);
    }

    /// Fields that are not as in the sample, and all that is said of them at once. `null` is a field left out.
    @ParameterizedTest
    @Tag("RUN-14")
    @CsvSource(delimiter = '|', textBlock = """
      {'agreement': {'questions': 0, 'sameAnswers': 0, 'largestScoreDifference': 'much'}} | agreement.questions: found 0, expected a whole number of at least 1; agreement.largestScoreDifference: found "much", expected a number
      {'agreement': 0.9}              | agreement: found 0.9, expected an object
      {'shapes': 'compiled', 'files': [{'path': 'model.pt', 'batch': 1, 'sequence': 513}]} | files: found a sequence of 513, expected at most the maxSequenceLength of 512
      {'target': 'inf2', 'precision': 'fp8', 'files': [{'path': 'model.pt'}, {'path': 'model.pt'}]} | shapes: found "dynamic", expected "compiled" for inf2; precision: found "fp8", expected one of fp32, fp16, bf16, int8; files: found 2, expected one that takes every shape
      {'task': 5, 'target': 'tpu', 'shapes': 'round', 'maxSequenceLength': 0} | task: found 5, expected a task such as question-answering; target: found "tpu", expected one of cpu, gpu, inf1, inf2, trn1; shapes: found "round"; maxSequenceLength: found 0
      {'lowerCase': 'yes', 'pair': null, 'inputs': []} | lowerCase: found "yes", expected true or false; pair.padding: found nothing; inputs: found an empty list, expected a list of names
      {'files': [{'path': 'missing.pt'}]}  | files[0].path: found "missing.pt"
      {'files': [{'path': '../model.pt'}]} | files[0].path: found "../model.pt"
      {'files': [{'path': ''}]}            | files[0].path: found ""
      {'format': 2}                   | format: found 2, expected 1; trace the model again
      """)
    void everythingThatIsWrongIsSaidAtOnce(String fields, String messages) throws Exception {
        model.setAll((ObjectNode) JSON.readTree(fields.replace('\'', '"')));
        model.remove(model.propertyStream()
                .filter(field -> field.getValue().isNull())
                .map(Map.Entry::getKey)
                .toList());
        write();
        assertThatThrownBy(() -> ModelArtifact.open(directory))
                .isInstanceOf(ModelArtifactException.class)
                .message()
                .contains(directory.toString())
                .contains(messages.split("; "));
    }

    @Test
    @Tag("RUN-14")
    void whatIsNoArtifactAtAllIsSaidPlainly() throws Exception {
        assertThatThrownBy(() -> ModelArtifact.open(directory.resolve("none"))).hasMessageContaining("not a directory");
        assertThatThrownBy(() -> ModelArtifact.open(directory)).hasMessageContaining("model.json: not found");
        Files.writeString(directory.resolve("model.tar.gz"), "packed");
        assertThatThrownBy(() -> ModelArtifact.open(directory)).hasMessageContaining("still packed");
        for (var wrong : List.of(
                List.of("{\n oops", "model.json: not JSON at line 2"),
                List.of(
                        "{\"format\": 1}\n{\"format\": 1}",
                        "model.json: found a second JSON value at line 2, column 1"),
                List.of("{\"format\": 1, \"format\": 1}", "found duplicate field 'format'"),
                List.of("[".repeat(100_000), "document nesting depth (1001), expected at most (1000"),
                List.of("[]", "found an empty list, expected an object"))) {
            Files.writeString(directory.resolve("model.json"), wrong.getFirst());
            assertThatThrownBy(() -> ModelArtifact.open(directory))
                    .hasMessageContaining("model.json: ")
                    .hasMessageContaining(wrong.getLast());
        }
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
