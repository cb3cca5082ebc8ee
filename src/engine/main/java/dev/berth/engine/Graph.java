package dev.berth.engine;

import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.Tensor;
import java.nio.file.Path;
import java.util.List;

/// One model file on one accelerator: tensors in, tensors out.
///
/// Several threads may call [#forward] at once. Call it from a small fixed set of platform threads
/// only, because an engine keeps memory for each thread that calls it. A forward on several cores
/// runs on a thread of the engine meanwhile. The last thread that leaves a closed graph frees it: an
/// engine that is freed while a forward is inside would end the process.
public final class Graph implements AutoCloseable {

    private final EngineGraph graph;
    private final List<String> wanted;

    /// Guarded by the monitor of this, as the next one.
    private int inside;

    private boolean closed;

    private Graph(EngineGraph graph, List<String> wanted) {
        this.graph = graph;
        this.wanted = List.copyOf(wanted);
    }

    /// Loads `file` onto `accelerator` with the engine that reads it. The caller closes the graph.
    ///
    /// @throws EngineException when the file is missing, damaged or needs operators that are not
    ///   there
    /// @throws InsufficientMemoryException when there is no memory for it
    public static Graph load(Path file, Accelerator accelerator) {
        return load(file, accelerator, List.of());
    }

    /// The same of a model that returns a dict, of which only some outputs are wanted.
    ///
    /// @param wanted their names, in the order in which [#forward] returns them; empty: all. A model
    ///   whose outputs have no names returns them as they are, and one with other names fails there
    public static Graph load(Path file, Accelerator accelerator, List<String> wanted) {
        var engine = Engine.of(file);
        try {
            return new Graph(engine.load(file, accelerator), wanted);
        } catch (EngineException e) {
            if (engine.reads(file) || Engine.ALL.stream().noneMatch(other -> other.reads(file))) {
                throw e;
            }
            throw new EngineException(
                    "%s; model.json: engine: found \"%s\", leave it out".formatted(e.getMessage(), engine.name()), e);
        }
    }

    /// The names of the inputs, in the order in which [#forward] takes them. Empty where the file
    /// does not tell. A traced TorchScript has the names of the code that was traced, which may be
    /// `x` or `input`.
    public List<String> inputNames() {
        return graph.inputNames();
    }

    /// The names of the outputs, in the order in which [#forward] returns them. Empty where they are
    /// not known. A TorchScript has names only if it returns a dict, and they may be known only after
    /// the first forward.
    public List<String> outputNames() {
        var names = graph.outputNames();
        return names.isEmpty() || wanted.isEmpty() ? names : wanted;
    }

    /// Runs the model on all cores, or on its share while other forwards run.
    ///
    /// @see #forward(List, int)
    public List<Tensor> forward(List<Tensor> inputs) {
        return forward(inputs, Integer.MAX_VALUE);
    }

    /// Runs the model.
    ///
    /// @param inputs one for each input of the model, in their order. An element type that the engine
    ///   does not have is widened: `int16` becomes `int32`
    /// @param mostCores on a CPU, the most cores that this forward can use well
    /// @return the outputs: the tensors of a tuple or a list in their order, those of a dict in the
    ///   order of their keys. An element type that [Tensor] does not have becomes the next one that
    ///   holds all its numbers: `bfloat16` becomes `float32`, and `uint32` becomes `int64`
    /// @throws InvalidInputException when the model refuses these inputs
    /// @throws InsufficientMemoryException when the device has no memory for these shapes
    /// @throws ModelUnusableException when the device has failed for good
    /// @throws EngineException when the model fails for another reason, or does not return dense
    ///   tensors of real numbers that a [Tensor] holds; also when the calling thread is interrupted,
    ///   where the engine can end a forward
    public List<Tensor> forward(List<Tensor> inputs, int mostCores) {
        return forward(inputs, List.of(), mostCores);
    }

    /// Runs a model that has a state, such as the key/value caches of texts. It takes `inputs` and
    /// then a list of tensors. It returns a tuple: its outputs and then the new list, of as many
    /// tensors.
    ///
    /// What is in the list stays in the engine's memory. After a forward that succeeds, each of
    /// `kept` is what the model has returned in its place. A forward that fails leaves them as they
    /// were, apart from what the model has written into them.
    ///
    /// @param kept of this graph, or of another one on the same accelerator. No thread may use them
    ///   in the meantime
    /// @return the outputs without the list. What is thrown is as in [#forward(List, int)]
    /// @throws IllegalArgumentException when one of `kept` is closed or stands there twice
    public List<Tensor> forward(List<Tensor> inputs, List<KeptTensor> kept, int mostCores) {
        enter();
        try {
            var outputs = graph.forward(inputs, kept, mostCores);
            // A dict has no place for the list of what is kept.
            return kept.isEmpty() ? wanted(outputs, graph.outputNames()) : outputs;
        } finally {
            leave();
        }
    }

    private List<Tensor> wanted(List<Tensor> outputs, List<String> names) {
        if (wanted.isEmpty() || names.isEmpty()) {
            return outputs;
        }
        if (!names.containsAll(wanted)) {
            throw new EngineException("the model returned the outputs %s, expected %s".formatted(names, wanted));
        }
        return wanted.stream().map(name -> outputs.get(names.indexOf(name))).toList();
    }

    /// Puts a tensor where the model is, to be given to [#forward(List, List, int)]. The caller
    /// closes it.
    public KeptTensor keep(Tensor tensor) {
        enter();
        try {
            return graph.keep(tensor);
        } finally {
            leave();
        }
    }

    private synchronized void enter() {
        if (closed) {
            throw new EngineException("the model was closed; load it again");
        }
        inside++;
    }

    private synchronized void leave() {
        inside--;
        freeIfLeft();
    }

    /// Frees the model, once no thread is inside any more. Refuses every forward from now on.
    @Override
    public synchronized void close() {
        if (!closed) {
            closed = true;
            freeIfLeft();
        }
    }

    private void freeIfLeft() {
        if (closed && inside == 0) {
            graph.close();
        }
    }
}
