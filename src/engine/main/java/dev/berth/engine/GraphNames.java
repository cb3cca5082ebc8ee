package dev.berth.engine;

import dev.berth.hooks.ElementType;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/// What a model file says of its `forward` before it is loaded.
///
/// @param inputs the parameters in their order; empty: the file does not tell
/// @param types what the elements of each of them must be; empty: the file does not tell
/// @param required how many of them, from the first on, have no default
/// @param outputs the names of what `forward` returns, in the order of [Graph#forward]; empty: it
///   returns no dict, or one that is made elsewhere
/// @param texts the outputs that are texts, as far as the file tells
/// @param shapes the lengths of the dimensions of inputs and outputs by their names, -1 for any
///   length, none for a number alone; without those of which the file does not tell
/// @param symbols the names that the file has for those dimensions, the same as in `shapes`; empty
///   texts for those without one
/// @param constants the outputs of one shape that no input reaches, as far as the file tells
/// @param weights the files that hold its weights, relative to it; empty: it does itself
/// @param isHalf whether more of its weights are of `float16` than of `float32`, as far as the file
///   tells
/// @param scalesBatches whether it finds the scale of a whole batch while it runs, as int8 without
///   calibration does, as far as the file tells. Rows then differ a little beside others
/// @param misfit what it takes or returns that is no tensor, if anything: no forward can succeed
public record GraphNames(
        List<String> inputs,
        List<ElementType> types,
        int required,
        List<String> outputs,
        Set<String> texts,
        Map<String, List<Integer>> shapes,
        Map<String, List<String>> symbols,
        Set<String> constants,
        List<String> weights,
        boolean isHalf,
        boolean scalesBatches,
        Optional<String> misfit) {

    public static final GraphNames UNKNOWN = new GraphNames(
            List.of(),
            List.of(),
            0,
            List.of(),
            Set.of(),
            Map.of(),
            Map.of(),
            Set.of(),
            List.of(),
            false,
            false,
            Optional.empty());

    public GraphNames {
        inputs = List.copyOf(inputs);
        types = List.copyOf(types);
        outputs = List.copyOf(outputs);
        texts = Set.copyOf(texts);
        shapes = Map.copyOf(shapes);
        symbols = Map.copyOf(symbols);
        constants = Set.copyOf(constants);
        weights = List.copyOf(weights);
    }
}
