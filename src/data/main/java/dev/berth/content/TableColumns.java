package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.ObjIntConsumer;
import java.util.stream.IntStream;

/// The columns of a table whose rows are records: those of the first input, then those of the
/// second one, and so on.
///
/// @param parts for each input its columns; empty: unknown
public record TableColumns(List<Part> parts) {

    public static final TableColumns UNKNOWN = new TableColumns(List.of());

    /// The columns of an input.
    ///
    /// @param names empty: they have none
    /// @param shape of the input in a record
    public record Part(List<String> names, List<Integer> shape) {

        public Part {
            names = List.copyOf(names);
            shape = List.copyOf(shape);
        }

        int width() {
            return shape.stream().reduce(1, Math::multiplyExact);
        }

        private Tensor shaped(Tensor tensor) {
            return tensor.reshape(shape.stream().mapToInt(Integer::intValue).toArray());
        }

        /// The shape of so many rows on each other.
        int[] shape(int rows) {
            return IntStream.concat(IntStream.of(rows), shape.stream().mapToInt(Integer::intValue))
                    .toArray();
        }
    }

    public TableColumns {
        parts = List.copyOf(parts);
    }

    /// The columns of the only input, where nobody knows their names: one has a scalar in each row.
    static TableColumns unnamed(int columns) {
        return new TableColumns(List.of(new Part(List.of(), columns == 1 ? List.of() : List.of(columns))));
    }

    boolean isKnown() {
        return !parts.isEmpty();
    }

    int count() {
        return parts.stream().mapToInt(Part::width).sum();
    }

    /// The names of all columns in their order; empty: some have none.
    List<String> names() {
        return parts.stream().anyMatch(part -> part.names.isEmpty())
                ? List.of()
                : parts.stream().flatMap(part -> part.names.stream()).toList();
    }

    /// Makes a record of a row.
    ///
    /// @param types of the inputs
    /// @param row gives elements the cell of a column
    List<Tensor> record(IntFunction<ElementType> types, ObjIntConsumer<Elements> row) {
        var tensors = new ArrayList<Tensor>(parts.size());
        int column = 0;
        for (var part : parts) {
            var elements = new Elements(types.apply(tensors.size()));
            for (int end = column + part.width(); column < end; column++) {
                row.accept(elements, column);
            }
            tensors.add(part.shaped(elements.tensor(part.width())));
        }
        return tensors;
    }

    /// Gives a single element the shape that its input has: `3` becomes `[3]`.
    public List<Tensor> shaped(List<Tensor> record) {
        return isKnown()
                ? IntStream.range(0, record.size())
                        .mapToObj(i -> record.get(i).size() == 1 && parts.get(i).width() == 1
                                ? parts.get(i).shaped(record.get(i))
                                : record.get(i))
                        .toList()
                : record;
    }

    /// The same for records on each other.
    List<Tensor> shaped(List<Tensor> batches, int rows) {
        return isKnown() && rows > 0
                ? IntStream.range(0, batches.size())
                        .mapToObj(i ->
                                batches.get(i).size() == rows && parts.get(i).width() == 1
                                        ? batches.get(i).reshape(parts.get(i).shape(rows))
                                        : batches.get(i))
                        .toList()
                : batches;
    }

    /// @param expected each once
    /// @throws BadInputException when these are not the names, in any order
    static void checkNames(List<String> found, List<String> expected, String name) {
        var problems = new ArrayList<String>();
        problem("missing %s", expected, new HashSet<>(found)).ifPresent(problems::add);
        problem("unknown %s", found, new HashSet<>(expected)).ifPresent(problems::add);
        var seen = new HashSet<String>();
        problem(
                        "more than once %s",
                        found.stream().filter(each -> !seen.add(each)).toList(), Set.of())
                .ifPresent(problems::add);
        if (!problems.isEmpty()) {
            throw new BadInputException(
                    "%s: %s, expected %s".formatted(name, String.join(", ", problems), Excerpt.list(expected)));
        }
    }

    private static Optional<String> problem(String what, List<String> names, Set<String> others) {
        var wrong = names.stream().filter(each -> !others.contains(each)).toList();
        return wrong.isEmpty() ? Optional.empty() : Optional.of(what.formatted(Excerpt.list(wrong)));
    }
}
