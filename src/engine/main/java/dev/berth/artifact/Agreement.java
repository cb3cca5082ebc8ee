package dev.berth.artifact;

/// How far a model's answers at its precision are those in fp32, measured by `trace.py`.
///
/// @param questions how many questions both were asked
/// @param sameAnswers how many of them both answered with the same words of the context
/// @param largestScoreDifference the largest difference between the scores of the two best answers
///   to a question
public record Agreement(int questions, int sameAnswers, double largestScoreDifference) {

    @Override
    public String toString() {
        return "the same answer as in fp32 to %d of %d questions, scores at most %.2f apart"
                .formatted(sameAnswers, questions, largestScoreDifference);
    }
}
