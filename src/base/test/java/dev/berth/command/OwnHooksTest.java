package dev.berth.command;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.CapturedLog;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeArtifact.Jar;
import dev.berth.testing.HookProbe;
import dev.berth.testing.TestServer;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Artifacts with hooks of their own, served. What is wrong with hooks stands in
/// `OwnHooksFailureTest` and `OwnHooksStartTest`.
class OwnHooksTest {

    @TempDir
    Path directory;

    @AutoClose
    private final CapturedLog log = new CapturedLog();

    @AutoClose
    private TestServer server;

    @BeforeEach
    void reset() {
        HookProbe.reset();
    }

    @Test
    @Tag("HOOK-01")
    @Tag("HOOK-03")
    void hooksAreCalledInTheirOrderWithWhatTheyNeed() throws Exception {
        var artifact = new CodeArtifact(directory).source("Inference.java", """
        public final class Inference implements InferenceHandler<String, Integer, Double>, AutoCloseable {
          public Inference() { HookProbe.note("made"); }
          @Override public String modelFn(ModelContext context) {
            var accelerator = context.accelerator().getClass().getSimpleName();
            HookProbe.note("modelFn " + context.modelDirectory() + " " + accelerator);
            return "model";
          }
          @Override public void warmUpFn(String model) { HookProbe.note("warmUpFn " + model); }
          @Override public List<Integer> inputFn(InvocationRequest request) throws IOException {
            var text = request.text();
            HookProbe.note("inputFn " + text + " " + request.contentType());
            return Arrays.stream(text.split(",")).map(Integer::valueOf).toList();
          }
          @Override public int length(Integer record) { HookProbe.note("length " + record); return record; }
          @Override public List<Double> predictFn(List<Integer> records, String model) {
            HookProbe.note("predictFn " + records + " " + model);
            return records.stream().map(record -> record / 2.0).toList();
          }
          @Override public InvocationResponse outputFn(List<Double> predictions, InvocationRequest request) {
            HookProbe.note("outputFn " + predictions + " " + request.accept());
            var xml = MediaType.parse("application/xml; charset=utf-8").orElseThrow();
            return InvocationResponse.of("<" + predictions + ">", xml)
                .withCustomAttributes("halves=" + predictions.size());
          }
          @Override public void close() { HookProbe.note("closed"); }
        }
        """);
        server = artifact.server().start("SAGEMAKER_MODEL_SERVER_WORKERS=1", "BERTH_MAX_BATCH_SIZE=4");
        var response = server.invoke("1,2", "Content-Type", "text/csv", "Accept", "text/plain");
        assertThat(response.body()).isEqualTo("<[0.5, 1.0]>");
        assertThat(response.headers().firstValue("Content-Type"))
                .as("the hook's own, and not that of Accept")
                .contains("application/xml; charset=utf-8");
        assertThat(response.headers().firstValue("X-Amzn-SageMaker-Custom-Attributes"))
                .contains("halves=2");
        server.close();
        assertThat(HookProbe.NOTES)
                .containsExactly(
                        "made",
                        "modelFn " + directory + " Cpu",
                        "warmUpFn model",
                        "inputFn 1,2 text/csv",
                        "length 1",
                        "length 2",
                        "predictFn [1, 2] model",
                        "outputFn [0.5, 1.0] text/plain",
                        "closed");
    }

    @Test
    void theProgramIsTheOneThatTheEnvironmentNames() throws Exception {
        var artifact = new CodeArtifact(directory)
                .source("Inference.java", "class Inference extends TextHandler {}")
                .source("com/acme/Own.java", """
            package com.acme;
            class Own extends TextHandler {
              @Override public List<String> predictFn(List<String> records, Object model) { return List.of("own"); }
            }
            """);
        server = artifact.server().start("SAGEMAKER_PROGRAM=com/acme/Own.java");
        assertThat(server.invoke("a").body()).isEqualTo("own");
        assertThat(log.text()).contains("hooks: com.acme.Own of code/com/acme/Own.java");
    }

    @Test
    void modelJsonMayNameTheClass() throws Exception {
        var artifact = new CodeArtifact(directory)
                .file("model.json", "{\"handler\": \"com.acme.Own\"}")
                .jar("hooks.jar", Jar.of("com.acme.Own", """
            package com.acme;
            public class Own extends dev.berth.testing.TextHandler {}
            """));
        server = artifact.server().start();
        assertThat(server.invoke("a").body()).isEqualTo("A");
        assertThat(log.text()).contains("hooks: com.acme.Own of code/hooks.jar");
    }

    @Test
    void theBuiltInHandlerTakesAModelOfOnesOwn() throws Exception {
        var artifact = new CodeArtifact(directory).source("Inference.java", """
        public class Inference extends QuestionAnsweringHandler {
          public Inference(Path directory) { super(directory); }
          @Override public SpanModel modelFn(ModelContext context) {
            return rows -> {
              // The last word of the context stands before the last special token.
              int columns = rows.getFirst().size();
              var logits = new float[columns];
              logits[columns - 2] = rows.getFirst().ids()[1] == 2054 ? Float.NaN : 10;
              return new SpanModel.Logits(logits, logits, rows.getFirst().ids()[1] == 2073 ? columns + 1 : columns);
            };
          }
        }
        """).withSample();
        server = artifact.server().start();
        var about = "\"context\": \"Bell was born in Scotland\"}";
        assertThat(server.invoke("{\"question\": \"Who?\", " + about).body())
                .contains("\"answer\":\"Scotland\"", "\"start\":17", "\"end\":25");
        var wrong = server.invoke("{\"question\": \"Where?\", " + about);
        assertStatus(wrong, 500, "the model returned 10 start and 10 end logits in rows of 11");
        var none = server.invoke("{\"question\": \"What?\", " + about);
        assertStatus(none, 500, "the model's logits are no numbers");
    }

    @Test
    void aTransformHandlerAnswersWholeRequests() throws Exception {
        var artifact = new CodeArtifact(directory).source("Inference.java", """
        public final class Inference implements TransformHandler<String> {
          @Override public String modelFn(ModelContext context) { return "model"; }
          @Override public InvocationResponse transformFn(InvocationRequest request, String model) throws IOException {
            return InvocationResponse.of(String.join(" ", model, request.text(), request.contentType().toString(),
                request.accept().toString(), request.customAttributes().orElse("none")), MediaType.CSV);
          }
        }
        """);
        server = artifact.server().start();
        var response = server.invoke(
                "body",
                "Content-Type",
                "text/plain",
                "Accept",
                "text/html",
                "X-Amzn-SageMaker-Custom-Attributes",
                "a=1");
        assertThat(response.body()).isEqualTo("model body text/plain text/html a=1");
        assertThat(response.headers().firstValue("Content-Type")).contains("text/csv");
        assertThat(server.invoke("").body())
                .as("an empty body is a request too")
                .isEqualTo("model  application/json application/json none");
    }

    /// The first is what SageMaker's SDK sets for any image.
    @ParameterizedTest
    @ValueSource(strings = {"inference.py", "Inference.java"})
    void aProgramWithoutCodeIsAWarning(String program) throws Exception {
        new CodeArtifact(directory).withSample();
        server = TestServer.artifact(directory).start("SAGEMAKER_PROGRAM=" + program);
        assertThat(server.invoke("{\"question\": \"Who came?\", \"context\": \"Bob came.\"}")
                        .body())
                .contains("Bob");
        assertThat(log.text())
                .contains("SAGEMAKER_PROGRAM is %s, and has no effect without hooks in code/".formatted(program));
    }

    /// Else the answers to others would stand in their places.
    @Test
    void badRecordsThatOutputFnPassesOverRefuseTheRequest() throws Exception {
        new CodeArtifact(directory).withSample().source("Inference.java", """
            public class Inference extends QuestionAnsweringHandler {
              public Inference(Path directory) { super(directory); }
              @Override public InvocationResponse outputFn(List<Object> answers, InvocationRequest request) {
                return InvocationResponse.of(answers.size() + " answers", MediaType.TEXT);
              }
            }
            """);
        var good = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}\n";
        server = TestServer.artifact(directory).start("BERTH_BAD_RECORDS=keep");
        assertThat(server.invoke(good + good, "Content-Type", "application/jsonlines")
                        .body())
                .isEqualTo("2 answers");
        var bad = server.invoke(good + "5\n", "Content-Type", "application/jsonlines");
        assertStatus(bad, 400, "line 2");
    }

    @Test
    void aJarThatIsNotUsedAndALinkToNothingAreWarnings() throws Exception {
        new CodeArtifact(directory)
                .withSample()
                .file("a.jar", "")
                .file("code/libs/b.jar", "")
                .file("target/c.jar", "");
        Files.createSymbolicLink(directory.resolve("weights.bin"), Path.of("gone"));
        server = TestServer.artifact(directory).start();
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        assertThat(log.text())
                .contains(
                        "a.jar: found a jar that is not used here; put libraries into code/lib, and hooks into code",
                        "code/libs/b.jar: found a jar that is not used here",
                        "weights.bin: found a link to nothing; tar -h packs what links lead to")
                .doesNotContain("c.jar");
    }

    @Test
    void codeThatIsNotJavaLeavesTheBuiltInHandler() throws Exception {
        new CodeArtifact(directory).withSample().file("code/inference.py", "def model_fn(model_dir): pass");
        server = TestServer.artifact(directory).start();
        assertThat(server.invoke("{\"question\": \"Who came?\", \"context\": \"Bob came.\"}")
                        .body())
                .contains("Bob");
        assertThat(log.text()).contains("code/ has hooks in Python, which are not run");
        TestServer.artifact(directory)
                .set("SAGEMAKER_PROGRAM", "inference.py")
                .assertDoesNotStart(
                        "SAGEMAKER_PROGRAM: found inference.py, expected a .java file of code/: Python does not run here; "
                                + "docs/hooks.md turns an inference.py into an Inference.java");
    }
}
