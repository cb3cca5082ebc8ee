package dev.berth.artifact;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;

/// How far a model's answers at its precision are those in fp32, measured by `trace.py`.
///
/// @param questions how many questions both were asked
/// @param sameAnswers how many of them both answered with the same words of the context
/// @param largestScoreDifference the largest difference between the scores of the two best answers
///   to a question
public record Agreement(int questions, int sameAnswers, double largestScoreDifference) {

    /// Artifacts in fp32, those for Neuron and those of earlier versions have none.
    static Optional<Agreement> find(ModelJson json) {
        if (!json.has("agreement")) {
            return Optional.empty();
        }
        var agreement = json.at("agreement", "an object");
        return Optional.of(new Agreement(
                agreement.integer("questions"),
                agreement
                        .value("sameAnswers", JsonNode::isInt, "a whole number")
                        .asInt(),
                agreement
                        .value("largestScoreDifference", JsonNode::isNumber, "a number")
                        .asDouble()));
    }

    @Override
    public String toString() {
        return "the same answer as in fp32 to %d of %d questions, scores at most %.2f apart"
                .formatted(sameAnswers, questions, largestScoreDifference);
    }
}
