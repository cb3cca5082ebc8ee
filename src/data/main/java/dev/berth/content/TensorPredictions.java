package dev.berth.content;

import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.SortedMap;
import java.util.function.Function;
import java.util.stream.IntStream;

/// What a model made of the records of a request.
///
/// @param predictions for each good record its part of each output of the model; one list of the
///   outputs as they are where those have no part for each record
/// @param names of the outputs; one that has none is `output_0`, `output_1`, …
/// @param form how the records were written
/// @param rejected what is wrong with each bad record, by its place among all
/// @param none for each output what it is without a record; empty: nothing is known yet
/// @param isWhole whether the outputs are as they are
public record TensorPredictions(
        List<List<Tensor>> predictions,
        List<String> names,
        Instances.Form form,
        SortedMap<Integer, String> rejected,
        List<Tensor> none,
        boolean isWhole) {

    /// What an element takes on its way out as bytes, besides those of the answer: its copies. As text it is boxed
    /// and in lists, a [HeapSize#VALUE].
    static final long COPIES = 2 * Long.BYTES;

    /// Counts what it takes to write the predictions.
    ///
    /// @param bytes for each element
    void chargeElements(long bytes) {
        RequestMemory.charge(predictions.stream()
                .flatMap(List::stream)
                .mapToLong(output -> HeapSize.TENSOR + bytes * output.size())
                .sum());
    }

    /// Something for each record in its place, made of its outputs or of what is wrong with it. One
    /// output as it is has its own rows, and several are one record.
    <T> List<T> inPlace(Function<List<Tensor>, T> good, Function<String, T> bad) {
        if (isWhole
                && predictions.getFirst().size() == 1
                && predictions.getFirst().getFirst().rank() > 0) {
            var output = predictions.getFirst().getFirst();
            RequestMemory.charge(HeapSize.TENSOR * output.shape()[0]);
            return output.unstack().stream().map(List::of).map(good).toList();
        }
        var all = new ArrayList<T>(predictions.size() + rejected.size());
        predictions.forEach(outputs -> all.add(good.apply(outputs)));
        rejected.forEach((place, message) -> all.add(place, bad.apply(message)));
        return all;
    }

    /// For each output the records' parts on each other, for a type that has no rows of different
    /// lengths.
    ///
    /// @throws NotAcceptableException when their shapes differ, or a record is bad
    List<Tensor> stacked(MediaType accept) {
        if (!rejected.isEmpty()) {
            throw new NotAcceptableException(
                    "Accept: found %s, which can't hold an error in the place of a bad line; expected one such as application/jsonlines"
                            .formatted(accept));
        }
        if (isWhole) {
            return predictions.getFirst();
        }
        if (predictions.isEmpty()) {
            return none.isEmpty() ? Collections.nCopies(Math.max(1, names.size()), Tensor.of(new float[0], 0)) : none;
        }
        try {
            return IntStream.range(0, predictions.getFirst().size())
                    .mapToObj(output -> Tensor.stack(predictions.stream()
                            .map(outputs -> outputs.get(output))
                            .toList()))
                    .toList();
        } catch (IllegalArgumentException e) {
            throw new NotAcceptableException(
                    "Accept: the predictions have different shapes (%s), which %s can't hold; expected a type such as application/json"
                            .formatted(e.getMessage(), accept),
                    e);
        }
    }

    SequencedMap<String, Tensor> named(List<Tensor> outputs) {
        var named = new LinkedHashMap<String, Tensor>();
        for (int i = 0; i < outputs.size(); i++) {
            named.put(name(names, i), outputs.get(i));
        }
        return named;
    }

    /// What an output is called.
    ///
    /// @param names of the outputs that have some
    public static String name(List<String> names, int output) {
        return output < names.size() ? names.get(output) : "output_" + output;
    }
}
