package dev.berth.authoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.batching.BatchLimits;
import dev.berth.command.StartException;
import dev.berth.config.Configuration;
import dev.berth.config.ServerConfig;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeArtifact.Jar;
import dev.berth.testing.HookProbe;
import dev.berth.testing.OpenFiles;
import dev.berth.testing.Pipes;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/// What `serve check` finds. `AuthoringCommandsTest` runs the command.
class CheckTest {

    @TempDir
    private Path directory;

    @Test
    void theReportSaysWhatTheSampleIsAndHowFast() throws Exception {
        assertThat(Check.run(config(TestServer.SAMPLE_ARTIFACT, Map.of("SAGEMAKER_MODEL_SERVER_WORKERS", "3"))))
                .anyMatch(line ->
                        line.matches("model +minilm-qa, question-answering, int8, traced for cpu with torch .*"))
                .anyMatch(line -> line.matches("device +cpu; INSTANCE_TYPE=cpu"))
                .anyMatch(line -> line.matches("workers +3, .*"))
                .anyMatch(line -> line.matches("shapes +any batch, any sequence of up to 512 tokens"))
                .anyMatch(line -> line.matches("files +model.pt, tokenizer.json"))
                .anyMatch(
                        line -> line.matches(
                                "agreement +the same answer as in fp32 to \\d+ of 120 questions, scores at most 0\\.\\d\\d apart"))
                .anyMatch(line -> line.matches("sample +\\{\"answer\":\"Warsaw.*"))
                .anyMatch(line -> line.matches(
                        "batch of 1 +\\d+\\.\\d ms, \\d+ records/s of one worker while the others are idle"))
                .anyMatch(line -> line.matches("best batch +1"))
                .anyMatch(line -> line.startsWith("differs     unlike in serve, "))
                .allSatisfy(line -> assertThat(line).matches("\\w[\\w ]{0,10} .*"));
    }

    @Test
    void compiledShapesAreListedAndTheirBatchesMeasured() throws Exception {
        TestArtifact.compiled(directory, "cpu", "waves-4x128.pt", "waves-1x128.pt");
        Files.copy(TestServer.SAMPLE_ARTIFACT.resolve("sample.json"), directory.resolve("sample.json"));
        assertThat(report())
                .anyMatch(line -> line.matches("shapes +\\[1, 128], \\[4, 128]"))
                .anyMatch(line -> line.matches("workers +\\d+, each on batches of up to 4"))
                .anyMatch(line -> line.matches("best batch +(1|[24]: .* records/s of one worker .*)"));
    }

    @Test
    void theNamesInATorchScriptAreShown() throws Exception {
        Files.copy(TestArtifact.TORCHSCRIPT.resolve("sum-and-product.pt"), directory.resolve("model.pt"));
        assertThat(report()).contains("names       inputs left, right; outputs product, sum");
        Files.writeString(
                directory.resolve("model.json"),
                "{\"format\": 1, \"files\": [{\"path\": \"model.pt\"}], \"outputs\": [\"sum\", \"product\"]}");
        Files.writeString(directory.resolve("sample.json"), "{\"left\": 1, \"right\": 2}");
        assertThat(report()).contains("names       inputs left, right; outputs sum, product");
    }

    @Test
    void whatAForwardTakesIsShownAndWhy() throws Exception {
        Files.copy(TestArtifact.TORCHSCRIPT.resolve("doubled.pt"), directory.resolve("model.pt"));
        assertThat(report())
                .contains(
                        "a forward   rows of any requests together: made-up rows were answered the same beside others and alone");
        Files.write(directory.resolve("model.pt"), Files.readAllBytes(TestArtifact.TORCHSCRIPT.resolve("centred.pt")));
        Files.writeString(directory.resolve("sample.json"), "[[1, 2], [3, 4]]");
        assertThat(report())
                .anyMatch(
                        line -> line.startsWith(
                                "a forward   all rows of a request, and no others: rows like those of the sample depend on each other: output_0 of a row alone"));
    }

    @Test
    void theBatchesThatTheServerFormsAreMeasuredAndNoOthers() {
        assertThat(batches(1, Integer.MAX_VALUE, 28)).isEmpty();
        assertThat(batches(6, Integer.MAX_VALUE, 28)).containsExactly(2, 4, 6);
        assertThat(batches(32, 16_384, 28)).containsExactly(2, 4, 8, 16, 32);
        assertThat(batches(32, 100, 28)).containsExactly(2, 3);
        assertThat(batches(Integer.MAX_VALUE, Integer.MAX_VALUE, 1)).endsWith(512, 1024);
    }

    private static List<Integer> batches(int most, int tokens, int length) {
        return Check.batches(new BatchLimits(most, tokens, Duration.ZERO, 1, Duration.ZERO), length, 1);
    }

    @Test
    void anArtifactWithoutASampleIsLoadedAndNotMeasured() throws Exception {
        TestArtifact.dynamic(directory, "waves.pt");
        assertThat(report())
                .anyMatch(line -> line.startsWith("sample      none"))
                .noneMatch(line -> line.startsWith("batch of 1"));
    }

    @Test
    @Tag("RUN-14")
    void everyProblemIsOnALineOfItsOwn() throws Exception {
        TestArtifact.compiled(directory, "gpu", "waves-1x128.pt");
        Files.writeString(directory.resolve("tokenizer.json"), "{}");
        var library = Files.writeString(directory.resolve("libops.so"), "no library");
        var model = Files.readString(directory.resolve("model.json"));
        assertThat(problems(Map.of("BERTH_EXTRA_LIBRARIES", library.toString())))
                .hasSize(3)
                .anyMatch(line -> line.contains("libops.so can't be loaded"))
                .anyMatch(line -> line.contains("traced for gpu, and this server uses cpu"))
                .anyMatch(line -> line.contains("tokenizer.json can't be loaded as a tokenizer"));

        Files.writeString(
                directory.resolve("model.json"),
                model.replace("\"task\"", "\"tusk\"").replace("\"fp32\"", "8").replace("\"int8\"", "8"));
        assertThat(problems(Map.of("INSTANCE_TYPE", "inf2")))
                .hasSize(3)
                .anyMatch(line -> line.contains("INSTANCE_TYPE=inf2 asks for inf2"))
                .anyMatch(line -> line.contains("model.json: task: found nothing"))
                .anyMatch(line -> line.contains("model.json: precision: found 8"));
    }

    @Test
    @Timeout(600)
    void aSampleThatIsNoRegularFileIsNamed() throws Exception {
        Files.copy(TestArtifact.TORCHSCRIPT.resolve("sum-and-product.pt"), directory.resolve("model.pt"));
        Pipes.make(directory.resolve("sample.json"));
        assertThat(problems(Map.of()))
                .containsExactly("sample.json: found a pipe, socket or device, expected a regular file");
        Files.delete(directory.resolve("sample.json"));
        Files.writeString(directory.resolve("sample.csv"), "1,2");
        Pipes.make(directory.resolve("sample-response.json"));
        assertThat(problems(Map.of())).singleElement().asString().startsWith("sample-response.json: found a pipe");
    }

    @Test
    @Tag("slow")
    @Timeout(60)
    void aHookThatDoesNotEndIsLeftBehindAtTheDeadline() throws Exception {
        HookProbe.reset();
        CodeArtifact.hooks(
                        directory,
                        "@Override public List<String> inputFn(InvocationRequest request) { HookProbe.spin(); return null; }")
                .file("sample.txt", "a");
        try {
            assertThat(problems(Map.of("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "1")))
                    .containsExactly(
                            "sample.txt: found no answer within 1 s while inputFn (code/Inference.java) ran, expected one; serve answers 504 then (--timeout)");
        } finally {
            HookProbe.endSpinning();
        }
    }

    @Test
    void hooksHaveTheClassesAndTypesThatTheyHaveInServe() throws Exception {
        CodeArtifact.hooks(directory, """
        @Override public List<MediaType> requestTypes() { return List.of(MediaType.TEXT); }
        @Override public List<MediaType> responseTypes() { return List.of(MediaType.CSV, MediaType.JSON); }
        @Override public Object modelFn(ModelContext context) { return place(); }
        @Override public List<String> predictFn(List<String> records, Object model) { return List.of(model + " " + place()); }
        private static String place() { return Thread.currentThread().getContextClassLoader().getName(); }
        """).file("sample.txt", "a");
        assertThat(report())
                .contains("sample      code code")
                .contains(
                        "asked as    POST /invocations with Content-Type text/plain and no Accept, within 60 s; answered as application/json");
    }

    @Test
    void anAnswerThatIsNoTextIsNotWrittenToTheTerminal() throws Exception {
        CodeArtifact.hooks(directory, """
        @Override public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
          return InvocationResponse.of(new byte[] {(byte) 0x89, 'P', 'N', 'G', 27}, MediaType.parse("image/png").orElseThrow());
        }
        """).file("sample.txt", "a");
        assertThat(report()).contains("sample      image/png, 5 bytes");
    }

    @Test
    @Tag("RUN-14")
    void aSampleThatServeWouldRefuseIsNamed() throws Exception {
        CodeArtifact.hooks(
                        directory,
                        "@Override public List<String> predictFn(List<String> records, Object model) { return null; }")
                .file("sample.txt", "a");
        assertThat(problems(Map.of()))
                .singleElement()
                .asString()
                .endsWith(
                        "sample.txt: the model does not answer it: predictFn (code/Inference.java) failed: found null, expected a list of 1 predictions, one for each record; "
                                + "correct the hooks or the sample, or delete it and sample-response.json");
    }

    @Test
    void theExitCodesAreInTheHelp() {
        var help = new CommandLine(new CheckCommand().spec()).getUsageMessage();
        assertThat(help)
                .contains("--timeout", "--default-accept", "--bad-records")
                .containsPattern("0 +serve would start")
                .containsPattern("1 +it would not")
                .containsPattern("2 +an option");
    }

    @Test
    void allBuildsOfAnArtifactAreListed() throws Exception {
        Files.createSymbolicLink(directory.resolve("cpu"), TestServer.SAMPLE_ARTIFACT);
        TestArtifact.compiled(Files.createDirectory(directory.resolve("gpu")), "gpu", "waves-1x128.pt");
        Files.writeString(
                directory.resolve("model.json"), "{\"format\": 1, \"files\": {\"cpu\": \"cpu\", \"gpu\": \"gpu\"}}");
        assertThat(report())
                .contains("artifact    " + directory, "builds      cpu, gpu; this is cpu")
                .anyMatch(line -> line.startsWith("sample      {\"answer\":\"Warsaw\""));
    }

    @Test
    void theJarsOfTheHooksAreClosed() throws Exception {
        var words = Jar.of(
                "com.acme.Words",
                "package com.acme; public class Words { public static String mark() { return \"!\"; } }");
        CodeArtifact.hooks(
                        directory,
                        "@Override public List<String> predictFn(List<String> records, Object model) { return List.of(com.acme.Words.mark()); }")
                .jar("lib/words.jar", words)
                .file("sample.txt", "plain");
        assertThat(report()).anyMatch(line -> line.matches("sample +!"));
        assertThat(OpenFiles.below(directory)).isEmpty();
    }

    private List<String> report() throws Exception {
        return Check.run(config(directory, Map.of()));
    }

    private List<String> problems(Map<String, String> environment) {
        return catchThrowableOfType(StartException.class, () -> Check.run(config(directory, environment)))
                .getMessage()
                .lines()
                .toList();
    }

    private static ServerConfig config(Path artifact, Map<String, String> environment) {
        var all = new HashMap<>(Map.of("INSTANCE_TYPE", "cpu", "BERTH_MODEL_DIR", artifact.toString()));
        all.putAll(environment);
        return Configuration.read(all, Map.of(), Path.of(".")).config();
    }
}
