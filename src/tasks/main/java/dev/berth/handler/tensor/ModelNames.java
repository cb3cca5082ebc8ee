package dev.berth.handler.tensor;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.TensorArtifact;
import dev.berth.engine.GraphNames;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;

/// Compares the names in `model.json` with those of the model itself.
///
/// Inputs go to the model by their order, so other names are fine: a trace often calls its input
/// `x`. The model's own names in another order would swap the inputs. Outputs of a dict have their
/// names, and no others.
final class ModelNames {

    private ModelNames() {}

    /// @throws ModelArtifactException when `model.json` contradicts the model
    static void check(TensorArtifact artifact, GraphNames names) {
        var problems = new ArrayList<String>();
        problemOfInputs(artifact, names).ifPresent(problems::add);
        problems.addAll(ModelColumns.problems(artifact, names));
        problemOfOutputs(artifact, names.outputs()).ifPresent(problems::add);
        if (!problems.isEmpty()) {
            throw new ModelArtifactException(artifact.directory(), problems);
        }
    }

    /// @throws ModelArtifactException when tensors alone can't be given to the model or come from it
    static void checkTypes(TensorArtifact artifact, GraphNames names) {
        names.misfit().ifPresent(misfit -> {
            throw new ModelArtifactException(
                    artifact.directory(),
                    "%s: its forward %s, expected tensors only; wrap it in a module that takes and returns tensors, and save that"
                            .formatted(artifact.file().getFileName(), misfit));
        });
    }

    private static Optional<String> problemOfInputs(TensorArtifact artifact, GraphNames names) {
        var found = artifact.inputs().stream().map(TensorArtifact.Input::name).toList();
        if (found.isEmpty() || names.inputs().isEmpty()) {
            return Optional.empty();
        }
        boolean tooFewOrMany =
                found.size() < names.required() || found.size() > names.inputs().size();
        var expected = tooFewOrMany ? names.inputs() : names.inputs().subList(0, found.size());
        boolean swapped = !found.equals(expected) && new HashSet<>(found).equals(new HashSet<>(expected));
        return tooFewOrMany || swapped
                ? Optional.of("model.json: inputs: found %s, expected %s, in the order of the model's forward"
                        .formatted(found, expected))
                : Optional.empty();
    }

    /// @param names of the dict that the model returns; empty: unknown
    static Optional<String> problemOfOutputs(TensorArtifact artifact, List<String> names) {
        var found = artifact.outputs();
        boolean areKnown = names.containsAll(found) && new HashSet<>(found).size() == found.size();
        return names.isEmpty() || areKnown
                ? Optional.empty()
                : Optional.of(
                        "model.json: outputs: found %s, expected some of %s, each once, the keys of what the model's forward returns"
                                .formatted(found, names));
    }
}
