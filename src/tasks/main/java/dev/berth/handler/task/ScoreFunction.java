package dev.berth.handler.task;

import java.util.Arrays;

/// What makes scores of a model's output: the pipelines' `function_to_apply`. Computed in float64
/// and rounded once.
public enum ScoreFunction {
    NONE,
    SIGMOID,
    SOFTMAX;

    /// The pipelines' choice where `config.json` has no `problem_type`.
    public static ScoreFunction usual(int labels) {
        return labels == 1 ? SIGMOID : SOFTMAX;
    }

    public float[] of(float[] output) {
        return switch (this) {
            case NONE -> output;
            case SIGMOID -> {
                var scores = new float[output.length];
                for (int i = 0; i < output.length; i++) {
                    scores[i] = (float) (1 / (1 + Math.exp(-output[i])));
                }
                yield scores;
            }
            case SOFTMAX -> softmax(output, 0, output.length);
        };
    }

    public static float[] softmax(float[] output, int from, int count) {
        var values = new double[count];
        Arrays.setAll(values, i -> output[from + i]);
        softmax(values);
        var scores = new float[count];
        for (int i = 0; i < count; i++) {
            scores[i] = (float) values[i];
        }
        return scores;
    }

    /// The softmax of an output, in its place.
    public static void softmax(double[] values) {
        double largest = Arrays.stream(values).reduce(Double.NEGATIVE_INFINITY, Math::max);
        double sum = 0;
        for (int i = 0; i < values.length; i++) {
            values[i] = Math.exp(values[i] - largest);
            sum += values[i];
        }
        for (int i = 0; i < values.length; i++) {
            values[i] /= sum;
        }
    }
}
