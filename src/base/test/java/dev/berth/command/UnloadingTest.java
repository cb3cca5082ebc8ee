package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.CapturedLog;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeArtifact.Jar;
import dev.berth.testing.HookProbe;
import dev.berth.testing.OpenFiles;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A model that is gone leaves nothing behind: neither the classes of its hooks nor its open jars.
class UnloadingTest {

    /// Does what has kept class loaders from going elsewhere.
    private static final String HOOKS = """
      private static final ObjectMapper JSON = new ObjectMapper();
      private static final ThreadLocal<Object> LOCAL = new ThreadLocal<>();
      private static final org.slf4j.Logger log = org.slf4j.LoggerFactory.getLogger(Inference.class);
      record Point(int x, List<Point> others) {}
      enum Way { PLAIN, FAIL }
      static class Own extends RuntimeException {}

      { HookProbe.saw(Inference.class); HookProbe.saw(com.acme.Words.class); }

      @Override public Object modelFn(ModelContext context) throws Exception {
        LOCAL.set(new Point(0, List.of()));
        return JSON.readValue("{\\"x\\": 1, \\"others\\": [{\\"x\\": 2, \\"others\\": []}]}", Point.class);
      }
      @Override public List<String> inputFn(InvocationRequest request) throws IOException {
        LOCAL.set(new Point(1, List.of()));
        request.attributes().put("own", new Point(2, List.of()));
        dev.berth.content.Json.write(new Point(2, List.of()));
        org.slf4j.MDC.put("own", "value");
        return super.inputFn(request);
      }
      @Override public List<String> predictFn(List<String> records, Object model) throws Exception {
        LOCAL.set(model);
        log.info("{}", model);
        var proxy = (Callable<?>) java.lang.reflect.Proxy.newProxyInstance(
            Inference.class.getClassLoader(), new Class<?>[] {Callable.class}, (_, _, _) -> com.acme.Words.mark());
        if (Way.valueOf(records.getFirst().toUpperCase()) == Way.FAIL) { throw new Own(); }
        try (var resource = Inference.class.getClassLoader().getResource("com/acme/mark.txt").openStream()) {
          return List.of(JSON.convertValue(JSON.readTree(JSON.writeValueAsBytes(model)), Point.class).toString()
              + proxy.call() + new String(resource.readAllBytes())
              + CompletableFuture.supplyAsync(() -> ServiceLoader.load(Callable.class).findFirst().isPresent()).get());
        }
      }
      @Override public InvocationResponse outputFn(List<String> predictions, InvocationRequest request)
          throws IOException {
        var points = JSON.writerFor(new com.fasterxml.jackson.core.type.TypeReference<List<Point>>() {});
        return InvocationResponse.of(
            points.writeValueAsString(List.of(new Point(3, List.of()))) + predictions, MediaType.TEXT);
      }
      """;

    private static final Jar WORDS = Jar.of(
                    "com.acme.Words",
                    "package com.acme; public class Words { public static String mark() { return \"!\"; } }")
            .file("com/acme/mark.txt", "?");

    @TempDir
    Path directory;

    @BeforeEach
    void reset() {
        HookProbe.reset();
    }

    @Test
    void theClassesOfAModelThatIsUnloadedAreCollectedAndItsJarsAreClosed() throws Exception {
        var artifact = CodeArtifact.hooks(directory, HOOKS).jar("lib/words.jar", WORDS);
        serve(artifact);
        assertThat(HookProbe.LOADERS).hasSize(2);
        assertThat(OpenFiles.below(directory)).isEmpty();
        awaitCollection();
    }

    @Test
    void twoModelsOfOneArtifactHaveTheirOwnClassesAndJars() throws Exception {
        var artifact = CodeArtifact.hooks(directory, HOOKS).jar("lib/words.jar", WORDS);
        try (var stays = artifact.server().start()) {
            serve(artifact);
            assertThat(stays.invoke("plain").body())
                    .as("the jars of the other are closed")
                    .contains("Point[x=1", "!?");
            assertThat(OpenFiles.below(directory)).hasSize(1);
        }
    }

    private void serve(CodeArtifact artifact) throws Exception {
        try (var server = artifact.server().start()) {
            for (int i = 0; i < 5; i++) {
                assertThat(server.invoke("plain").body()).contains("\"x\":3", "Point[x=1", "!?");
                assertThat(server.invoke("fail").body())
                        .contains("predictFn (code/Inference.java) failed at Inference.java:");
            }
            assertThat(OpenFiles.below(directory)).isNotEmpty().containsOnly(directory.resolve("code/lib/words.jar"));
        }
    }

    @ParameterizedTest
    @Tag("slow")
    @ValueSource(
            strings = {
                "Inference() { throw new IllegalStateException(); }",
                "static class Own extends Error {} @Override public Object modelFn(ModelContext context) { throw new Own(); }",
                "@Override public void warmUpFn(Object model) { System.exit(1); }",
                "@Override public List<MediaType> requestTypes() { throw new IllegalStateException(); }",
                "@Override public int maxBatchSize(Accelerator accelerator) { return 0; }",
                "Missing missing;"
            })
    void aModelThatIsNotLoadedLeavesNothingEither(String hook) throws Exception {
        var artifact = CodeArtifact.hooks(directory, "static { HookProbe.saw(Inference.class); }\n" + hook)
                .jar("lib/words.jar", WORDS);
        artifact.server().assertDoesNotStart("");
        assertThat(OpenFiles.below(directory)).isEmpty();
        awaitCollection();
    }

    /// What a hook uses must not be closed below it, even where its request has been answered long
    /// ago.
    @Test
    @Tag("slow")
    void whatAHookThatDoesNotEndUsesStaysOpenUntilItDoes() throws Exception {
        var artifact = CodeArtifact.hooks(directory, """
        @Override public List<String> inputFn(InvocationRequest request) throws IOException {
          HookProbe.note("begun");
          HookProbe.spin();
          HookProbe.note("open " + com.acme.Words.mark());
          return super.inputFn(request);
        }
        """).jar("lib/words.jar", WORDS);
        try (var log = new CapturedLog()) {
            try (var server = artifact.server().start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=1")) {
                TestServer.hang(1, HookProbe.NOTES::size, () -> server.invokeAsync("a"))
                        .forEach(late -> assertThat(late.join().statusCode()).isEqualTo(504));
                server.server().close();
                assertThat(log.text()).contains("model: a hook does not end; what it uses is freed when it does");
                assertThat(OpenFiles.below(directory)).hasSize(1);
            }
        }
        HookProbe.awaitNotes("begun", "open !");
        await().untilAsserted(() -> assertThat(OpenFiles.below(directory)).isEmpty());
    }

    private static void awaitCollection() {
        await().untilAsserted(() -> {
            System.gc();
            assertThat(HookProbe.LOADERS)
                    .allSatisfy(loader -> assertThat(loader.refersTo(null)).isTrue());
        });
    }
}
