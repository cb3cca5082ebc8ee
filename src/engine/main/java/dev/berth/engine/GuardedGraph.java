package dev.berth.engine;

import dev.berth.hooks.Tensor;
import java.util.List;

/// A graph that the last one who leaves it frees: an engine that is freed while a forward is inside
/// would end the process. Used by many threads.
final class GuardedGraph implements Graph {

    private final Graph graph;

    /// Guarded by the monitor of this, as the next one.
    private int inside;

    private boolean closed;

    GuardedGraph(Graph graph) {
        this.graph = graph;
    }

    @Override
    public List<String> inputNames() {
        return graph.inputNames();
    }

    @Override
    public List<String> outputNames() {
        return graph.outputNames();
    }

    @Override
    public List<Tensor> forward(List<Tensor> inputs, List<KeptTensor> kept, int mostCores) {
        enter();
        try {
            return graph.forward(inputs, kept, mostCores);
        } finally {
            leave();
        }
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
