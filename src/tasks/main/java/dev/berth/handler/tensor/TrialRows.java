package dev.berth.handler.tensor;

import dev.berth.content.TensorInputs;
import dev.berth.engine.GraphNames;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Rows that a model is tried with before it serves: three at a time, the same at each start.
record TrialRows(GraphNames names, TensorInputs inputs) {

    private static final int COUNT = 3;

    /// What a dimension of any length has in turn. None is a number of rows that are tried, and the
    /// large ones are for convolutions.
    private static final List<Integer> SIZES = List.of(4, 8, 32, 64);

    /// How many columns a row is tried with where nobody says.
    private static final int MOST_COLUMNS = 16;

    /// Elements of a row. A forward of more would take long.
    private static final int MOST_ELEMENTS = 1 << 22;

    /// What whole numbers are drawn from: the ids of tokens in any vocabulary, and no divisor that is
    /// 0.
    private static final Tensor WHOLE = Tensor.of(new long[] {1, 2, 3, 4}, 4);

    private static final Tensor BITS = Tensor.of(new long[] {0, 1}, 2);

    /// Rows to try one after another until they show something. They have the types and shapes of the
    /// file. Where it does not tell, they have one dimension of several lengths. There are none of
    /// texts.
    Stream<List<List<Tensor>>> madeUp() {
        int count = Math.max(1, Math.max(names.required(), inputs.names().size()));
        var types = IntStream.range(0, count).mapToObj(inputs::type).toList();
        if (types.contains(ElementType.STRING)) {
            return Stream.empty();
        }
        boolean isDeclared = !names.inputs().isEmpty()
                && names.inputs().stream()
                        .limit(count)
                        .allMatch(input -> input.shape().isPresent());
        if (isDeclared) {
            return SIZES.stream().flatMap(size -> rows(types, shapes(count, size), size));
        }
        var tried = inputs.types().isEmpty()
                ? Stream.of(ElementType.FLOAT32, ElementType.INT64).map(type -> Collections.nCopies(count, type))
                : Stream.of(types);
        return tried.flatMap(each -> IntStream.rangeClosed(1, MOST_COLUMNS)
                .mapToObj(width -> Collections.nCopies(count, new int[] {width}))
                .flatMap(shapes -> rows(each, shapes, 1)));
    }

    private List<int[]> shapes(int count, int size) {
        return names.inputs().stream()
                .limit(count)
                .map(input -> input.shape().get().stream()
                        .skip(1)
                        .mapToInt(length -> length < 0 ? size : length)
                        .toArray())
                .toList();
    }

    private static Stream<List<List<Tensor>>> rows(List<ElementType> types, List<int[]> shapes, int seed) {
        long elements = shapes.stream()
                .mapToLong(shape -> Arrays.stream(shape).asLongStream().reduce(1, TrialRows::product))
                .sum();
        if (elements > MOST_ELEMENTS) {
            return Stream.empty();
        }
        var random = new Random(seed);
        var normal =
                Tensor.of(random.doubles(64).map(_ -> random.nextGaussian()).toArray(), 64);
        return Stream.of(IntStream.range(0, COUNT)
                .mapToObj(row -> IntStream.range(0, types.size())
                        .mapToObj(i -> {
                            var type = types.get(i);
                            var from = type.isFloating() ? normal : type == ElementType.BOOL ? BITS : WHOLE;
                            // Rows of several sizes reach other branches of a tree.
                            return drawn(from, type, shapes.get(i), Math.pow(3, row), random);
                        })
                        .toList())
                .toList());
    }

    private static long product(long one, long other) {
        return Math.min(MOST_ELEMENTS + 1L, one * other);
    }

    /// The first row of a sample, and rows of the values that its inputs have; twice, as the first
    /// ones may all be answered the same.
    static Stream<List<List<Tensor>>> like(List<List<Tensor>> sample) {
        var first = sample.getFirst();
        return Stream.of(1, 2)
                .map(Random::new)
                .map(random -> Stream.concat(
                                Stream.of(first),
                                IntStream.range(1, COUNT)
                                        .mapToObj(row -> like(first, sample.get(row % sample.size()), random)))
                        .toList());
    }

    private static List<Tensor> like(List<Tensor> first, List<Tensor> row, Random random) {
        double scale = 0.5 + random.nextDouble();
        return IntStream.range(0, first.size())
                .mapToObj(i -> {
                    var own = first.get(i);
                    var from = row.get(i).size() == 0 ? own : row.get(i);
                    return drawn(from, own.type(), own.shape(), scale, random);
                })
                .toList();
    }

    /// A tensor of elements of another, times `scale` where some have fractions.
    private static Tensor drawn(Tensor from, ElementType type, int[] shape, double scale, Random random) {
        int size = Arrays.stream(shape).reduce(1, Math::multiplyExact);
        var places = random.ints(size, 0, Math.max(1, from.size())).toArray();
        if (type == ElementType.STRING) {
            return Tensor.of(Arrays.stream(places).mapToObj(from.texts()::get).toArray(String[]::new), shape);
        }
        var values = from.doubles();
        double factor = Arrays.stream(values).allMatch(value -> value == Math.rint(value)) ? 1 : scale;
        return Tensor.of(
                        Arrays.stream(places)
                                .mapToDouble(i -> values[i] * factor)
                                .toArray(),
                        shape)
                .as(type);
    }
}
