package dev.berth.handler.task;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.TracedArtifact;
import dev.berth.engine.EngineException;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;

/// The labels of a classifier.
public final class Labels {

    public record Scored(String label, float score) {}

    private Labels() {}

    /// @throws ModelArtifactException when `model.json` has none
    public static List<String> of(TracedArtifact artifact) {
        if (artifact.header().tensors().labels().isEmpty()) {
            throw new ModelArtifactException(
                    artifact.directory(),
                    "model.json: labels: found none, expected a name for each class of the model");
        }
        return artifact.header().tensors().labels();
    }

    /// The best labels. Of equal scores the first label is the first.
    public static List<Scored> best(List<String> labels, float[] scores, int most) {
        if (scores.length != labels.size()) {
            throw new EngineException("logits: found %d of them, expected one for each of the %d labels"
                    .formatted(scores.length, labels.size()));
        }
        return IntStream.range(0, scores.length)
                .mapToObj(i -> new Scored(labels.get(i), scores[i]))
                .sorted(Comparator.comparingDouble((Scored scored) -> -scored.score))
                .limit(most)
                .toList();
    }
}
