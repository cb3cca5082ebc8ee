package dev.berth.artifact.code;

import static dev.berth.testing.CodeArtifact.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.berth.testing.CodeArtifact;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/// What a class must be to be a handler.
class HandlerClassTest {

    @TempDir
    Path directory;

    private CodeArtifact artifact;

    @BeforeEach
    void makeArtifact() {
        artifact = new CodeArtifact(directory);
    }

    static Stream<Arguments> whatIsNoHandler() {
        return Stream.of(
                arguments(
                        "class Inference {}",
                        "found a class that implements neither InferenceHandler nor TransformHandler and extends no built-in handler, "
                                + "expected one that does"),
                arguments(
                        "abstract class Inference extends TextHandler {}",
                        "found an abstract class, expected a class that can be made"),
                arguments(
                        "interface Inference extends InferenceHandler<Void, String, String> {}",
                        "found an interface, expected a class that can be made"),
                arguments(
                        "class Inference extends TextHandler { Inference(String name) {} Inference(int a, Path b) {} }",
                        "found the constructors [Inference(String), Inference(int, Path)], expected one that takes a Path, the model "
                                + "directory, or nothing"),
                arguments(
                        member("Inference() { throw new IllegalStateException(\"no\"); }"),
                        "its constructor failed at Inference.java:1: java.lang.IllegalStateException: no"),
                arguments(
                        member(
                                "Inference() { throw new IllegalStateException(\"no words\", new RuntimeException(new java.io.IOException(\"disk\"))); }"),
                        "its constructor failed at Inference.java:1: java.lang.IllegalStateException: no words, caused by "
                                + "java.lang.RuntimeException: java.io.IOException: disk"),
                arguments(
                        member("Inference() { System.exit(3); }"),
                        "its constructor failed at Inference.java:1: dev.berth.artifact.code.ExitRefused: it called exit(3), which would have "
                                + "ended the server"),
                arguments(
                        member("static { if (true) throw new IllegalStateException(\"no\"); }"),
                        "it can't be loaded at Inference.java:1: java.lang.IllegalStateException: no"),
                arguments(
                        member("static { System.exit(0); }"),
                        "it can't be loaded at Inference.java:1: dev.berth.artifact.code.ExitRefused: it called exit(0), which would have "
                                + "ended the server"),
                arguments(
                        member("static { deeper(); } static void deeper() { deeper(); }"),
                        "it can't be loaded at Inference.java:1: java.lang.StackOverflowError"));
    }

    private static String member(String text) {
        return "class Inference extends TextHandler { %s }".formatted(text);
    }

    @ParameterizedTest
    @Tag("slow")
    @MethodSource("whatIsNoHandler")
    void whatIsNoHandlerIsRefusedWithItsFile(String source, String problem) throws Exception {
        artifact.source("Inference.java", source);
        assertThat(artifact.problems()).containsExactly("code/Inference.java: class Inference: " + problem);
    }

    @Test
    void aClassNeedNotBePublicAndMayTakeTheModelDirectory() throws Exception {
        artifact.source("Inference.java", """
        final class Inference extends TextHandler {
          private final String name;
          private Inference() { this(Path.of("nothing")); }
          private Inference(Path directory) { name = directory.getFileName().toString(); }
          @Override public List<String> predictFn(List<String> records, Object model) { return List.of(name); }
        }
        """);
        assertThat(answer(artifact.code(), "a"))
                .isEqualTo(directory.getFileName().toString());
        artifact.source("Inference.java", """
        record Inference() implements InferenceHandler<Void, String, String> {
          public Void modelFn(ModelContext context) { return null; }
          public List<String> inputFn(InvocationRequest request) { return List.of(); }
          public List<String> predictFn(List<String> records, Void model) { return records; }
          public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
            return InvocationResponse.of("record", MediaType.TEXT);
          }
        }
        """);
        assertThat(answer(artifact.code(), "a")).isEqualTo("record");
    }

    @Test
    void whatABuiltInHandlerSaysOfTheArtifactStaysAsItIs() throws Exception {
        artifact.source("Inference.java", """
        class Inference extends QuestionAnsweringHandler { Inference(Path directory) { super(directory); } }
        """);
        assertThat(artifact.problems())
                .containsExactly(
                        "model.json: not found; expected an artifact made by trace.py or serve pack, or an ONNX file beside config.json");
    }

    @Test
    void theContextClassLoaderIsAsBeforeWhateverHappens() throws Exception {
        var before = Thread.currentThread().getContextClassLoader();
        artifact.source("Inference.java", member("Inference() { throw new IllegalStateException(); }"));
        assertThatThrownBy(() -> artifact.code().create(() -> {})).hasRootCauseInstanceOf(IllegalStateException.class);
        assertThat(Thread.currentThread().getContextClassLoader()).isSameAs(before);
    }
}
