package dev.berth.artifact.code;

import static dev.berth.testing.CodeArtifact.answer;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeArtifact.Jar;
import java.net.URL;
import java.nio.ByteBuffer;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Hooks in `code/*.jar`, and the libraries of `code/lib`.
@Tag("slow")
class HookJarTest {

    private static final String HANDLER = """
      package com.acme;
      public class %s extends dev.berth.testing.TextHandler {
        @Override public java.util.List<String> predictFn(java.util.List<String> records, Object model) {
          return records.stream().map(record -> record + "%1$s").toList();
        }
      }
      """;

    /// Answers with the result of an expression.
    private static final String EXPRESSION = """
      @Override public List<String> predictFn(List<String> records, Object model) throws Exception {
        return Collections.nCopies(records.size(), String.valueOf(%s));
      }
      """;

    @TempDir
    Path temporary;

    private CodeArtifact artifact;

    @BeforeEach
    void makeDirectory() throws Exception {
        artifact = new CodeArtifact(Files.createDirectory(temporary.resolve("my model#1 100%+")));
    }

    private static Jar words() {
        return Jar.of("com.acme.lib.Words", """
        package com.acme.lib;
        public class Words { public static String of() { return "!"; } }
        """);
    }

    private static Jar one() {
        return Jar.of("com.acme.One", HANDLER.formatted("One"));
    }

    @Test
    void theOnlyServiceOfItsJarsIsTheHandlerUnlessThereIsASource() throws Exception {
        artifact.jar("hooks.jar", one().service("com.acme.Gone"));
        assertThat(artifact.problems()).containsExactly("com.acme.Gone: found no such class in code/");
        artifact.jar("hooks.jar", one().service("com.acme.One"))
                .jar(
                        "lib/two.jar",
                        Jar.of("com.acme.Two", HANDLER.formatted("Two")).service("com.acme.Two"));
        assertThat(answer(artifact.code(), "a")).as("no library's").isEqualTo("aOne");
        assertThat(HookCode.file(artifact.code().create(() -> {}).getClass())).contains("code/hooks.jar");
        artifact.source("Inference.java", "class Inference extends com.acme.One {}");
        assertThat(artifact.code().create(() -> {}).getClass().getName()).isEqualTo("Inference");
    }

    @Test
    void modelJsonChoosesAmongSeveral() throws Exception {
        var both = one().and("com.acme.Two", HANDLER.formatted("Two"));
        artifact.jar("hooks.jar", both.service("com.acme.One", "com.acme.Two"));
        assertThat(artifact.problems())
                .containsExactly(
                        "code/hooks.jar: found [com.acme.One, com.acme.Two] as services of "
                                + "dev.berth.hooks.InferenceHandler, expected one; or name the class in model.json as \"handler\"");
        assertThat(answer(artifact.code(null, "com.acme.Two"), "a")).isEqualTo("aTwo");
        assertThat(artifact.problems(() -> artifact.code(null, "com.acme.Three").create(() -> {})))
                .containsExactly("com.acme.Three: found no such class in code/");
    }

    @Test
    void aJarWithoutAServiceNeedsAName() throws Exception {
        artifact.jar("a.jar", one()).jar("b.jar", Jar.of("com.acme.Two", HANDLER.formatted("Two")));
        assertThat(artifact.problem())
                .startsWith(
                        "code/a.jar, code/b.jar: found nothing as services of dev.berth.hooks.InferenceHandler, expected one");
        assertThat(answer(artifact.code(null, "com.acme.Two"), "a")).isEqualTo("aTwo");
    }

    @Test
    @Tag("RUN-14")
    void aClassForAnotherJavaSaysHowToCompileIt() throws Exception {
        artifact.jar("hooks.jar", one().service("com.acme.One"));
        var jar = artifact.directory().resolve("code/hooks.jar");
        int java = Runtime.version().feature();
        // A later Java's, and one with preview features.
        for (var version : new int[][] {{0, 44 + java + 1}, {0xffff, 44 + java}}) {
            changeVersion(jar, version[0], version[1]);
            assertThat(artifact.problem())
                    .startsWith("code/hooks.jar: class com.acme.One: it can't be loaded: ")
                    .endsWith("; compile it with --release %d and without --enable-preview".formatted(java));
        }
    }

    private static void changeVersion(Path jar, int minor, int major) throws Exception {
        try (var files = FileSystems.newFileSystem(jar)) {
            var file = files.getPath("com/acme/One.class");
            var bytes = ByteBuffer.wrap(Files.readAllBytes(file))
                    .putShort(4, (short) minor)
                    .putShort(6, (short) major);
            Files.write(file, bytes.array());
        }
    }

    @Test
    void librariesAreThereForSourcesAndForJars() throws Exception {
        artifact.jar("lib/words.jar", words());
        var library = artifact.directory().resolve("code/lib/words.jar");
        artifact.jar(
                "hooks.jar",
                Jar.of("com.acme.One", HANDLER.formatted("One").replace("\"One\"", "com.acme.lib.Words.of()"))
                        .using(library)
                        .service("com.acme.One"));
        assertThat(answer(artifact.code(), "a")).isEqualTo("a!");
        CodeArtifact.hooks(artifact.directory(), EXPRESSION.formatted("com.acme.lib.Words.of()"));
        assertThat(answer(artifact.code(), "a")).isEqualTo("!");
    }

    @Test
    void aLibraryThatIsMissingIsSaid() throws Exception {
        artifact.jar("lib/words.jar", words());
        var library = artifact.directory().resolve("code/lib/words.jar");
        artifact.jar("hooks.jar", Jar.of("com.acme.One", """
        package com.acme;
        public class One extends dev.berth.testing.TextHandler {
          static final String WORDS = com.acme.lib.Words.of();
        }
        """).using(library).service("com.acme.One"));
        Files.delete(library);
        assertThat(artifact.problems())
                .containsExactly(
                        "code/hooks.jar: class com.acme.One: it can't be loaded at "
                                + "One.java:3: java.lang.NoClassDefFoundError: com/acme/lib/Words; put the jar that has this class into code/lib");
    }

    @Test
    void whatIsNoJarIsNamed() throws Exception {
        artifact.file("code/lib/broken.jar", "no jar")
                .source("Inference.java", "class Inference extends TextHandler {}");
        assertThat(artifact.problem())
                .startsWith("code/lib/broken.jar: it can't be read: ")
                .doesNotContain("Exception");
    }

    @Test
    void aSourceInAJarIsNotCompiled() throws Exception {
        artifact.jar("lib/words.jar", words().file("com/acme/lib/Words.java", "no Java"));
        CodeArtifact.hooks(artifact.directory(), EXPRESSION.formatted("com.acme.lib.Words.of()"));
        assertThat(answer(artifact.code(), "a")).isEqualTo("!");
    }

    /// AssertJ and commons-text are on the class path of the server under test.
    @Test
    void aLibraryComesFromTheArtifactAlone() throws Exception {
        var own = """
        package org.assertj.core.api;
        public class Assertions {}
        """;
        artifact.jar("lib/assertj.jar", Jar.of("org.assertj.core.api.Assertions", own));
        CodeArtifact.hooks(artifact.directory(), """
        @Override public List<String> predictFn(List<String> records, Object model) {
          return records.stream().map(Inference::loader).toList();
        }
        private static String loader(String name) {
          try {
            return Class.forName(name).getClassLoader().getName();
          } catch (ClassNotFoundException e) {
            return "gone";
          }
        }
        """);
        assertThat(answer(artifact.code(), """
                        org.assertj.core.api.Assertions
                        org.assertj.core.api.AssertionsForClassTypes
                        org.apache.commons.text.StringEscapeUtils
                        com.fasterxml.jackson.databind.ObjectMapper
                        ai.djl.engine.Engine
                        """).lines()).containsExactly("code", "gone", "gone", "app", "app");
    }

    @Test
    void whatHooksShareWithTheServerComesFromTheServer() throws Exception {
        artifact.jar(
                "lib/own.jar",
                Jar.of(
                                "com.fasterxml.jackson.databind.ObjectMapper",
                                "package com.fasterxml.jackson.databind; public class ObjectMapper {}")
                        .and(
                                "com.fasterxml.jackson.datatype.Own",
                                "package com.fasterxml.jackson.datatype; public class Own { public String toString() { return \"own\"; } }")
                        .and(
                                "dev.berth.testing.TextHandler",
                                "package dev.berth.testing; public class TextHandler {}"));
        CodeArtifact.hooks(
                artifact.directory(),
                EXPRESSION.formatted(
                        "new ObjectMapper().writeValueAsString(1) + new com.fasterxml.jackson.datatype.Own()"));
        assertThat(answer(artifact.code(), "a"))
                .as("what the server does not have comes from the artifact")
                .isEqualTo("1own");
    }

    @Test
    void aClassOfTheServersCantBeReplaced() throws Exception {
        artifact.source("Gate.java", "package dev.berth.testing;\n public class Gate extends TextHandler {}");
        assertThat(artifact.problem(() -> artifact.code("Gate.java", null).create(() -> {})))
                .startsWith("code/Gate.java: class dev.berth.testing.Gate: found a class of the server's own");
        assertThat(artifact.problem(() ->
                        artifact.code(null, "dev.berth.testing.TextHandler").create(() -> {})))
                .startsWith("dev.berth.testing.TextHandler: found a class of the server's own");
    }

    @Test
    void resourcesAreTheArtifactsBeforeTheServers() throws Exception {
        artifact.jar(
                        "lib/a.jar",
                        Jar.empty().file("com/acme/ä b#1.txt", "from a").file("native/README", "own"))
                .jar(
                        "lib/b.jar",
                        Jar.empty()
                                .file("com/acme/ä b#1.txt", "from b")
                                .file("logback-test.xml", "own")
                                .file("versions.txt", "old")
                                .file("META-INF/versions/9/versions.txt", "new"));
        CodeArtifact.hooks(artifact.directory(), """
        @Override public List<String> predictFn(List<String> records, Object model) throws Exception {
          var all = new ArrayList<String>();
          for (var name : records) {
            try (var in = Inference.class.getResourceAsStream("/" + name)) {
              all.add(in == null ? "nothing" : new String(in.readAllBytes()));
            }
            for (var url : Collections.list(Inference.class.getClassLoader().getResources(name))) {
              try (var in = url.openStream()) {
                all.add(new String(in.readAllBytes()));
              }
            }
          }
          return all;
        }
        """);
        assertThat(answer(artifact.code(), "com/acme/ä b#1.txt").lines()).containsExactly("from a", "from a", "from b");
        assertThat(answer(artifact.code(), "versions.txt").lines()).containsExactly("new", "new");
        assertThat(answer(artifact.code(), "gone.txt")).isEqualTo("nothing");
        assertThat(answer(artifact.code(), "logback-test.xml").lines().limit(2)).containsExactly("own", "own");
        assertThat(answer(artifact.code(), "dev/berth/testing/Gate.class"))
                .as("a file of the server's")
                .contains("countDown");
        assertThat(answer(artifact.code(), "META-INF/services/ai.djl.engine.EngineProvider"))
                .as("names classes that hooks see")
                .contains("PtEngineProvider");
        for (var hidden : new String[] {
            "META-INF/services/javax.imageio.spi.ImageReaderSpi", "org/apache/commons/text/StringEscapeUtils.class"
        }) {
            assertThat(answer(artifact.code(), hidden)).isEqualTo("nothing");
        }
    }

    @Test
    void librariesThatLookForServicesFindThoseOfTheArtifact() throws Exception {
        artifact.jar(
                "lib/named.jar",
                Jar.of("com.acme.Named", """
        package com.acme;
        public class Named implements java.util.concurrent.Callable<String> { public String call() { return "found"; } }
        """).file("META-INF/services/" + Callable.class.getName(), "com.acme.Named"));
        CodeArtifact.hooks(artifact.directory(), """
        final String inConstructor = find();
        static String find() {
          return ServiceLoader.load(Callable.class).stream().map(p -> p.type().getName()).toList().toString();
        }
        @Override public Object modelFn(ModelContext context) { return find(); }
        @Override public List<String> inputFn(InvocationRequest request) { return List.of(find()); }
        @Override public List<String> predictFn(List<String> records, Object model) {
          return List.of(inConstructor + model + records + find());
        }
        @Override public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
          return InvocationResponse.of(predictions + find(), MediaType.TEXT);
        }
        """);
        try (var server = artifact.server().start()) {
            assertThat(server.invoke("a")
                            .body()
                            .replaceAll("[^a-zA-Z.]+", " ")
                            .strip()
                            .split(" "))
                    .hasSize(5)
                    .containsOnly("com.acme.Named");
        }
    }

    @Test
    void classesKnowTheFileTheyComeFrom() throws Exception {
        artifact.jar("lib/words.jar", words());
        CodeArtifact.hooks(artifact.directory(), """
        static URL of(Class<?> type) { return type.getProtectionDomain().getCodeSource().getLocation(); }
        @Override public List<String> predictFn(List<String> records, Object model) {
          return List.of(of(Inference.class).toString(), of(com.acme.lib.Words.class).toString());
        }
        """.replace("URL", URL.class.getName()));
        var code = artifact.directory().resolve("code");
        assertThat(answer(artifact.code(), "a").lines())
                .containsExactly(
                        code.resolve("Inference.java").toUri().toURL().toString(),
                        code.resolve("lib/words.jar").toUri().toURL().toString());
    }
}
