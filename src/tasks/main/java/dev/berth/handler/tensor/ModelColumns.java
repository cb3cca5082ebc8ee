package dev.berth.handler.tensor;

import dev.berth.artifact.TensorArtifact;
import dev.berth.artifact.TensorArtifact.Input;
import dev.berth.content.TableColumns;
import dev.berth.content.TableColumns.Part;
import dev.berth.engine.GraphNames;
import dev.berth.hooks.ElementType;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// Of which columns of a table a model's inputs are made: those that `model.json` names, and as
/// many as the model file says.
final class ModelColumns {

    /// More columns than the largest request has are none. Those of all inputs are an `int`.
    private static final int MOST = 1 << 20;

    private ModelColumns() {}

    /// An input of one column that has no name of its own has the input's. Unknown as a whole where
    /// it is unknown of an input.
    static TableColumns table(TensorArtifact artifact, GraphNames names) {
        var parts = new ArrayList<Part>();
        var inputs = artifact.inputs().isEmpty()
                ? names.inputs().stream()
                        .limit(names.required())
                        .map(name -> new Input(name, ElementType.FLOAT32, List.of()))
                        .toList()
                : artifact.inputs();
        for (int i = 0; i < inputs.size(); i++) {
            var input = inputs.get(i);
            var columns = input.columns();
            var shape = shape(names, i)
                    .or(() -> Optional.of(List.of(columns.size())).filter(_ -> !columns.isEmpty()));
            if (shape.isEmpty()) {
                return TableColumns.UNKNOWN;
            }
            boolean isOne = width(shape.get()) == 1 && columns.isEmpty();
            parts.add(new Part(isOne ? List.of(input.name()) : columns, shape.get()));
        }
        return new TableColumns(parts);
    }

    /// What contradicts the model.
    static List<String> problems(TensorArtifact artifact, GraphNames names) {
        var problems = new ArrayList<String>();
        for (int i = 0; i < artifact.inputs().size(); i++) {
            var input = artifact.inputs().get(i);
            var width = shape(names, i).map(ModelColumns::width);
            if (!input.columns().isEmpty()
                    && width.filter(expected -> expected != input.columns().size())
                            .isPresent()) {
                problems.add("model.json: inputs[%d].columns: found %d, expected %d, as many as the model takes"
                        .formatted(i, input.columns().size(), width.get()));
            }
            if (input.type() == ElementType.STRING && names.types().isEmpty()) {
                problems.add(
                        "model.json: inputs[%d].type: found \"string\", expected a type of numbers: only an ONNX file takes texts"
                                .formatted(i));
            }
        }
        return problems;
    }

    /// That of an input in a record; nothing where the file does not tell, or leaves a length open.
    private static Optional<List<Integer>> shape(GraphNames names, int input) {
        return new RowAxes(names)
                .record(input)
                .filter(_ -> !RowAxes.isWhole(names))
                .filter(shape -> shape.stream().allMatch(length -> length > 0))
                .filter(shape -> width(shape) <= MOST);
    }

    /// How many columns a shape has; at most one more than is of use.
    private static long width(List<Integer> shape) {
        return shape.stream()
                .mapToLong(Integer::longValue)
                .reduce(1, (width, length) -> Math.min(width * length, MOST + 1L));
    }
}
