package dev.berth.search;

import dev.berth.artifact.ModelArtifact;
import dev.berth.content.Fields;
import dev.berth.engine.EngineException;
import dev.berth.handler.task.Best;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.RowModel;
import dev.berth.handler.task.TaskRecord;
import dev.berth.handler.text.TextHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Signature.Column;
import dev.berth.memory.RequestMemory;
import dev.berth.tokenizer.Vocabulary;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/// Sparse embeddings: the weights of the tokens of the vocabulary that are near to a text, as SPLADE and
/// OpenSearch's neural sparse models have them.
///
/// A file that `trace.py` has made has a weight for each token of the vocabulary. One with the logits of a
/// masked language model is pooled here: the largest of all tokens, log(1 + relu). Weights are those of
/// `SparseEncoder.encode`. Where `idf.json` is beside the model, a query gets those of its tokens from there,
/// without a forward.
public class SparseEmbeddingHandler extends TextHandler<SparseEmbeddingHandler.Parameters> {

    private static final List<MediaType> RESPONSE_TYPES = List.of(MediaType.JSON, MediaType.JSON_LINES);

    /// As the engine returns it, as it is read, and pooled.
    private static final int BYTES_OF_A_WEIGHT = 3 * Float.BYTES;

    /// On a GPU. On a CPU a row goes by itself.
    private static final int ROWS_OF_A_BATCH = 32;

    /// Some hundred weights.
    private static final int BYTES_OF_AN_ANSWER = 32 << 10;

    /// Of a map: the entry, its number, and the name of one that has digits.
    private static final int BYTES_OF_AN_ENTRY = 112;

    /// How answers name a token, in OpenSearch's words.
    public enum Format {
        /// As the vocabulary spells it.
        WORD,
        TOKEN_ID
    }

    /// Which weights are answered.
    ///
    /// @param prompt what stands in front of a text
    /// @param isQuery whether a text is a query; else it is a document
    /// @param topK the most of them, the largest first
    /// @param pruneRatio the least of them, as a part of the largest
    /// @param truncation whether a text that is too long is cut; else it is an error
    public record Parameters(
            String prompt, boolean isQuery, int topK, double pruneRatio, Format format, boolean truncation)
            implements TextParameters {

        private static final List<String> NAMES =
                List.of("prompt", "input_type", "top_k", "prune_ratio", "sparse_embedding_format", "truncation");

        private Parameters with(Fields fields) {
            return new Parameters(
                    fields.text("prompt").orElse(prompt),
                    fields.word("input_type", List.of("query", "document"))
                            .map("query"::equals)
                            .orElse(isQuery),
                    fields.integer("top_k", 1, Integer.MAX_VALUE, topK),
                    fields.number("prune_ratio", 0, 1).orElse(pruneRatio),
                    fields.choice("sparse_embedding_format", format),
                    fields.bool("truncation", truncation));
        }
    }

    private final Vocabulary vocabulary;
    private final Optional<QueryWeights> ofQueries;
    private final boolean isPooled;
    private final int longest;

    public SparseEmbeddingHandler(Path modelDirectory) {
        var artifact = ModelArtifact.open(modelDirectory);
        boolean isPooled = artifact.outputs().equals(List.of("sparse_embedding"));
        super(
                artifact,
                isPooled ? "sparse_embedding" : "logits",
                !isPooled,
                ONE_TEXT,
                List.of(),
                new InputReader<>(
                        artifact,
                        Parameters.NAMES,
                        Parameters::with,
                        new Parameters("", false, Integer.MAX_VALUE, 0, Format.WORD, true)));
        this.isPooled = isPooled;
        this.longest = tokenizer.truncation(artifact.longestRow()).maxLength();
        this.vocabulary = vocabulary(artifact);
        this.ofQueries = QueryWeights.of(artifact, vocabulary);
    }

    /// A text has any number of weights, so they are one text of JSON.
    @Override
    public Signature signature() {
        return new Signature(super.signature().inputs(), List.of(Column.ofTexts("sparse_embedding")));
    }

    @Override
    public List<MediaType> responseTypes() {
        return RESPONSE_TYPES;
    }

    /// Where a class of its own does not look at the answers itself.
    @Override
    protected boolean joinsRepeats() {
        return getClass() == SparseEmbeddingHandler.class;
    }

    @Override
    protected int bytes(Object answer) {
        return BYTES_OF_AN_ENTRY * ((SparseEmbedding) answer).weights().size();
    }

    /// What the forwards that run at once take, and all answers.
    @Override
    public List<TaskRecord<EncodedText, Parameters>> inputFn(InvocationRequest request) throws IOException {
        var records = super.inputFn(request);
        int longestRow = records.stream()
                .filter(record -> !isLookedUp(record))
                .mapToInt(this::length)
                .max()
                .orElse(0);
        long rows = isPooled
                ? Math.min(records.size(), ROWS_OF_A_BATCH)
                : Math.min(records.size(), Runtime.getRuntime().availableProcessors()) * (long) longestRow;
        RequestMemory.charge(rows * vocabulary.size() * BYTES_OF_A_WEIGHT + records.size() * (long) BYTES_OF_AN_ANSWER);
        return records;
    }

    @Override
    public List<Object> predictFn(List<TaskRecord<EncodedText, Parameters>> records, RowModel model) {
        var documents = records.stream().filter(record -> !isLookedUp(record)).toList();
        var answers = super.predictFn(documents, model).iterator();
        return records.stream()
                .map(record -> isLookedUp(record) ? lookedUp(record) : answers.next())
                .toList();
    }

    private boolean isLookedUp(TaskRecord<EncodedText, Parameters> record) {
        return record.parameters().isQuery && ofQueries.isPresent();
    }

    private Object lookedUp(TaskRecord<EncodedText, Parameters> record) {
        return embedding(record, ofQueries.orElseThrow().of(record.input().row()));
    }

    @Override
    protected Object answer(TaskRecord<EncodedText, Parameters> record, float[] output) {
        int tokens = isPooled ? 1 : record.input().row().size();
        int width = output.length / tokens;
        if (width < vocabulary.size()) {
            throw new EngineException("found %d weights, expected one for each of the %d tokens of tokenizer.json"
                    .formatted(width, vocabulary.size()));
        }
        return embedding(record, isPooled ? output : pooled(output, width));
    }

    /// Of the logits of a text's tokens, one token behind the other.
    private static float[] pooled(float[] logits, int width) {
        var weights = new float[width];
        for (int i = 0; i < logits.length; i++) {
            weights[i % width] = Math.max(weights[i % width], logits[i]);
        }
        for (int i = 0; i < width; i++) {
            weights[i] = (float) Math.log1p(weights[i]);
        }
        return weights;
    }

    private SparseEmbedding embedding(TaskRecord<EncodedText, Parameters> record, float[] weights) {
        var parameters = record.parameters();
        var best = new Best(parameters.topK);
        for (int id = 0; id < weights.length; id++) {
            // A model may have more of them than the tokenizer.
            if (weights[id] > 0 && !vocabulary.token(id).isEmpty()) {
                best.add(id, weights[id]);
            }
        }
        var found = best.found();
        double least = found.isEmpty() ? 0 : found.getFirst().score() * parameters.pruneRatio;
        var kept = new LinkedHashMap<String, Float>();
        found.stream()
                .filter(weight -> weight.score() >= least)
                .forEach(weight -> kept.put(name(weight.number(), parameters.format), (float) weight.score()));
        return new SparseEmbedding(kept, isTruncated(record));
    }

    private String name(long id, Format format) {
        return format == Format.TOKEN_ID ? String.valueOf(id) : vocabulary.token(id);
    }

    /// Whether tokens begin behind the first character of the text, or end before its last one.
    private boolean isTruncated(TaskRecord<EncodedText, Parameters> record) {
        var row = record.input().row();
        var text = record.parameters().prompt() + record.input().text().text();
        var own = IntStream.range(0, row.size())
                .filter(i -> row.sequences()[i] >= 0)
                .toArray();
        int first = Arrays.stream(own).map(i -> row.starts()[i]).min().orElse(0);
        int last = Arrays.stream(own).map(i -> row.ends()[i]).max().orElse(0);
        return row.size() >= longest
                && (last < text.stripTrailing().length()
                        || first > text.length() - text.stripLeading().length());
    }
}
