package dev.berth.artifact.code;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.InferenceHandler;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeArtifact.Jar;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Hooks that would end the process. Where one is not stopped, this test's own process ends.
class ExitRefusedTest {

    /// Each way to exit, by the record that asks for it.
    private static final String HOOKS = """
      interface Ending { void end(int status); }
      record Later(Ending ending) {}
      @Override public List<String> predictFn(List<String> records, Object model) throws Exception {
        var runtime = Runtime.getRuntime();
        // What comes together here needs a frame that the verifier checks.
        Collection<String> all = records.size() > 1 ? new ArrayList<>() : new HashSet<>();
        switch (records.getFirst()) {
          case "exit" -> System.exit(1);
          case "runtime exit" -> runtime.exit(2);
          case "halt" -> {
            try { runtime.halt(3); } catch (Exception e) { all.add("swallowed"); } finally { all.add("finally"); }
          }
          case "lambda" -> records.forEach(record -> System.exit(4));
          case "reference" -> ((Ending) System::exit).end(5);
          case "bound reference" -> ((Ending) runtime::halt).end(6);
          case "unbound reference" -> ((BiConsumer<Runtime, Integer>) Runtime::exit).accept(runtime, 7);
          case "kept reference" -> new Later(System::exit).ending().end(8);
          case "library" -> com.acme.Tool.main(records);
          default -> all.add("no " + System.getProperty("exit", "exit"));
        }
        return List.copyOf(all);
      }
      """.replace("BiConsumer", "java.util.function.BiConsumer");

    /// Its frames need a class that is not there, as optional parts of a library may be.
    private static final String LIBRARY = """
      package com.acme;
      public class Tool {
        public static void main(Object records) {
          Object optional;
          if (records == null) {
            optional = new Gone();
          } else {
            optional = new StringBuilder();
          }
          CharSequence text = records == null ? new Gone() : new StringBuilder();
          System.exit(9 + text.length());
          System.out.println(optional);
        }
      }
      """;

    @TempDir
    Path directory;

    @Test
    void noWayToExitEndsTheServer() throws Exception {
        var artifact = CodeArtifact.hooks(directory, HOOKS).jar("lib/gone.jar", Jar.of("com.acme.Gone", """
        package com.acme;
        public class Gone implements CharSequence {
          public int length() { return 0; }
          public char charAt(int index) { return 0; }
          public CharSequence subSequence(int start, int end) { return this; }
        }
        """));
        var gone = directory.resolve("code/lib/gone.jar");
        artifact.jar("lib/tool.jar", Jar.of("com.acme.Tool", LIBRARY).using(gone));
        Files.delete(gone);

        @SuppressWarnings("unchecked")
        var handler = (InferenceHandler<Object, String, String>) artifact.code().create(() -> {});
        var ways = List.of(
                "exit",
                "runtime exit",
                "halt",
                "lambda",
                "reference",
                "bound reference",
                "unbound reference",
                "kept reference",
                "library");
        for (int i = 0; i < ways.size(); i++) {
            var way = ways.get(i);
            assertThatThrownBy(() -> handler.predictFn(List.of(way), null))
                    .as(way)
                    .isInstanceOf(ExitRefused.class)
                    .hasMessage("it called exit(%d), which would have ended the server", i + 1)
                    .satisfies(e -> assertThat(Thrown.place(e))
                            .startsWith(way.equals("library") ? " at Tool.java:11" : " at Inference.java:"));
        }
        assertThat(handler.predictFn(List.of("nothing"), null)).containsExactly("no exit");
        HookCode.close(handler);
    }

    /// The JVM looks at no annotation of a type, and a tool may have left one at a place that is gone.
    @Test
    void aClassWhoseExitsCanNotBeReplacedIsNotLoaded() throws Exception {
        var artifact = CodeArtifact.hooks(directory, HOOKS).jar("lib/tool.jar", Jar.of("com.acme.Tool", """
        package com.acme;
        import java.lang.annotation.*;
        public class Tool {
          @Target(ElementType.TYPE_USE) @interface Some {}
          public static void main(Object records) { @Some String text = "text"; System.exit(text.length()); }
        }
        """));
        try (var jar = FileSystems.newFileSystem(directory.resolve("code/lib/tool.jar"))) {
            var file = jar.getPath("com/acme/Tool.class");
            var bytes = Files.readString(file, StandardCharsets.ISO_8859_1);
            // The annotation is one of a local variable, and then comes from where on.
            var moved = bytes.replace("\100\0\1\0\3", "\100\0\1\177\0");
            assertThat(moved).isNotEqualTo(bytes);
            Files.writeString(file, moved, StandardCharsets.ISO_8859_1);
        }
        @SuppressWarnings("unchecked")
        var handler = (InferenceHandler<Object, String, String>) artifact.code().create(() -> {});
        assertThatThrownBy(() -> handler.predictFn(List.of("library"), null))
                .isInstanceOf(ClassFormatError.class)
                .hasMessageStartingWith("com.acme.Tool: ");
        HookCode.close(handler);
    }

    @Test
    void bytesThatAreNoClassAreAnErrorOfTheClass() throws Exception {
        var artifact = new CodeArtifact(directory)
                .jar(
                        "hooks.jar",
                        Jar.empty().file("com/acme/Broken.class", "no class").service("com.acme.Broken"));
        assertThat(artifact.problem())
                .startsWith("code/hooks.jar: class com.acme.Broken: it can't be loaded: java.lang.ClassFormatError: ");
    }
}
