package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.HookProbe;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Hooks that keep a model from being served: the message says which, where and why, and `/ping`
/// stays at 503.
class OwnHooksStartTest {

    @TempDir
    Path directory;

    @BeforeEach
    void reset() {
        HookProbe.reset();
    }

    @ParameterizedTest
    @Tag("slow")
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
      Object modelFn(ModelContext context) throws Exception { throw new IOException("no weights"); } | modelFn (code/Inference.java) failed at Inference.java:2: java.io.IOException: no weights
      Object modelFn(ModelContext context) { throw new IllegalStateException("no weights", new IOException("disk")); } | modelFn (code/Inference.java) failed at Inference.java:2: java.lang.IllegalStateException: no weights, caused by java.io.IOException: disk
      Object modelFn(ModelContext context) { System.exit(1); return 1; } | modelFn (code/Inference.java) failed at Inference.java:2: dev.berth.artifact.code.ExitRefused: it called exit(1),
      Object modelFn(ModelContext context) { return modelFn(context); } | modelFn (code/Inference.java) failed at Inference.java:2: java.lang.StackOverflowError
      Object modelFn(ModelContext context) { return com.acme.Gone.text(); } | code/Inference.java:2: error: package com.acme does not exist
      Object modelFn(ModelContext context) throws Exception { return Class.forName("com.acme.Gone"); } | modelFn (code/Inference.java) failed at Inference.java:2: java.lang.ClassNotFoundException: com.acme.Gone; put the jar that has this class into code/lib
      Object modelFn(ModelContext context) throws Exception { throw new FileSystemException("/opt/ml/model/x", null, "Read-only file system"); } | modelFn (code/Inference.java) failed at Inference.java:2: java.nio.file.FileSystemException: /opt/ml/model/x: Read-only file system; write to another directory, or mount this one
      void warmUpFn(Object model) { throw new BadInputException("cold"); } | warmUpFn (code/Inference.java) failed at Inference.java:2: dev.berth.hooks.BadInputException: cold
      void warmUpFn(Object model) { Runtime.getRuntime().halt(1); } | warmUpFn (code/Inference.java) failed at Inference.java:2: dev.berth.artifact.code.ExitRefused: it called exit(1),
      List<MediaType> requestTypes() { throw new IllegalStateException("none"); } | requestTypes (code/Inference.java) failed at Inference.java:2: java.lang.IllegalStateException: none
      List<MediaType> requestTypes() { System.exit(1); return null; } | requestTypes (code/Inference.java) failed at Inference.java:2: dev.berth.artifact.code.ExitRefused: it called exit(1),
      List<MediaType> requestTypes() { return null; } | requestTypes (code/Inference.java) returned null, expected a list of media types
      List<MediaType> requestTypes() { return Arrays.asList(MediaType.JSON, null); } | requestTypes (code/Inference.java) returned [application/json, null], expected a list of media types
      List<MediaType> responseTypes() { return null; } | responseTypes (code/Inference.java) returned null, expected a list of media types
      int maxBatchSize(Accelerator accelerator) { throw new IllegalStateException("any"); } | the model could not be loaded at Inference.java:2: java.lang.IllegalStateException: any
      int maxBatchSize(Accelerator accelerator) { throw new IllegalStateException(new IOException("disk")); } | the model could not be loaded at Inference.java:2: java.lang.IllegalStateException: java.io.IOException: disk
      int maxBatchSize(Accelerator accelerator) { return 0; } | the model could not be loaded: java.lang.IllegalArgumentException: maxBatchSize: found 0, expected at least 1
      """)
    @Tag("HOOK-04")
    @Tag("RUN-14")
    void aHookThatFailsAtTheStartIsNamed(String hook, String problem) throws Exception {
        assertThat(problem(CodeArtifact.hooks(directory, "@Override public " + hook)))
                .startsWith(problem);
    }

    @Test
    @Tag("HOOK-02")
    void transformFnBesidesPredictFnIsRefused() throws Exception {
        var artifact = new CodeArtifact(directory).source("Inference.java", """
        abstract class Base implements TransformHandler<Void> {
          public Void modelFn(ModelContext context) { return null; }
          public InvocationResponse transformFn(InvocationRequest request, Void model) { return null; }
          public List<InvocationResponse> predictFn(List<InvocationRequest> requests, Void model) { return null; }
          public int length(InvocationRequest request) { return 2; }
        }
        class Inference extends Base {}
        """);
        assertThat(problem(artifact))
                .isEqualTo("code/Inference.java: class Inference: found transformFn and besides it "
                        + "predictFn, expected either transformFn or those");
    }

    @Test
    @Tag("RUN-14")
    void theCompilersErrorsAreTheMessage() throws Exception {
        var artifact = CodeArtifact.hooks(directory, "@Override public List<String> predictFn() {\n  return 1;\n}\n")
                .source("Other.java", "class Other { com.acme.Gone gone; }");
        var problem = problem(artifact);
        assertThat(ServeCommand.shown(problem)).isEqualTo(problem);
        assertThat(ServeCommand.shown("one\ntwo")).isEqualTo("one; two");
        assertThat(problem.lines())
                .containsSequence(
                        "code/Inference.java:2: error: method does not override or implement a method from a supertype",
                        "@Override public List<String> predictFn() {",
                        "^")
                .contains(
                        "code/Other.java:1: error: package com.acme does not exist",
                        "  put the jar that has this package into code/lib");
    }

    @Test
    @Tag("RUN-14")
    void aPreviewFeatureIsNotToldToEnable() throws Exception {
        var artifact =
                CodeArtifact.hooks(directory, "boolean isWhole(Object number) { return number instanceof int whole; }");
        assertThat(problem(artifact))
                .startsWith("code/Inference.java:2:")
                .contains("preview")
                .endsWith("\n  hooks are compiled without --enable-preview; write this without preview features");
    }

    /// A hook that does not end holds up the start and nothing else.
    @Test
    void whileAHookOfTheStartRunsThereIsNoModelAndTheServerCanBeStopped() throws Exception {
        var artifact = CodeArtifact.hooks(directory, """
        @Override public void warmUpFn(Object model) { HookProbe.note("warm"); HookProbe.spin(); }
        @Override public List<MediaType> requestTypes() { HookProbe.note("types"); return List.of(); }
        """);
        try (var server = artifact.server().startWithoutWaiting()) {
            await().until(() -> HookProbe.NOTES.contains("warm"));
            assertThat(server.get("/ping").statusCode()).isEqualTo(503);
            assertThat(server.invoke("a").statusCode()).isEqualTo(503);
        } finally {
            HookProbe.endSpinning();
        }
    }

    private String problem(CodeArtifact artifact) throws Exception {
        try (var server = artifact.server().startWithoutWaiting()) {
            var problem = catchThrowableOfType(
                            StartException.class, () -> server.server().awaitReady())
                    .getMessage();
            assertThat(server.get("/ping").statusCode()).isEqualTo(503);
            assertThat(server.invoke("a").statusCode()).isEqualTo(503);
            return problem.replace("model artifact %s: ".formatted(directory), "");
        }
    }
}
