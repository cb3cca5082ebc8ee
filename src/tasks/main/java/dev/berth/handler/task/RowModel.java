package dev.berth.handler.task;

import dev.berth.artifact.ModelArtifact;
import dev.berth.engine.Graph;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.Tensor;
import dev.berth.tokenizer.EncodedBatch;
import dev.berth.tokenizer.Truncation.Side;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntUnaryOperator;
import java.util.stream.Gatherers;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/// The model of one accelerator: rows of tokens in, its outputs for all of them out. It pads rows
/// to a shape that the traced files take.
///
/// On a CPU a row goes by itself, without padding: a batch gains nothing there, and dynamic int8
/// quantisation scales a whole tensor at once, so that a neighbour or padding would change a row's
/// scores.
public final class RowModel {

    public static final List<String> INPUTS = List.of("input_ids", "attention_mask", "token_type_ids", "position_ids");

    private static final int MAX_TOKENS_OF_A_FORWARD = 16_384;

    /// With less work each, cores wait for each other longer than they save. On 2 cores a question of
    /// 45 tokens is answered in 8.3 ms with both of them and in 9.1 with one.
    private static final int TOKENS_FOR_A_CORE = 16;

    private final ModelArtifact artifact;
    private final boolean dynamic;
    private final boolean oneByOne;
    private final List<Graph> graphs;

    /// @param graphs a copy of each file of the artifact
    public RowModel(ModelArtifact artifact, Accelerator accelerator, List<Graph> graphs) {
        this.artifact = artifact;
        this.dynamic = artifact.shapes().isDynamic();
        this.oneByOne = accelerator instanceof Accelerator.Cpu;
        this.graphs = graphs;
    }

    /// @param outputs those that the task makes answers of
    /// @throws dev.berth.artifact.ModelArtifactException when the artifact's model takes or returns something else
    public static void check(ModelArtifact artifact, List<String> outputs) {
        var inputs = artifact.inputs();
        boolean areKnown =
                INPUTS.containsAll(inputs) && inputs.stream().distinct().count() == inputs.size();
        var problem = "model.json: inputs: found %s, expected names among %s, each once".formatted(inputs, INPUTS);
        TaskHandler.check(artifact, areKnown ? Optional.empty() : Optional.of(problem), outputs);
    }

    /// Runs rows of every shape, and refuses a model whose rows depend on each other.
    ///
    /// @param example whose tokens they have
    /// @param forward runs the model; for each row what it says of it
    /// @throws dev.berth.artifact.ModelArtifactException when what it says of a row depends on the others
    public void warmUp(Row example, Function<List<Row>, List<float[]>> forward) {
        for (var rows : warmUps(example)) {
            var _ = forward.apply(rows);
        }
        requireIndependence(example, forward);
    }

    /// Rows of every shape, or of a few where any shape will do: the engine compiles a graph on its
    /// first two calls, and a NeuronCore is given its program on the first one.
    ///
    /// @param example whose tokens they have, again and again
    private List<List<Row>> warmUps(Row example) {
        if (!dynamic) {
            return artifact.shapes().files().stream()
                    .map(file -> Collections.nCopies(file.batch(), of(example, file.sequence(), i -> i)))
                    .toList();
        }
        int few = Math.min(32, artifact.longestRow());
        // On a CPU what is compiled for a short row serves a long one, and long ones would take a fifth
        // of a second.
        var lengths = oneByOne ? List.of(few, few) : List.of(artifact.longestRow(), few, artifact.longestRow());
        return lengths.stream()
                .map(length -> List.of(of(example, length, i -> i)))
                .toList();
    }

    /// As far as a few rows show: an example, its second half again and again, and its tokens in another
    /// order. Where rows of several lengths share a forward, the example is longer.
    private void requireIndependence(Row example, Function<List<Row>, List<float[]>> forward) {
        int size = Math.min(example.size(), artifact.longestRow());
        int half = size / 2;
        int shorter = oneByOne ? size : Math.max(1, size - 1);
        var rows = List.of(
                of(example, size, i -> i),
                of(example, shorter, i -> half + i % (size - half)),
                of(example, shorter, i -> (i + 1) % size));
        int most = dynamic ? rows.size() : Math.min(rows.size(), rowsOfAForward(size));
        if (most > 1) {
            TaskHandler.requireIndependence(artifact, rows.subList(0, most), forward);
        }
    }

    private static Row of(Row example, int size, IntUnaryOperator place) {
        var places =
                IntStream.range(0, size).map(place).map(i -> i % example.size()).toArray();
        return new Row(
                Arrays.stream(places).mapToLong(i -> example.ids()[i]).toArray(),
                Arrays.stream(places).mapToLong(i -> example.types()[i]).toArray());
    }

    /// How many rows up to `length` tokens long go through one forward.
    public int rowsOfAForward(int length) {
        if (dynamic) {
            return oneByOne ? 1 : Math.max(1, MAX_TOKENS_OF_A_FORWARD / length);
        }
        return artifact.shapes().rows(length);
    }

    /// What is said of rows, as many of which go through a forward as may.
    ///
    /// @param forward runs the model; for each row what it says of it
    public <A> List<A> inForwards(List<Row> rows, Function<List<Row>, List<A>> forward) {
        int longest = rows.stream().mapToInt(Row::size).max().orElse(1);
        return rows.stream()
                .gather(Gatherers.windowFixed(rowsOfAForward(longest)))
                .flatMap(some -> forward.apply(some).stream())
                .toList();
    }

    /// Runs the model on at most [#rowsOfAForward] rows.
    public RowOutputs forward(List<Row> rows) {
        int longest = rows.stream().mapToInt(Row::size).max().orElseThrow();
        int file = artifact.shapes().fitting(rows.size(), longest);
        var shape = artifact.shapes().files().get(file);
        int columns = dynamic ? longest : shape.sequence();
        int count = dynamic ? rows.size() : shape.batch();
        var model = graphs.get(file);
        var names = model.inputNames();
        var inputs = artifact.inputs();
        boolean byName = names.size() == inputs.size() && names.containsAll(inputs);
        var tensors = (byName ? names : inputs)
                .stream()
                        .map(input -> tensor(input, rows, count, columns, artifact.padding()))
                        .toList();
        var answered = TaskHandler.outputs(model, tensors, artifact.outputs(), count * columns / TOKENS_FOR_A_CORE);
        return new RowOutputs(answered, count, columns);
    }

    /// One input of a forward: the rows, padded to `count` rows of `columns` tokens.
    static Tensor tensor(String input, List<Row> rows, int count, int columns, long padding) {
        var parts = rows.stream()
                .map(row -> switch (input) {
                    case "input_ids" -> row.ids();
                    case "attention_mask" -> EncodedBatch.ones(row.size());
                    case "token_type_ids" -> row.types();
                    case "position_ids" -> LongStream.range(0, row.size()).toArray();
                    default ->
                        throw new IllegalArgumentException("%s is none of the inputs %s".formatted(input, INPUTS));
                })
                .toList();
        return EncodedBatch.padded(parts, count, columns, input.equals("input_ids") ? padding : 0, Side.RIGHT);
    }
}
