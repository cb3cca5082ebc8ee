package dev.berth.handler.tensor;

import dev.berth.content.TensorInputs;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.engine.InvalidInputException;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Signature.Column;
import dev.berth.hooks.Tensor;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// What is known of the tensors that a model takes and returns: what its file and `model.json` say,
/// and what forwards have shown. For any thread.
final class KnownTensors {

    private volatile TensorInputs inputs;

    /// What the only input is called where it may have any name.
    private final String onlyInput;

    private final RowAxes axes;

    private volatile List<Column> taken = List.of();
    private volatile List<Column> returned = List.of();

    KnownTensors(TensorInputs declared, String onlyInput, RowAxes axes) {
        this.inputs = declared;
        this.onlyInput = onlyInput;
        this.axes = axes;
    }

    TensorInputs inputs() {
        return inputs;
    }

    /// Says that what has been asked so far is the sample. Where `model.json` names no types, other
    /// requests are read in those of the sample from now on.
    void expectTypesOfSample() {
        if (inputs.types().isEmpty()) {
            inputs = new TensorInputs(
                    inputs.names(),
                    taken.stream().map(Column::type).flatMap(Optional::stream).toList(),
                    inputs.table());
        }
    }

    Signature signature() {
        var names = names();
        var seen = taken;
        return new Signature(
                IntStream.range(0, names.size())
                        .mapToObj(i -> new Column(
                                names.get(i),
                                type(inputs.type(i)),
                                axes.record(i)
                                        .orElse(i < seen.size() ? seen.get(i).shape() : List.of())))
                        .toList(),
                returned);
    }

    private List<String> names() {
        return inputs.names().isEmpty() ? List.of(onlyInput) : inputs.names();
    }

    /// Runs the model. Which shapes and types it takes only the model knows: what it refuses it gets
    /// once more in the types that it should take. Where those are unknown, in float32 and in int64.
    ///
    /// @throws BadInputException when the model takes none of them
    List<Tensor> forward(List<Tensor> batches, Graph model) {
        try {
            return taking(batches, model);
        } catch (InvalidInputException e) {
            var others = inputs.types().isEmpty()
                    ? Stream.of(ElementType.FLOAT32, ElementType.INT64)
                            .map(type -> Collections.nCopies(batches.size(), type))
                            .toList()
                    : List.of(inputs.types());
            for (var types : others) {
                try {
                    var converted = inTypes(types, batches);
                    if (!converted.equals(batches)) {
                        return taking(converted, model);
                    }
                } catch (EngineException | BadInputException _) {
                    // It does not take these either, or they do not hold the numbers.
                }
            }
            throw new BadInputException(
                    "the model does not take %s: %s".formatted(axes.given(batches), e.getMessage()), e);
        }
    }

    private List<Tensor> taking(List<Tensor> batches, Graph model) {
        var outputs = model.forward(axes.given(batches));
        taken = with(taken, names(), batches, 1);
        return outputs;
    }

    /// The same numbers in other types.
    ///
    /// @throws BadInputException where those do not hold them
    private List<Tensor> inTypes(List<ElementType> types, List<Tensor> batches) {
        var others = new TensorInputs(List.of(), types);
        return IntStream.range(0, batches.size())
                .mapToObj(i -> others.converted(batches.get(i), i, onlyInput))
                .toList();
    }

    /// @param dimensions how many of them are those of records
    void returned(List<String> names, List<Tensor> outputs, int dimensions) {
        returned = with(returned, names, outputs, dimensions);
    }

    /// For each output what it is without a record; empty: nothing has been returned yet.
    List<Tensor> none() {
        return returned.stream()
                .map(column -> {
                    var lengths = column.shape().stream().mapToInt(length -> Math.max(length, 0));
                    var shape = IntStream.concat(IntStream.of(0), lengths).toArray();
                    return column.type()
                            .map(type -> Tensor.of(type, ByteBuffer.allocate(0), shape))
                            .orElseGet(() -> Tensor.of(new String[0], shape));
                })
                .toList();
    }

    /// What has been seen before, and now; a length that has differed is -1. What two threads see at
    /// the same time may be lost until it is seen again.
    ///
    /// @param tensors of one forward
    /// @param dimensions how many of their first ones are those of records
    private static List<Column> with(List<Column> before, List<String> names, List<Tensor> tensors, int dimensions) {
        return IntStream.range(0, Math.min(names.size(), tensors.size()))
                .mapToObj(i -> {
                    var now = Arrays.stream(tensors.get(i).shape())
                            .skip(dimensions)
                            .boxed()
                            .toList();
                    return i < before.size()
                            ? new Column(
                                    names.get(i),
                                    before.get(i).type(),
                                    both(before.get(i).shape(), now))
                            : new Column(names.get(i), type(tensors.get(i).type()), now);
                })
                .toList();
    }

    /// That of a column, which has none for texts.
    private static Optional<ElementType> type(ElementType type) {
        return Optional.of(type).filter(each -> each != ElementType.STRING);
    }

    private static List<Integer> both(List<Integer> before, List<Integer> now) {
        return before.size() == now.size()
                ? IntStream.range(0, now.size())
                        .map(i -> before.get(i).equals(now.get(i)) ? now.get(i) : -1)
                        .boxed()
                        .toList()
                : List.of();
    }
}
