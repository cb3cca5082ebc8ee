package dev.berth.code;

import dev.berth.artifact.ModelArtifactException;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/// Compiles the sources of one artifact in memory, with the server's classes and the artifact's jars on the class path.
final class SourceCompiler {

  /// More would not be read.
  private static final int MOST_ERRORS = 20;

  /// A class, and the file that it was compiled from.
  record CompiledClass(byte[] bytes, Path source) {}

  /// Classes by their binary name.
  record Classes(Map<String, CompiledClass> byName) {

    /// The classes of one file.
    List<String> of(Path source) {
      return byName.keySet().stream().filter(name -> byName.get(name).source.equals(source)).sorted().toList();
    }

    /// The class of a file that has the file's name.
    Optional<String> mainClass(Path source) {
      var simple = HandlerClass.simpleName(source);
      return of(source).stream().filter(name -> name.substring(name.lastIndexOf('.') + 1).equals(simple)).findFirst();
    }
  }

  private SourceCompiler() {}

  /// @throws ModelArtifactException with the compiler's errors: file, line, column, message, the line and a caret
  static Classes compile(Path modelDirectory, List<Path> sources, List<Path> jars) throws IOException {
    if (sources.isEmpty()) {
      return new Classes(Map.of());
    }
    var compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      throw new ModelArtifactException(modelDirectory, List.of(
          "code/: this Java runtime has no compiler (the module jdk.compiler); run the server with a JDK, or put a jar there"));
    }
    var diagnostics = new DiagnosticCollector<JavaFileObject>();
    var classes = new LinkedHashMap<String, Output>();
    try (var files = new MemoryFiles(compiler.getStandardFileManager(diagnostics, Locale.ENGLISH, StandardCharsets.UTF_8), classes)) {
      var options = List.of("-classpath", classPath(jars), "-proc:none", "-parameters", "-g", "-implicit:none");
      var units = files.standard().getJavaFileObjectsFromPaths(sources);
      boolean compiled = compiler.getTask(null, files, diagnostics, options, null, units).call();
      var errors = diagnostics.getDiagnostics().stream().filter(d -> d.getKind() == Diagnostic.Kind.ERROR).toList();
      if (!compiled) {
        throw new ModelArtifactException(
            modelDirectory, errors.stream().limit(MOST_ERRORS).map(error -> shown(error, modelDirectory)).toList());
      }
    }
    return new Classes(classes.entrySet().stream().collect(
        Collectors.toMap(Map.Entry::getKey, entry -> entry.getValue().compiled(), (a, _) -> a, LinkedHashMap::new)));
  }

  /// The server's own class path, whose jars may name further ones in their manifests, as the compiler knows.
  private static String classPath(List<Path> jars) {
    return Stream.concat(Stream.of(System.getProperty("java.class.path")), jars.stream().map(Path::toString))
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static String shown(Diagnostic<? extends JavaFileObject> error, Path modelDirectory) {
    var message = error.getMessage(Locale.ENGLISH);
    if (error.getSource() == null) {
      return "code/: " + message;
    }
    var file = modelDirectory.toAbsolutePath().normalize()
        .relativize(Path.of(error.getSource().toUri()).toAbsolutePath().normalize());
    if (error.getLineNumber() == Diagnostic.NOPOS) {
      return "%s: %s".formatted(file, message);
    }
    return "%s:%d:%d: %s%s".formatted(
        file, error.getLineNumber(), error.getColumnNumber(), message, caret(error));
  }

  /// The line of the error, and a caret below the place.
  private static String caret(Diagnostic<? extends JavaFileObject> error) {
    try {
      var text = error.getSource().getCharContent(true).toString();
      int position = (int) error.getPosition();
      int begin = text.lastIndexOf('\n', position - 1) + 1;
      int end = text.indexOf('\n', position);
      var line = text.substring(begin, end < 0 ? text.length() : end).stripTrailing();
      // Tabs stay, so that the caret stands below its place however wide they are.
      var indent = text.substring(begin, position).replaceAll("[^\t]", " ");
      return "\n  %s\n  %s^".formatted(line, indent);
    } catch (IOException e) {
      return "";
    }
  }

  /// A class file that stays in memory.
  private static final class Output extends SimpleJavaFileObject {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final Path source;

    Output(String className, Kind kind, Path source) {
      super(URI.create("memory:///" + className.replace('.', '/') + kind.extension), kind);
      this.source = source;
    }

    @Override
    public OutputStream openOutputStream() {
      return bytes;
    }

    CompiledClass compiled() {
      return new CompiledClass(bytes.toByteArray(), source);
    }
  }

  /// Files as they are on disk, but for the classes that the compiler writes.
  private static final class MemoryFiles extends ForwardingJavaFileManager<StandardJavaFileManager> {

    private final Map<String, Output> classes;

    MemoryFiles(StandardJavaFileManager files, Map<String, Output> classes) {
      super(files);
      this.classes = classes;
    }

    StandardJavaFileManager standard() {
      return fileManager;
    }

    @Override
    public JavaFileObject getJavaFileForOutput(
        JavaFileManager.Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
      var output = new Output(className, kind, Path.of(sibling.toUri()).normalize());
      classes.put(className, output);
      return output;
    }
  }
}
