package dev.berth.artifact.code;

import dev.berth.artifact.ModelArtifactException;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.ForwardingJavaFileObject;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/// Compiles the sources of one artifact in memory, with the server's classes and the artifact's
/// jars on the class path.
final class SourceCompiler {

    /// More would not be read.
    private static final int MOST_ERRORS = 20;

    /// Classes by their binary name.
    record Classes(Map<String, CompiledClass> byName) {

        /// The classes of one file.
        List<String> of(Path source) {
            return byName.keySet().stream()
                    .filter(name -> byName.get(name).source.equals(source))
                    .sorted()
                    .toList();
        }

        /// The class of a file that has the file's name.
        Optional<String> mainClass(Path source) {
            var simple = simpleName(source);
            return of(source).stream()
                    .filter(name -> name.substring(name.lastIndexOf('.') + 1).equals(simple))
                    .findFirst();
        }
    }

    private SourceCompiler() {}

    /// The name that the class of a source file has, without its package.
    static String simpleName(Path source) {
        return source.getFileName().toString().replaceFirst("\\.java$", "");
    }

    /// @throws ModelArtifactException with the compiler's errors
    static Classes compile(Path modelDirectory, List<Path> sources, List<Path> jars) throws IOException {
        if (sources.isEmpty()) {
            return new Classes(Map.of());
        }
        var compiler = ToolProvider.getSystemJavaCompiler();
        if (compiler == null) {
            throw new ModelArtifactException(
                    modelDirectory,
                    "code/: this Java runtime has no compiler (the module jdk.compiler); run the server with a JDK, or put a jar "
                            + "there");
        }
        var diagnostics = new DiagnosticCollector<JavaFileObject>();
        var standard = compiler.getStandardFileManager(diagnostics, Locale.ENGLISH, StandardCharsets.UTF_8);
        try (var files = new MemoryFiles(standard)) {
            // The path for sources is empty, because a source in a jar would be compiled in place of its
            // class, and not kept.
            standard.setLocationFromPaths(StandardLocation.SOURCE_PATH, List.of());
            standard.setLocationFromPaths(StandardLocation.CLASS_PATH, serverClassPath());
            standard.setLocationFromPaths(MemoryFiles.JARS, jars);
            var options = List.of("-proc:none", "-parameters", "-g", "-implicit:none");
            var units = new ArrayList<JavaFileObject>();
            standard.getJavaFileObjectsFromPaths(sources).forEach(file -> units.add(new Source(file)));
            boolean compiled = compiler.getTask(null, files, diagnostics, options, null, units)
                    .call();
            var errors = errors(diagnostics.getDiagnostics(), modelDirectory);
            // Bytes that are not UTF-8 are an error of which the compiler itself does not know.
            if (!compiled || !errors.isEmpty()) {
                throw new ModelArtifactException(modelDirectory, errors);
            }
            return new Classes(files.outputs);
        }
    }

    /// The server's jars may name further ones in their manifests, as the compiler knows. A Spark
    /// executor loads the server itself from a jar that its class path does not name.
    private static List<Path> serverClassPath() {
        var classPath = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of);
        var own = Path.of(URI.create(SourceCompiler.class
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toString()));
        return Stream.concat(classPath, Stream.of(own)).toList();
    }

    private static List<String> errors(List<Diagnostic<? extends JavaFileObject>> diagnostics, Path modelDirectory) {
        var errors = diagnostics.stream()
                .filter(d -> d.getKind() == Diagnostic.Kind.ERROR)
                // As javac itself shows it: file, line, message, the line and a caret.
                .map(error -> error.toString().replace(modelDirectory + File.separator, "") + cure(error))
                .toList();
        return errors.size() <= MOST_ERRORS
                ? errors
                : Stream.concat(
                                errors.stream().limit(MOST_ERRORS),
                                Stream.of("code/: and %d more errors".formatted(errors.size() - MOST_ERRORS)))
                        .toList();
    }

    /// What to do about a package that no jar has, and about what the compiler wants an option for
    /// that it is not given.
    private static String cure(Diagnostic<? extends JavaFileObject> error) {
        return switch (error.getCode()) {
            case "compiler.err.doesnt.exist" ->
                error.getMessage(Locale.ROOT).contains(" dev.berth.")
                        ? "\n  correct the name; docs/hooks-reference.md#libraries says what hooks see of Berth"
                        : "\n  put the jar that has this package into code/lib";
            case "compiler.err.preview.feature.disabled",
                    "compiler.err.preview.feature.disabled.plural",
                    "compiler.err.preview.feature.disabled.classfile",
                    "compiler.err.is.preview" ->
                "\n  hooks are compiled without --enable-preview; write this without preview features";
            default -> "";
        };
    }

    /// A source without the byte order mark of some editors, which the compiler takes for code.
    private static final class Source extends ForwardingJavaFileObject<JavaFileObject> {

        Source(JavaFileObject file) {
            super(file);
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) throws IOException {
            var text = super.getCharContent(ignoreEncodingErrors);
            return !text.isEmpty() && text.charAt(0) == '\uFEFF' ? text.subSequence(1, text.length()) : text;
        }
    }

    /// A class that stays in memory, and the file that it was compiled from.
    static final class CompiledClass extends SimpleJavaFileObject {

        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        private final Path source;

        private CompiledClass(String className, Kind kind, Path source) {
            super(URI.create("memory:///" + className.replace('.', '/') + kind.extension), kind);
            this.source = source;
        }

        @Override
        public OutputStream openOutputStream() {
            return bytes;
        }

        byte[] bytes() {
            return bytes.toByteArray();
        }

        Path source() {
            return source;
        }
    }

    /// Files as they are on disk, but for the classes that the compiler writes. Of the server's classes
    /// it gives those that the hooks will see.
    private static final class MemoryFiles extends ForwardingJavaFileManager<StandardJavaFileManager> {

        /// The artifact's jars.
        static final JavaFileManager.Location JARS = StandardLocation.locationFor("CODE_JARS");

        private final Map<String, CompiledClass> outputs = new LinkedHashMap<>();

        MemoryFiles(StandardJavaFileManager files) {
            super(files);
        }

        @Override
        public Iterable<JavaFileObject> list(
                JavaFileManager.Location location, String packageName, Set<JavaFileObject.Kind> kinds, boolean recurse)
                throws IOException {
            var files = super.list(location, packageName, kinds, recurse);
            if (location != StandardLocation.CLASS_PATH) {
                return files;
            }
            var own = super.list(JARS, packageName, kinds, recurse);
            return SharedClassLoader.isOfServer(packageName)
                    ? Stream.of(files, own)
                            .flatMap(some -> StreamSupport.stream(some.spliterator(), false))
                            .toList()
                    : own;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(
                JavaFileManager.Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
            var output =
                    new CompiledClass(className, kind, Path.of(sibling.toUri()).normalize());
            outputs.put(className, output);
            return output;
        }
    }
}
