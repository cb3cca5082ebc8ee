package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.artifact.TensorArtifact;
import dev.berth.authoring.Template;
import dev.berth.engine.Engine;
import dev.berth.hooks.ElementType;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeBlock;
import dev.berth.testing.TestServer;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Does what `docs/hooks.md` and `docs/hooks-reference.md` say: compiles their code, serves their
/// programs and compares the answers with those that they show.
class HooksDocTest {

    private static final Path DOC = Path.of("docs/hooks.md");
    private static final Path REFERENCE = Path.of("docs/hooks-reference.md");
    private static final Pattern CODE = Pattern.compile("`([^`]+)`");
    private static final Pattern CURL = Pattern.compile("curl .* -H 'Content-Type: ([^']+)' -d (?:'([^']+)'|(\\S+))");

    @TempDir
    private static Path directory;

    private static String doc;
    private static String reference;

    @BeforeAll
    static void read() throws IOException {
        doc = Files.readString(DOC);
        reference = Files.readString(REFERENCE);
    }

    @Test
    @Tag("HOOK-01")
    void itsSmallestArtifactAnswers() throws Exception {
        var artifact = Files.createDirectories(directory.resolve("smallest"));
        writeHooks(artifact, CodeBlock.texts("java", "README.md").getFirst());
        var request = CURL.matcher(doc);
        assertThat(request.find()).isTrue();
        try (var server = TestServer.artifact(artifact).start()) {
            var response = server.invoke(request.group(3), "Content-Type", request.group(1));
            assertThat(response.body()).isEqualTo(request.group(3).toUpperCase(Locale.ROOT));
        }
    }

    @Test
    @Tag("HOOK-01")
    void itsInferencePyInJavaGivesTheAnswersThatItShows() throws Exception {
        var artifact = template("translated");
        writeHooks(artifact, translated());
        for (var sample : List.of("sample.json", "sample-response.json")) {
            Files.delete(artifact.resolve(sample));
        }
        var blocks = CodeBlock.of(DOC.toString());
        int program = blocks.indexOf(new CodeBlock("java", translated()));
        var commands = blocks.get(program + 1).text().lines().toList();
        var answers = blocks.get(program + 2).text().lines().toList();
        assertThat(commands).hasSize(2).hasSameSizeAs(answers);
        try (var server = TestServer.artifact(artifact).start()) {
            for (int i = 0; i < commands.size(); i++) {
                var request = CURL.matcher(commands.get(i));
                assertThat(request.find()).as(commands.get(i)).isTrue();
                assertThat(server.invoke(request.group(2), "Content-Type", request.group(1))
                                .body())
                        .isEqualTo(answers.get(i));
            }
        }
    }

    @Test
    void itsFormsOfTensorsAreAnsweredAsItSays() throws Exception {
        var artifact = template("tensors");
        for (var file : List.of("code/Inference.java", "sample.json", "sample-response.json")) {
            Files.delete(artifact.resolve(file));
        }
        var rows = table("| content type |").stream()
                .filter(row -> row.get(1).startsWith("`"))
                .toList();
        assertThat(rows).hasSizeGreaterThan(5);
        try (var server = TestServer.artifact(artifact).start()) {
            for (var row : rows) {
                var body = code(row.get(1)).getFirst().replace("\\n", "\n");
                var response =
                        server.invoke(body, "Content-Type", code(row.get(0)).getFirst());
                assertThat(response.body()).as(body).isEqualTo(code(row.get(2)).getFirst());
            }
        }
    }

    @Test
    void itsModelJsonIsOne() throws IOException {
        var artifact = Files.createDirectories(directory.resolve("described"));
        Files.createFile(artifact.resolve("model.pt"));
        var json = CodeBlock.beginning("{\"format\"", CodeBlock.of(REFERENCE.toString()));
        Files.writeString(artifact.resolve("model.json"), json);
        var opened = TensorArtifact.open(artifact, Engine.FORMS);
        assertThat(opened.inputs())
                .containsExactly(
                        new TensorArtifact.Input("left", ElementType.FLOAT32, List.of()),
                        new TensorArtifact.Input("right", ElementType.FLOAT32, List.of()));
        assertThat(opened.outputs()).containsExactly("sum", "product");
    }

    @Test
    void itsSnippetsOfContentTypesCompile() throws IOException {
        var rows = table("| what | in `inputFn` |");
        assertThat(rows).hasSizeGreaterThan(10);
        var methods = new StringBuilder();
        for (int i = 0; i < rows.size(); i++) {
            methods.append(
                    "static void read%d(InvocationRequest request, JsonNode value, Tokenizer tokenizer) throws Exception { %s }\n"
                            .formatted(i, String.join("\n", code(rows.get(i).get(1)))));
            for (var written : code(rows.get(i).get(2))) {
                methods.append("""
            static InvocationResponse write%d(
                InvocationRequest request, List<Double> predictions, Tensor tensor, byte[] bytes, Tokenizer tokenizer, long[] ids)
                throws Exception {
              return InvocationResponse.of(%s, request.accept());
            }
            """.formatted(i, written));
            }
        }
        compile("Snippets", """
        import com.fasterxml.jackson.databind.JsonNode;
        import dev.berth.content.*;
        import dev.berth.handler.task.*;
        import dev.berth.audio.*;
        import dev.berth.image.*;
        import dev.berth.hooks.*;
        import dev.berth.tokenizer.*;
        import java.util.*;
        final class Snippets { %s }
        """.formatted(methods), directory.resolve("snippets"));
    }

    /// The hook that step 2 puts into an example gives the answer that it says.
    @Test
    void itsChangeToAnExampleIsAnsweredAsItSays() throws Exception {
        var example = Path.of("examples/mnist");
        var artifact = Files.createDirectories(directory.resolve("my-digits"));
        for (var name : List.of("model.pt", "sample.png")) {
            Files.copy(example.resolve(name), artifact.resolve(name));
        }
        Files.writeString(artifact.resolve("sample-response.json"), "{\"digit\": 7}");
        var hook = Pattern.compile("    @Override\n    public InvocationResponse outputFn.*?\n    }\n", Pattern.DOTALL)
                .matcher(Files.readString(example.resolve("code/Inference.java")));
        assertThat(hook.find()).isTrue();
        writeHooks(artifact, hook.replaceFirst(Matcher.quoteReplacement(fragment("@Override\n"))));
        try (var server = TestServer.artifact(artifact).start()) {
            var picture = BodyPublishers.ofFile(example.resolve("digits/7-00.png"));
            var response = server.invoke(picture, "Content-Type", "application/x-image");
            assertThat(response.body()).isEqualTo("{\"digit\":7}");
            assertThat(doc).contains("now gets `" + response.body() + "`");
        }
    }

    @Test
    @Tag("HOOK-01")
    void itsTestPasses() throws Exception {
        var classes = compile("Inference", translated(), directory.resolve("tested"));
        compile("Fragment", """
        import static org.junit.jupiter.api.Assertions.assertEquals;
        import dev.berth.hooks.*;
        public final class Fragment {
          public static void run(java.nio.file.Path artifact) throws Exception { %s }
        }
        """.formatted(fragment("try ")), classes);
        try (var loader = new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
            loader.loadClass("Fragment").getMethod("run", Path.class).invoke(null, template("for-its-test"));
        }
    }

    /// Whole programs begin with their imports.
    private static List<String> java(boolean arePrograms) throws IOException {
        return CodeBlock.texts("java", DOC.toString()).stream()
                .filter(text -> text.startsWith("import ") == arePrograms)
                .toList();
    }

    private static String translated() throws IOException {
        var programs = java(true);
        assertThat(programs).as("an inference.py in Java").hasSize(1);
        return programs.getFirst();
    }

    private static String fragment(String beginning) throws IOException {
        var fragments = java(false);
        assertThat(fragments).as("each has a test of its own").hasSize(2);
        return fragments.stream()
                .filter(text -> text.startsWith(beginning))
                .findFirst()
                .orElseThrow();
    }

    /// The cells of the rows of the reference's table that begins with this header.
    private static List<List<String>> table(String header) {
        var rows = new ArrayList<List<String>>();
        reference
                .lines()
                .dropWhile(line -> !line.startsWith(header))
                .takeWhile(line -> line.startsWith("|"))
                .skip(2)
                .forEach(line -> rows.add(
                        Stream.of(line.split("\\|")).skip(1).map(String::strip).toList()));
        return rows;
    }

    private static List<String> code(String cell) {
        return CODE.matcher(cell).results().map(span -> span.group(1)).toList();
    }

    /// The artifact that `serve init` writes.
    private static Path template(String name) throws IOException {
        var artifact = directory.resolve(name);
        Template.TENSOR.write(artifact, TestServer.SAMPLE_ARTIFACT);
        return artifact;
    }

    private static void writeHooks(Path artifact, String program) throws IOException {
        new CodeArtifact(artifact).file("code/Inference.java", program);
    }

    /// @return where the classes are, which is on the class path too
    private static Path compile(String name, String program, Path classes) throws IOException {
        Files.createDirectories(classes);
        var source = Files.writeString(classes.resolve(name + ".java"), program);
        var classPath = System.getProperty("java.class.path") + File.pathSeparator + classes;
        var errors = new ByteArrayOutputStream();
        int result = ToolProvider.getSystemJavaCompiler()
                .run(null, null, errors, "-proc:none", "-cp", classPath, "-d", classes.toString(), source.toString());
        assertThat(result).as(errors.toString()).isZero();
        return classes;
    }
}
