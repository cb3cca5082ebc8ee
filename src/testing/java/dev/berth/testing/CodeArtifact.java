package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.code.HookCode;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/// A model artifact with code of its own, which the test writes.
public record CodeArtifact(Path directory) {

    public static final String SERVICE = "META-INF/services/dev.berth.hooks.InferenceHandler";

    /// What every source here may use.
    private static final String IMPORTS = Stream.of(
                    "com.fasterxml.jackson.databind.*",
                    "dev.berth.hooks.*",
                    "dev.berth.handler.qa.*",
                    "dev.berth.handler.task.*",
                    "dev.berth.testing.*",
                    "java.io.*",
                    "java.nio.file.*",
                    "java.util.*",
                    "java.util.concurrent.*",
                    "java.util.concurrent.locks.*")
            .map("import %s;"::formatted)
            .collect(Collectors.joining(" "));

    /// An artifact with one source: a class that answers in upper case, but for the hooks that are
    /// given.
    ///
    /// @param hooks methods of `Inference`, in place of those of the same name in [TextHandler], and
    ///   whatever they need
    public static CodeArtifact hooks(Path directory, String hooks) throws IOException {
        return new CodeArtifact(directory)
                .source("Inference.java", "public class Inference extends TextHandler {\n" + hooks + "}\n");
    }

    /// What has a hook note its name and then compute until the test ends that.
    public static String spinning(String hook) {
        return """
          @Override protected void enter(String hook, List<String> lines) {
            if (hook.equals("%s")) { HookProbe.note(hook); HookProbe.spin(); }
          }
          """.formatted(hook);
    }

    /// The same for a server without the tests' classes, such as one in an image. The hooks stand from the
    /// second line on, and answer what they are sent but for those that are given.
    public static CodeArtifact plain(Path directory, String hooks) throws IOException {
        var others = Stream.of(
                        "Object modelFn(ModelContext context) { return this; }",
                        "List<String> inputFn(InvocationRequest request) throws Exception { return request.text().lines().toList(); }",
                        "List<String> predictFn(List<String> records, Object model) { return records; }",
                        "InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {"
                                + " return InvocationResponse.of(String.join(\"\\n\", predictions), request.accept()); }")
                .filter(hook ->
                        !hooks.contains(hook.substring(0, hook.indexOf('(')).split(" ")[1] + "("))
                .map("public %s\n"::formatted)
                .collect(Collectors.joining());
        return new CodeArtifact(directory).file("code/Inference.java", """
        import dev.berth.hooks.*; import java.io.*; import java.util.*; import java.util.concurrent.*; \
        public class Inference implements InferenceHandler<Object, String, String>%s {
        %s%s}
        """.formatted(
                        hooks.contains("void close()") ? ", AutoCloseable" : "", hooks, others));
    }

    /// An artifact that answers in upper case, with its handler in a jar. It loads without the
    /// compiler, which takes most of the time of a load: for tests that load many times.
    public static CodeArtifact compiled(Path directory) throws IOException {
        var handler = "public class Inference extends dev.berth.testing.TextHandler {}";
        return new CodeArtifact(Files.createDirectories(directory))
                .jar("hooks.jar", Jar.of("Inference", handler).service("Inference"));
    }

    /// Writes a file of `code/`. The imports that sources need stand before its first line, and
    /// change no line number.
    public CodeArtifact source(String file, String text) throws IOException {
        return file(
                "code/" + file, text.startsWith("package ") ? text.replaceFirst("\n", IMPORTS + "\n") : IMPORTS + text);
    }

    public CodeArtifact file(String file, String text) throws IOException {
        var path = directory.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
        return this;
    }

    /// Adds a jar below `code/`.
    public CodeArtifact jar(String file, Jar jar) throws IOException {
        var path = directory.resolve("code").resolve(file);
        Files.createDirectories(path.getParent());
        jar.write(path, Files.createTempDirectory(directory, "jar"));
        return this;
    }

    /// Adds the files of the sample artifact, so that its handler finds them here.
    public CodeArtifact withSample() throws IOException {
        for (var file : List.of("model.json", "model.pt", "tokenizer.json")) {
            Files.copy(TestServer.SAMPLE_ARTIFACT.resolve(file), directory.resolve(file));
        }
        return this;
    }

    public TestServer.Builder server() {
        return TestServer.artifact(directory);
    }

    /// What the server finds in `code/`.
    ///
    /// @param program the value of `SAGEMAKER_PROGRAM`, or null
    /// @param className the class that `model.json` names, or null
    public HookCode code(String program, String className) {
        return HookCode.find(directory, Optional.ofNullable(program), Optional.ofNullable(className))
                .orElseThrow();
    }

    public HookCode code() {
        return code(null, null);
    }

    /// What the handler answers to a body, without a server.
    public static String answer(HookCode code, String body) throws Exception {
        var handler = code.create(() -> {});
        try {
            return answer(handler, body);
        } finally {
            HookCode.close(handler);
        }
    }

    private static <M, I, O> String answer(InferenceHandler<M, I, O> handler, String body) throws Exception {
        var accelerator = new Accelerator.Cpu(1, CpuProfile.ADAPTIVE);
        var model = handler.modelFn(new ModelContext(Path.of("."), accelerator, 0, List.of(accelerator)));
        var bytes = new ByteArrayInputStream(body.getBytes(StandardCharsets.UTF_8));
        var request = new InvocationRequest(bytes, MediaType.TEXT, MediaType.TEXT, Optional.empty(), "test", false);
        var response = handler.outputFn(handler.predictFn(handler.inputFn(request), model), request);
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    /// The lines of the message with which an artifact is refused, without the artifact's own name.
    public List<String> problems(ThrowingCallable action) {
        var message = catchThrowableOfType(ModelArtifactException.class, action).getMessage();
        return message.replace("model artifact %s: ".formatted(directory), "")
                .lines()
                .toList();
    }

    public List<String> problems() {
        return problems(() -> code().create(() -> {}));
    }

    /// The only line.
    public String problem(ThrowingCallable action) {
        return assertThat(problems(action)).singleElement().actual();
    }

    public String problem() {
        return problem(() -> code().create(() -> {}));
    }

    /// What goes into a jar: sources by their class, compiled, and files.
    public record Jar(Map<String, String> sources, Map<String, String> files, List<Path> classPath) {

        public static Jar empty() {
            return new Jar(Map.of(), Map.of(), List.of());
        }

        public static Jar of(String className, String source) {
            return empty().and(className, source);
        }

        public Jar and(String className, String source) {
            return new Jar(with(sources, className, source), files, classPath);
        }

        public Jar file(String name, String text) {
            return new Jar(sources, with(files, name, text), classPath);
        }

        /// Offers classes as handlers.
        public Jar service(String... classNames) {
            return file(SERVICE, "# handlers\n" + String.join("\n", classNames) + " # one on a line\n");
        }

        /// Another jar that the sources need.
        public Jar using(Path jar) {
            return new Jar(
                    sources,
                    files,
                    Stream.concat(classPath.stream(), Stream.of(jar)).toList());
        }

        void write(Path jar, Path temporary) throws IOException {
            var classes = Files.createDirectory(temporary.resolve("classes"));
            compile(classes);
            var manifest = new Manifest();
            manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
            manifest.getMainAttributes().put(Attributes.Name.MULTI_RELEASE, "true");
            try (var out = new JarOutputStream(Files.newOutputStream(jar), manifest);
                    var written = Files.walk(classes)) {
                for (var file : written.filter(Files::isRegularFile).toList()) {
                    add(out, classes.relativize(file).toString(), Files.readAllBytes(file));
                }
                for (var file : files.entrySet()) {
                    add(out, file.getKey(), file.getValue().getBytes());
                }
            }
        }

        private void compile(Path classes) throws IOException {
            if (sources.isEmpty()) {
                return;
            }
            var compiler = ToolProvider.getSystemJavaCompiler();
            var sourceDirectory = Files.createDirectory(classes.resolveSibling("sources"));
            var files = sources.entrySet().stream()
                    .map(source -> written(sourceDirectory, source))
                    .toList();
            var classPath = Stream.concat(
                            this.classPath.stream().map(Path::toString),
                            Stream.of(System.getProperty("java.class.path")))
                    .collect(Collectors.joining(File.pathSeparator));
            var messages = new StringWriter();
            try (var manager = compiler.getStandardFileManager(null, null, null)) {
                var options = Arrays.asList("-d", classes.toString(), "-classpath", classPath, "-proc:none");
                var task = compiler.getTask(
                        messages, manager, null, options, null, manager.getJavaFileObjectsFromPaths(files));
                assertThat(task.call()).as(messages.toString()).isTrue();
            }
        }

        private static Path written(Path directory, Map.Entry<String, String> source) {
            var file =
                    directory.resolve(source.getKey().substring(source.getKey().lastIndexOf('.') + 1) + ".java");
            try {
                return Files.writeString(file, source.getValue());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static void add(JarOutputStream out, String name, byte[] bytes) throws IOException {
            out.putNextEntry(new JarEntry(name));
            out.write(bytes);
            out.closeEntry();
        }

        private static Map<String, String> with(Map<String, String> map, String name, String value) {
            var all = new HashMap<>(map);
            all.put(name, value);
            return Map.copyOf(all);
        }
    }
}
