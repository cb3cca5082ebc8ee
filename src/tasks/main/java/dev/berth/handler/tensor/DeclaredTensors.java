package dev.berth.handler.tensor;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.TensorArtifact;
import dev.berth.artifact.TensorArtifact.Input;
import dev.berth.content.TableColumns;
import dev.berth.content.TableColumns.Part;
import dev.berth.content.TensorInputs;
import dev.berth.engine.GraphNames;
import dev.berth.hooks.ElementType;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/// What `model.json` and the model itself say of the tensors that it takes and returns.
///
/// Inputs go to the model by their order, so other names are fine: a trace often calls its input
/// `x`. The model's own names in another order would swap the inputs. Outputs of a dict have their
/// names, and no others.
record DeclaredTensors(TensorArtifact artifact, GraphNames names, RowAxes axes) {

    /// More columns than the largest request has are none. Those of all inputs are an `int`.
    private static final int MOST_COLUMNS = 1 << 20;

    /// Those of `model.json`, else the model's own where it needs several. One input may have any
    /// name. The types are those of the file where it has some.
    TensorInputs inputs() {
        var said = artifact.inputs();
        var own = names.required() > 1 ? names.inputNames().subList(0, names.required()) : List.<String>of();
        return new TensorInputs(
                said.isEmpty() ? own : said.stream().map(Input::name).toList(),
                names.types().isEmpty() ? said.stream().map(Input::type).toList() : names.types(),
                table());
    }

    /// Of which columns of a table inputs are made: those that `model.json` names, and as many as the
    /// model file says. An input of one column that has no name of its own has the input's. Unknown
    /// as a whole where it is unknown of an input.
    private TableColumns table() {
        var parts = new ArrayList<Part>();
        var inputs = artifact.inputs().isEmpty()
                ? names.inputNames().stream()
                        .limit(names.required())
                        .map(name -> new Input(name, ElementType.FLOAT32, List.of()))
                        .toList()
                : artifact.inputs();
        for (int i = 0; i < inputs.size(); i++) {
            var columns = inputs.get(i).columns();
            var shape = shape(i).or(() -> Optional.of(List.of(columns.size())).filter(_ -> !columns.isEmpty()));
            if (shape.isEmpty()) {
                return TableColumns.UNKNOWN;
            }
            boolean isOne = width(shape.get()) == 1 && columns.isEmpty();
            parts.add(new Part(isOne ? List.of(inputs.get(i).name()) : columns, shape.get()));
        }
        return new TableColumns(parts);
    }

    /// The shape of an input in a record; nothing where the file does not tell, or leaves a length
    /// open.
    private Optional<List<Integer>> shape(int input) {
        return axes.record(input)
                .filter(_ -> !axes.isWhole())
                .filter(shape -> shape.stream().allMatch(length -> length > 0))
                .filter(shape -> width(shape) <= MOST_COLUMNS);
    }

    /// How many columns a shape has; at most one more than is of use.
    private static long width(List<Integer> shape) {
        return shape.stream()
                .mapToLong(Integer::longValue)
                .reduce(1, (width, length) -> Math.min(width * length, MOST_COLUMNS + 1L));
    }

    /// @throws ModelArtifactException when `model.json` contradicts the model
    void check() {
        var problems = new ArrayList<String>();
        problemOfInputs().ifPresent(problems::add);
        for (int i = 0; i < artifact.inputs().size(); i++) {
            var input = artifact.inputs().get(i);
            int columns = input.columns().size();
            var width = shape(i).map(DeclaredTensors::width);
            if (columns > 0 && width.filter(expected -> expected != columns).isPresent()) {
                problems.add("model.json: inputs[%d].columns: found %d, expected %d, as many as the model takes"
                        .formatted(i, columns, width.get()));
            }
            if (input.type() == ElementType.STRING && names.types().isEmpty()) {
                problems.add(
                        "model.json: inputs[%d].type: found \"string\", expected a type of numbers: only an ONNX file takes texts"
                                .formatted(i));
            }
        }
        problemOfOutputs().ifPresent(problems::add);
        if (!problems.isEmpty()) {
            throw new ModelArtifactException(artifact.directory(), problems);
        }
    }

    /// @throws ModelArtifactException when tensors alone can't be given to the model or come from it
    void checkTypes() {
        names.misfit().ifPresent(misfit -> {
            throw new ModelArtifactException(
                    artifact.directory(),
                    "%s: its forward %s, expected tensors only; wrap it in a module that takes and returns tensors, and save that"
                            .formatted(artifact.file().getFileName(), misfit));
        });
    }

    private Optional<String> problemOfInputs() {
        var found = artifact.inputs().stream().map(Input::name).toList();
        if (found.isEmpty() || names.inputs().isEmpty()) {
            return Optional.empty();
        }
        boolean tooFewOrMany =
                found.size() < names.required() || found.size() > names.inputs().size();
        var expected = tooFewOrMany ? names.inputNames() : names.inputNames().subList(0, found.size());
        boolean swapped = !found.equals(expected) && new HashSet<>(found).equals(new HashSet<>(expected));
        return tooFewOrMany || swapped
                ? Optional.of("model.json: inputs: found %s, expected %s, in the order of the model's forward"
                        .formatted(found, expected))
                : Optional.empty();
    }

    private Optional<String> problemOfOutputs() {
        var found = artifact.outputs();
        var known = names.outputNames();
        boolean areKnown = known.containsAll(found) && new HashSet<>(found).size() == found.size();
        return known.isEmpty() || areKnown
                ? Optional.empty()
                : Optional.of(
                        "model.json: outputs: found %s, expected some of %s, each once, the keys of what the model's forward returns"
                                .formatted(found, known));
    }
}
