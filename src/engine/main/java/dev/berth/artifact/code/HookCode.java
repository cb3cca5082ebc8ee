package dev.berth.artifact.code;

import dev.berth.artifact.ArtifactFile;
import dev.berth.artifact.ArtifactTree;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.hooks.InferenceHandler;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What lies in a model artifact's `code/`: sources, jars with hooks, and the jars that both need.
///
/// ```
/// code/Inference.java    compiled together with the other sources; SAGEMAKER_PROGRAM may name another one
/// code/*.jar             hooks that are compiled already, found as services or named in model.json
/// code/lib/*.jar         what they need besides the server's own classes
/// ```
public final class HookCode {

    private static final String DEFAULT_PROGRAM = "Inference.java";

    private final Path modelDirectory;
    private final Path directory;
    private final Optional<String> program;
    private final Optional<String> className;
    private final List<Path> sources;
    private final List<Path> jars;
    private final List<Path> libraries;

    private HookCode(Path modelDirectory, Optional<String> program, Optional<String> className) {
        this.modelDirectory = modelDirectory.toAbsolutePath().normalize();
        this.directory = this.modelDirectory.resolve("code");
        this.program = program;
        this.className = className;
        var lib = directory.resolve("lib");
        this.sources = files(directory, Integer.MAX_VALUE, ".java").stream()
                .filter(file -> !file.startsWith(lib))
                .toList();
        this.jars = files(directory, 1, ".jar");
        this.libraries = files(lib, 1, ".jar");
        var problems = Stream.of(sources, jars, libraries)
                .flatMap(List::stream)
                .flatMap(file -> ArtifactFile.problem(file).map(what -> "%s: %s".formatted(shown(file), what)).stream())
                .toList();
        if (!problems.isEmpty()) {
            throw new ModelArtifactException(this.modelDirectory, problems);
        }
    }

    /// The hooks of an artifact, or nothing where it has none of its own.
    ///
    /// @param program the value of `SAGEMAKER_PROGRAM`
    /// @param className the class that `model.json` names
    /// @throws ModelArtifactException when something is named that can't be there
    public static Optional<HookCode> find(Path modelDirectory, Optional<String> program, Optional<String> className) {
        var code = new HookCode(modelDirectory, program, className);
        if (!code.sources.isEmpty() || !code.jars.isEmpty()) {
            return Optional.of(code);
        }
        if (className.isPresent()) {
            throw code.problem(
                    "model.json: handler: found \"%s\", expected none, as code/ has neither a .java file nor a jar"
                            .formatted(className.get()));
        }
        if (program.filter(name -> name.endsWith(".py")).isPresent() && hasPython(modelDirectory)) {
            throw code.problem(
                    ("SAGEMAKER_PROGRAM: found %s, expected a .java file of code/: Python does not run here; docs/hooks.md "
                                    + "turns an inference.py into an Inference.java")
                            .formatted(program.get()));
        }
        return Optional.empty();
    }

    /// Whether the artifact has hooks in Python, which are not run.
    public static boolean hasPython(Path modelDirectory) {
        return !files(modelDirectory.resolve("code"), 1, ".py").isEmpty();
    }

    /// Compiles what has to be, and makes the handler, which [#close] closes.
    ///
    /// @param onClose run when the handler is closed: lets go of the classes that the artifact
    ///   brought, wherever the server keeps them
    /// @throws ModelArtifactException with every error of the compiler, or with what is wrong with
    ///   the class
    /// @throws Exception anything that the class throws that is not its own, such as what is wrong
    ///   with the artifact
    public InferenceHandler<?, ?, ?> create(Runnable onClose) throws Exception {
        var paths = Stream.of(jars, libraries).flatMap(List::stream).toList();
        var loader = new HookClassLoader(modelDirectory, paths, onClose);
        try {
            var compiled = SourceCompiler.compile(modelDirectory, sources, paths);
            loader.add(compiled);
            return new HandlerClass(modelDirectory, name(compiled, loader), loader).create();
        } catch (Throwable e) {
            loader.close();
            throw e;
        }
    }

    /// Closes a handler, if it wants to be, and lets the classes go that its artifact brought.
    public static void close(InferenceHandler<?, ?, ?> handler) throws Exception {
        try (var _ = handler.getClass().getClassLoader() instanceof HookClassLoader loader ? loader : null;
                var _ = handler instanceof AutoCloseable closeable ? closeable : null) {
            // Both are closed, the handler first.
        } catch (Throwable e) {
            if (ThrownByHook.ask(e) instanceof Exception told) {
                throw told;
            }
            throw e;
        }
    }

    /// The file of the artifact that a class comes from, such as `code/Inference.java`; nothing for
    /// the server's classes.
    public static Optional<String> file(Class<?> type) {
        return type.getClassLoader() instanceof HookClassLoader loader
                ? loader.shownFile(type.getName())
                : Optional.empty();
    }

    /// The class that is the handler: the one that is named, else the program's, else the jars' only
    /// service.
    private String name(SourceCompiler.Classes compiled, HookClassLoader loader) throws IOException {
        if (className.isPresent()) {
            return className.get();
        }
        // SageMaker's SDK sets inference.py by itself, whatever is in the artifact.
        var named = program.filter(name -> !name.endsWith(".py"));
        var file = directory
                .resolve(named.orElse(DEFAULT_PROGRAM).replaceFirst("^code/", ""))
                .normalize();
        if (sources.contains(file)) {
            return compiled.mainClass(file)
                    .orElseThrow(() -> problem("%s: found the classes %s, expected a class %s"
                            .formatted(shown(file), compiled.of(file), SourceCompiler.simpleName(file))));
        }
        if (named.isPresent() || jars.isEmpty()) {
            throw problem("%s: found no such file, only %s; %s"
                    .formatted(
                            shown(file),
                            Stream.of(sources, jars)
                                    .flatMap(List::stream)
                                    .map(this::shown)
                                    .collect(Collectors.joining(", ")),
                            "SAGEMAKER_PROGRAM names the one with the hooks"));
        }
        var services = loader.services(jars);
        if (services.size() != 1) {
            throw problem("%s: found %s as services of %s, expected one; or name the class in model.json as \"handler\""
                    .formatted(
                            jars.stream().map(this::shown).collect(Collectors.joining(", ")),
                            services.isEmpty() ? "nothing" : services,
                            InferenceHandler.class.getName()));
        }
        return services.getFirst();
    }

    private String shown(Path file) {
        return modelDirectory.relativize(file).toString();
    }

    private ModelArtifactException problem(String message) {
        return new ModelArtifactException(modelDirectory, message);
    }

    private static List<Path> files(Path directory, int depth, String ending) {
        return ArtifactTree.files(directory, _ -> true).keySet().stream()
                .filter(file -> file.getNameCount() <= depth && file.toString().endsWith(ending))
                .map(directory::resolve)
                .toList();
    }
}
