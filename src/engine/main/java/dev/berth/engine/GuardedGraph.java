package dev.berth.engine;

import dev.berth.hooks.Tensor;
import java.util.List;

/// A graph that the last thread that leaves it frees: an engine that is freed while a forward is
/// inside would end the process. Of a dict it returns the outputs that are wanted, in that order.
/// Used by many threads.
final class GuardedGraph implements Graph {

    private final Graph graph;
    private final List<String> wanted;

    /// Guarded by the monitor of this, as the next one.
    private int inside;

    private boolean closed;

    /// @param wanted names of outputs; empty: all, as the graph returns them
    GuardedGraph(Graph graph, List<String> wanted) {
        this.graph = graph;
        this.wanted = List.copyOf(wanted);
    }

    @Override
    public List<String> inputNames() {
        return graph.inputNames();
    }

    @Override
    public List<String> outputNames() {
        var names = graph.outputNames();
        return names.isEmpty() || wanted.isEmpty() ? names : wanted;
    }

    @Override
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

    @Override
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
