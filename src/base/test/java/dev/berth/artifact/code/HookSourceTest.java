package dev.berth.artifact.code;

import static dev.berth.testing.CodeArtifact.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.Pipes;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Hooks in `code/*.java`: which file is taken, and what the compiler says.
class HookSourceTest {

    private static final String HANDLER = "public class %s extends TextHandler {}\n";

    @TempDir
    Path temporary;

    private CodeArtifact artifact;

    /// In a directory whose name would be another one if it were taken for a URL, a class path or a
    /// pattern.
    @BeforeEach
    void makeDirectory() throws Exception {
        artifact = new CodeArtifact(Files.createDirectory(temporary.resolve("my model:1 #2 100%+")));
    }

    @Test
    void anArtifactWithoutCodeHasNoHooks() throws Exception {
        assertThat(HookCode.find(artifact.directory(), Optional.empty(), Optional.empty()))
                .isEmpty();
        artifact.file("code/requirements.txt", "numpy")
                .file("code/lib/notes.java", "no class")
                .file("code/lib/x.txt", "");
        assertThat(HookCode.find(artifact.directory(), Optional.empty(), Optional.empty()))
                .isEmpty();
        assertThat(artifact.problems(() -> artifact.code(null, "Inference")))
                .containsExactly(
                        "model.json: handler: found \"Inference\", expected none, as code/ has neither a .java file nor a jar");
    }

    @Test
    @Timeout(600)
    void codeThatIsNoRegularFileIsNamed() throws Exception {
        artifact.source("Inference.java", HANDLER.formatted("Inference")).file("code/lib/notes.txt", "");
        Pipes.make(artifact.directory().resolve("code/More.java"));
        Pipes.make(artifact.directory().resolve("code/lib/more.jar"));
        Pipes.make(artifact.directory().resolve("code/.Hidden.java"));
        assertThatThrownBy(() -> HookCode.find(artifact.directory(), Optional.empty(), Optional.empty()))
                .hasMessageContaining("code/More.java: found a pipe, socket or device, expected a regular file")
                .hasMessageContaining("code/lib/more.jar: found a pipe")
                .hasMessageNotContaining("Hidden");
    }

    @Test
    void inferenceIsTheDefaultProgram() throws Exception {
        artifact.source("Inference.java", HANDLER.formatted("Inference"))
                .source("Other.java", HANDLER.formatted("Other"));
        assertThat(answer(artifact.code(), "a\nb")).isEqualTo("A\nB");
        for (var named : List.of(
                new String[] {null, null, "Inference"},
                new String[] {"Other.java", null, "Other"},
                // From the artifact on.
                new String[] {"code/Other.java", null, "Other"},
                // The class is model.json's.
                new String[] {"Inference.java", "Other", "Other"})) {
            assertThat(artifact.code(named[0], named[1])
                            .create(() -> {})
                            .getClass()
                            .getName())
                    .isEqualTo(named[2]);
        }
    }

    @Test
    void severalFilesOfSeveralPackagesHelpEachOther() throws Exception {
        artifact.source("com/acme/Shout.java", """
            package com.acme;
            public class Shout extends TextHandler {
              record Line(String text) {}
              private final class Loud { String of(Line line) { return words.apply(line.text()); } }
              private final java.util.function.UnaryOperator<String> words =
                  text -> text + com.acme.help.Words.mark(text);
              @Override public List<String> predictFn(List<String> records, Object model) {
                var loud = new Loud();
                Comparator<Line> byText = new Comparator<>() {
                  @Override public int compare(Line a, Line b) { return a.text().compareTo(b.text()); }
                };
                return records.stream().map(Line::new).sorted(byText).map(loud::of).toList();
              }
            }
            """).source("com/acme/help/Words.java", """
            package com.acme.help;
            public class Words {
              enum Mark {
                ONE { String text() { return "!"; } }, TWO { String text() { return "!!"; } };
                abstract String text();
              }
              public static String mark(String text) {
                return switch (text.length()) { case 1 -> Mark.ONE.text(); default -> Mark.TWO.text(); };
              }
            }
            """);
        assertThat(answer(artifact.code("com/acme/Shout.java", null), "bb\na")).isEqualTo("a!\nbb!!");
        assertThat(answer(artifact.code("./com/../com/acme/Shout.java", null), "a"))
                .isEqualTo("a!");
    }

    @Test
    void errorsAreShownWithTheirPlaceAndTheLine() throws Exception {
        artifact.file("code/Inference.java", """
            public class Inference implements dev.berth.hooks.InferenceHandler<Void, String, String> {
            \tint a = "text";
              Missing b;
            }
            """)
                .file("code/com/Other.java", "package com;\r\nclass Other {\r\n  void run( }\r\n");
        assertThat(artifact.problems())
                .as("what can't be parsed comes first, and alone")
                .containsExactly(
                        "code/com/Other.java:3: error: illegal start of type", "  void run( }", "            ^");
        Files.writeString(
                artifact.directory().resolve("code/com/Other.java"), "package com; class Other { int c = d; }");
        assertThat(artifact.problems())
                .containsSequence(
                        "code/Inference.java:3: error: cannot find symbol",
                        "  Missing b;",
                        "  ^",
                        "  symbol:   class Missing",
                        "  location: class Inference")
                .contains("code/com/Other.java:1: error: cannot find symbol")
                .anyMatch(
                        line -> line.startsWith(
                                "code/Inference.java:1: error: Inference is not abstract and does not override abstract method "));
    }

    @Test
    void aLibraryThatOnlyTheServerHasMustComeWithTheArtifact() throws Exception {
        CodeArtifact.hooks(
                artifact.directory(), "Object a = org.apache.commons.text.StringEscapeUtils.escapeJson(null);\n");
        assertThat(artifact.problems())
                .startsWith("code/Inference.java:2: error: package org.apache.commons.text does not exist")
                .endsWith("  put the jar that has this package into code/lib");
    }

    @Test
    void ofVeryManyErrorsTheFirstAreShown() throws Exception {
        CodeArtifact.hooks(artifact.directory(), "int a;\n".repeat(26));
        assertThat(artifact.problems()).hasSize(20 * 3 + 1).last().isEqualTo("code/: and 5 more errors");
    }

    @Test
    void aByteOrderMarkIsNoCode() throws Exception {
        CodeArtifact.hooks(artifact.directory(), "");
        var file = artifact.directory().resolve("code/Inference.java");
        Files.writeString(file, "\uFEFF" + Files.readString(file));
        assertThat(CodeArtifact.answer(artifact.code(), "a")).isEqualTo("A");
    }

    @Test
    void bytesThatAreNoUtf8AreAnError() throws Exception {
        CodeArtifact.hooks(artifact.directory(), "");
        var file = artifact.directory().resolve("code/Inference.java");
        Files.writeString(file, "// caf\u00e9\n" + Files.readString(file), StandardCharsets.ISO_8859_1);
        assertThat(artifact.problems().getFirst())
                .isEqualTo("code/Inference.java:1: error: unmappable character (0xE9) for encoding UTF-8");
    }

    @Test
    @Tag("slow")
    void aProgramThatIsNotThereIsNamedWithThoseThatAre() throws Exception {
        artifact.source("Model.java", HANDLER.formatted("Model"));
        assertThat(artifact.problems())
                .containsExactly(
                        "code/Inference.java: found no such file, only code/Model.java; SAGEMAKER_PROGRAM names the one with the hooks");
        for (var program :
                new String[] {"inference.py", "../Model.java", "/Model.java", "Model", "", "lib/Model.java"}) {
            assertThat(artifact.problem(() -> artifact.code(program, null).create(() -> {})))
                    .contains("found no such file, only code/Model.java");
        }
    }

    @Test
    void aFileMustHaveAClassOfItsName() throws Exception {
        artifact.source("Inference.java", "class Other extends TextHandler { class Inference {} }");
        assertThat(artifact.problems())
                .containsExactly(
                        "code/Inference.java: found the classes [Other, Other$Inference], expected a class Inference");
    }

    @Test
    void hiddenFilesAreNotCompiledAndCodeMayBeALink() throws Exception {
        artifact.source("Inference.java", HANDLER.formatted("Inference"))
                .file("code/._Inference.java", "\0Mac OS X")
                .file("code/.ipynb_checkpoints/Inference-checkpoint.java", "class");
        assertThat(answer(artifact.code(), "a")).isEqualTo("A");
        var linked = new CodeArtifact(Files.createDirectory(temporary.resolve("linked")));
        Files.createSymbolicLink(
                linked.directory().resolve("code"), artifact.directory().resolve("code"));
        assertThat(answer(linked.code(), "a")).isEqualTo("A");
    }
}
