package dev.berth.handler.text;

import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import java.util.List;
import java.util.Locale;

/// Makes the vector of a text of those of its tokens, as the modules of sentence-transformers do.
final class Pooling {

    /// Several stand side by side, in the order of `model.json`.
    private enum Mode {
        CLS,
        MAX,
        MEAN,
        MEAN_SQRT_LEN_TOKENS,
        /// Later tokens count more, the first 1, the second 2.
        WEIGHTEDMEAN,
        LASTTOKEN
    }

    private static final String NORMALIZE = "normalize";

    private final List<Mode> modes;
    private final boolean normalises;

    /// @throws ModelArtifactException when `model.json` has an unknown mode
    Pooling(ModelArtifact artifact) {
        var names = artifact.pooling();
        this.normalises = !names.isEmpty() && names.getLast().equals(NORMALIZE);
        try {
            this.modes = names.subList(0, names.size() - (normalises ? 1 : 0)).stream()
                    .map(name -> Mode.valueOf(name.toUpperCase(Locale.ROOT)))
                    .toList();
        } catch (IllegalArgumentException e) {
            throw new ModelArtifactException(
                    artifact.directory(),
                    "model.json: pooling: found %s, expected some of cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken, and normalize at the end"
                            .formatted(names),
                    e);
        }
    }

    /// @param output the vectors of the tokens one behind the other; the vector of the text where the
    ///   model pools
    float[] of(float[] output, int tokens) {
        if (modes.isEmpty()) {
            return output;
        }
        int width = output.length / tokens;
        var vector = new float[modes.size() * width];
        for (int m = 0; m < modes.size(); m++) {
            for (int i = 0; i < width; i++) {
                vector[m * width + i] = (float) pooled(modes.get(m), output, i, width, tokens);
            }
        }
        return normalises ? Vectors.normalised(vector) : vector;
    }

    /// One number of the vector.
    private static double pooled(Mode mode, float[] output, int place, int width, int tokens) {
        double sum = 0;
        double most = Double.NEGATIVE_INFINITY;
        for (int token = 0; token < tokens; token++) {
            double value = output[token * width + place];
            sum += mode == Mode.WEIGHTEDMEAN ? value * (token + 1) : value;
            most = Math.max(most, value);
        }
        return switch (mode) {
            case CLS -> output[place];
            case LASTTOKEN -> output[(tokens - 1) * width + place];
            case MAX -> most;
            case MEAN -> sum / tokens;
            case MEAN_SQRT_LEN_TOKENS -> sum / Math.sqrt(tokens);
            case WEIGHTEDMEAN -> sum / ((long) tokens * (tokens + 1) / 2.0);
        };
    }
}
