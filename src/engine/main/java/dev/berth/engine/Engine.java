package dev.berth.engine;

import dev.berth.artifact.ModelJson;
import dev.berth.artifact.Target;
import dev.berth.hooks.Accelerator;
import dev.berth.memory.Footprint;
import dev.berth.memory.MemoryReading;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/// A library that runs models. A new one is a package of its own and a line in
/// `META-INF/services/dev.berth.engine.Engine`.
///
/// Safe for use by many threads. The library itself is loaded by the first call that needs it,
/// except [#name], [#reads], [#names] and [#footprint].
public interface Engine {

    /// All engines, in the order in which they are listed.
    List<Engine> ALL = ServiceLoader.load(Engine.class, Engine.class.getClassLoader()).stream()
            .map(ServiceLoader.Provider::get)
            .toList();

    /// For each engine, whether a file is a model of it.
    List<Predicate<Path>> FORMS =
            ALL.stream().<Predicate<Path>>map(engine -> engine::reads).toList();

    /// Whether a file is a model of any engine, as far as its name or its first bytes tell.
    static boolean isModel(Path file) {
        return FORMS.stream().anyMatch(form -> form.test(file));
    }

    /// The engine of a model file: the one that its `model.json` names, else the first that reads the
    /// file, else the first of all.
    ///
    /// @throws EngineException when `model.json` names an unknown one
    static Engine of(Path file) {
        return named(file.resolveSibling(""))
                .or(() -> ALL.stream().filter(engine -> engine.reads(file)).findFirst())
                .orElseGet(ALL::getFirst);
    }

    /// The engine that the `model.json` of a directory names, if it names one.
    ///
    /// @throws EngineException when that is unknown
    static Optional<Engine> named(Path directory) {
        return ModelJson.nearest(directory)
                .find("engine")
                .map(name -> ALL.stream()
                        .filter(engine -> engine.name().equals(name))
                        .findFirst()
                        .orElseThrow(() -> new EngineException("model.json: engine: found \"%s\", expected one of %s"
                                .formatted(name, ALL.stream().map(Engine::name).collect(Collectors.joining(", "))))));
    }

    /// What `model.json` calls it, such as `pytorch`.
    String name();

    /// Whether a file is a model of this engine, as far as its name or its first bytes tell.
    boolean reads(Path file);

    /// The names that a model file has for its inputs and outputs, as far as the file tells.
    GraphNames names(Path file);

    /// How the names of its files end on Hugging Face's hub, which is also the name of a directory of
    /// more of them: `onnx`. Empty: none of them are taken from there.
    default Optional<String> hubFormat() {
        return Optional.empty();
    }

    /// Begins to load the library on a thread of its own. The next caller that needs it waits, and is
    /// told what went wrong.
    ///
    /// From now on, end the process by a halt. An exit would tear the library down while it loads.
    void preload();

    /// Loads what models for `target` need, then `libraries` of operators that a model may use. What
    /// is loaded already stays.
    ///
    /// @throws EngineException when a library is missing or can't be loaded
    void loadLibraries(Target target, List<Path> libraries);

    /// The NVIDIA GPUs that this engine can use.
    ///
    /// @throws EngineException when the engine can't start
    int gpus();

    /// What loading a model file takes of the memory that its graph will be in, as far as the file
    /// tells. It is an estimate.
    Footprint footprint(Path file);

    /// What an accelerator's own memory has left. Nothing where it has none, as the CPU, or where the
    /// engine can't tell.
    default Optional<MemoryReading> memory(Accelerator accelerator) {
        return Optional.empty();
    }

    /// Loads a model file onto an accelerator. The caller closes the graph, when no thread is inside
    /// it. [Graph#load] sees to that.
    ///
    /// @throws EngineException when the file is missing, damaged or needs operators that are not
    ///   there
    /// @throws dev.berth.hooks.InsufficientMemoryException when there is no memory for it
    EngineGraph load(Path file, Accelerator accelerator);
}
