package dev.berth.engine;

import dev.berth.hooks.ElementType;
import java.util.List;
import java.util.Optional;

/// What a model file says of its `forward` before it is loaded.
///
/// @param inputs the parameters in their order, those with a default last; empty: the file does not tell
/// @param outputs what `forward` returns, in the order of [Graph#forward]; empty: it returns no dict, or one that
///   is made elsewhere
/// @param weights the files that hold its weights, relative to it; empty: it does itself
/// @param isHalf whether more of its weights are of `float16` than of `float32`, as far as the file
///   tells
/// @param scalesBatches whether it finds the scale of a whole batch while it runs, as int8 without
///   calibration does, as far as the file tells. Rows then differ a little beside others
/// @param misfit what it takes or returns that is no tensor, if anything: no forward can succeed
public record GraphNames(
        List<GraphPort> inputs,
        List<GraphPort> outputs,
        List<String> weights,
        boolean isHalf,
        boolean scalesBatches,
        Optional<String> misfit) {

    public static final GraphNames UNKNOWN =
            new GraphNames(List.of(), List.of(), List.of(), false, false, Optional.empty());

    public GraphNames {
        inputs = List.copyOf(inputs);
        outputs = List.copyOf(outputs);
        weights = List.copyOf(weights);
    }

    public List<String> inputNames() {
        return inputs.stream().map(GraphPort::name).toList();
    }

    public List<String> outputNames() {
        return outputs.stream().map(GraphPort::name).toList();
    }

    /// How many inputs have no default.
    public int required() {
        return (int) inputs.stream().takeWhile(input -> !input.hasValue()).count();
    }

    /// What the elements of each input must be; empty: the file does not tell of all.
    public List<ElementType> types() {
        var types = inputs.stream().flatMap(input -> input.type().stream()).toList();
        return types.size() == inputs.size() ? types : List.of();
    }

    /// The output of this name, where there is one.
    public Optional<GraphPort> output(String name) {
        return outputs.stream().filter(output -> output.name().equals(name)).findFirst();
    }
}
