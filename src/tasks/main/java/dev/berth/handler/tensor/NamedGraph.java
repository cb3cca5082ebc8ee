package dev.berth.handler.tensor;

import dev.berth.artifact.TensorArtifact;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.engine.KeptTensor;
import dev.berth.hooks.Tensor;
import java.util.List;

/// A graph whose outputs come in the order of `model.json`, if that names them and the graph
/// returns a dict.
record NamedGraph(Graph graph, TensorArtifact artifact) implements Graph {

    @Override
    public List<String> inputNames() {
        return graph.inputNames();
    }

    @Override
    public List<String> outputNames() {
        var names = graph.outputNames();
        return names.isEmpty() || artifact.outputs().isEmpty() ? names : artifact.outputs();
    }

    /// @throws EngineException also when the dict has other keys than `model.json` names
    @Override
    public List<Tensor> forward(List<Tensor> inputs, int mostCores) {
        var outputs = graph.forward(inputs, mostCores);
        var names = graph.outputNames();
        var order = artifact.outputs();
        if (order.isEmpty() || names.isEmpty()) {
            return outputs;
        }
        DeclaredTensors.problemOfOutputs(artifact, names).ifPresent(problem -> {
            throw new EngineException(problem);
        });
        return order.stream().map(name -> outputs.get(names.indexOf(name))).toList();
    }

    /// The dict has no place for the list of what is kept.
    @Override
    public List<Tensor> forward(List<Tensor> inputs, List<KeptTensor> kept, int mostCores) {
        return graph.forward(inputs, kept, mostCores);
    }

    @Override
    public KeptTensor keep(Tensor tensor) {
        return graph.keep(tensor);
    }

    @Override
    public void close() {
        graph.close();
    }
}
