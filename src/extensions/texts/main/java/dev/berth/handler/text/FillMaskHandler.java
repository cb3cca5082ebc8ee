package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.content.Fields;
import dev.berth.engine.EngineException;
import dev.berth.handler.task.Best;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.ScoreFunction;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Signature.Column;
import dev.berth.memory.RequestMemory;
import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.Vocabulary;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;

/// Fills in a masked token of a text, such as `[MASK]` or `<mask>`.
///
/// Requests and answers are those of the fill-mask pipeline of `transformers` 5.
public class FillMaskHandler extends TextHandler<FillMaskHandler.Parameters> {

    /// How to fill in, in the pipeline's words.
    ///
    /// @param topK how many tokens are answered for each mask
    /// @param targets the tokens to choose from; empty: all
    /// @param truncation whether a text that is too long is cut; else it is an error
    public record Parameters(int topK, List<String> targets, boolean truncation) implements TextParameters {

        private Parameters with(Fields fields) {
            var chosen = fields.texts("targets").orElse(targets);
            return new Parameters(
                    fields.integer("top_k", 1, MAX_TOP_K, topK), chosen, fields.bool("truncation", truncation));
        }
    }

    /// A token in the place of a mask, as it is answered.
    ///
    /// @param sequence the text with it
    public record Filled(float score, long token, String token_str, String sequence) {}

    private static final int MAX_TOP_K = 1000;

    /// The logit, as the engine returns it and as it is read, and the score.
    private static final int BYTES_OF_A_SCORE = 3 * Float.BYTES;

    private final Vocabulary vocabulary;
    private final String maskToken;
    private final long mask;
    private final boolean scoresAll;

    public FillMaskHandler(Path modelDirectory) {
        var artifact = ModelArtifact.open(modelDirectory);
        super(
                artifact,
                "logits",
                true,
                ONE_TEXT,
                // A text has several tokens.
                List.of(
                        Column.of("score", ElementType.FLOAT64, -1),
                        Column.of("token", ElementType.INT64, -1),
                        Column.ofTexts("token_str", -1),
                        Column.ofTexts("sequence", -1)),
                new InputReader<>(
                        artifact,
                        List.of("top_k", "targets", "truncation"),
                        Parameters::with,
                        new Parameters(5, List.of(), false)));
        // Of what trace.py makes, only a file of any shape gathers the masks.
        this.scoresAll = !artifact.shapes().isDynamic()
                || artifact.header().origin().torch().isEmpty();
        this.vocabulary = vocabulary(artifact);
        this.maskToken = tokenizer.maskToken().orElse("");
        this.mask = vocabulary
                .id(maskToken)
                .orElseThrow(() -> new ModelArtifactException(
                        artifact.directory(),
                        "tokenizer_config.json: mask_token: found \"%s\", expected the token of tokenizer.json to fill in"
                                .formatted(maskToken)));
    }

    @Override
    protected void checkRow(Encoding row, String name) {
        int masks = places(row.ids()).length;
        if (masks == 0) {
            throw new BadInputException(
                    "%s: found no %s, expected one in the place that is to be filled in".formatted(name, maskToken));
        }
        int scored = scoresAll ? row.size() : masks;
        RequestMemory.charge((long) scored * vocabulary.size() * BYTES_OF_A_SCORE);
    }

    @Override
    protected int[] places(long[] ids) {
        return IntStream.range(0, ids.length).filter(i -> ids[i] == mask).toArray();
    }

    @Override
    protected String example() {
        return "The engine is %s.".formatted(maskToken);
    }

    /// The pipeline answers a list of one text as the text alone.
    @Override
    protected JsonNode listed(JsonNode inputs, String name) {
        return inputs.isArray() && inputs.size() == 1 && !inputs.path(0).isArray() ? inputs.path(0) : inputs;
    }

    /// A list of tokens, the best first; of several masks a list of those.
    @Override
    protected Object answer(TaskRecord<EncodedText, Parameters> record, float[] output) {
        var places = places(record.input().row().ids());
        int width = output.length / places.length;
        if (width < vocabulary.size()) {
            throw new EngineException(
                    "logits: found %d for each token, expected one for each of the %d tokens of tokenizer.json"
                            .formatted(width, vocabulary.size()));
        }
        var answers = IntStream.range(0, places.length)
                .mapToObj(i ->
                        filled(record, ScoreFunction.softmax(output, i * width, width), places[i], places.length == 1))
                .toList();
        return answers.size() == 1 ? answers.getFirst() : answers;
    }

    private List<Filled> filled(TaskRecord<EncodedText, Parameters> record, float[] scores, int place, boolean single) {
        var parameters = record.parameters();
        var tokens = parameters.targets.isEmpty()
                ? IntStream.range(0, scores.length)
                : parameters.targets.stream().mapToInt(this::target).distinct();
        var best = new Best(parameters.topK);
        tokens.forEachOrdered(token -> best.add(token, scores[token]));
        return best.found().stream()
                .map(token -> filled(record.input().row(), place, token.number(), (float) token.score(), single))
                .toList();
    }

    private Filled filled(Encoding row, int place, long token, float score, boolean single) {
        var ids = row.ids().clone();
        ids[place] = token;
        return new Filled(score, token, tokenizer.decode(new long[] {token}, false), tokenizer.decode(ids, single));
    }

    /// Its id; of a text that is no token the first of its tokens.
    private int target(String target) {
        long id = vocabulary.id(target).orElseGet(() -> {
            var tokens = tokenizer.tokens(target).ids();
            if (tokens.length == 0) {
                throw new BadInputException(
                        "parameters.targets: found \"%s\", which has no tokens, expected a word".formatted(target));
            }
            return tokens[0];
        });
        return Math.toIntExact(id);
    }
}
