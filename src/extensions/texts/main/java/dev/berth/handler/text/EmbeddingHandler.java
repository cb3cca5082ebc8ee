package dev.berth.handler.text;

import dev.berth.artifact.ModelArtifact;
import dev.berth.content.BadRecords;
import dev.berth.content.Fields;
import dev.berth.content.Npy;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Signature.Column;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Sentence embeddings: a vector for a text. Pooling, dense layers and normalisation are in the
/// traced file, as the files of sentence-transformers say. An ONNX file may have vectors of tokens
/// only; `pooling` in `model.json` says what becomes of them.
///
/// Vectors are those of `SentenceTransformer.encode`. A text that is too long is cut, as there,
/// unless the request says otherwise.
public class EmbeddingHandler extends TextHandler<EmbeddingHandler.Parameters> {

    private static final List<MediaType> RESPONSE_TYPES = List.of(MediaType.JSON, MediaType.JSON_LINES, MediaType.NPY);

    /// What is done to a vector, in the words of `encode`.
    ///
    /// @param prompt what stands in front of a text
    /// @param prompts what does so by what the text is for, in the place of `prompt`
    /// @param truncateDim how many numbers are kept; at most all
    /// @param normalise whether it is scaled to length 1 afterwards
    /// @param truncation whether a text that is too long is cut; else it is an error
    public record Parameters(
            String prompt, Map<String, String> prompts, int truncateDim, boolean normalise, boolean truncation)
            implements TextParameters {

        private static final List<String> INPUT_TYPES = List.of("query", "document");

        private Parameters with(Fields fields) {
            var named = Fields.of(fields.object("prompts"), fields.name("prompts"), INPUT_TYPES);
            var all = new HashMap<>(prompts);
            INPUT_TYPES.forEach(type -> named.text(type).ifPresent(text -> all.put(type, text)));
            var typed = fields.word("input_type", INPUT_TYPES).map(all::get);
            return new Parameters(
                    fields.text("prompt").or(() -> typed).orElse(prompt),
                    Map.copyOf(all),
                    fields.integer("truncate_dim", 1, Integer.MAX_VALUE, truncateDim),
                    fields.bool("normalize_embeddings", normalise),
                    fields.bool("truncation", truncation));
        }
    }

    private final Pooling pooling;

    public EmbeddingHandler(Path modelDirectory) {
        var artifact = ModelArtifact.open(modelDirectory);
        super(
                artifact,
                "sentence_embedding",
                !artifact.pooling().isEmpty(),
                ONE_TEXT,
                List.of(),
                new InputReader<>(
                        artifact,
                        List.of(
                                "prompt",
                                "prompts",
                                "input_type",
                                "truncate_dim",
                                "normalize_embeddings",
                                "truncation"),
                        Parameters::with,
                        new Parameters("", Map.of(), Integer.MAX_VALUE, false, true)));
        this.pooling = new Pooling(artifact);
    }

    @Override
    public Signature signature() {
        return new Signature(super.signature().inputs(), List.of(Column.of("embedding", ElementType.FLOAT32, -1)));
    }

    @Override
    public List<MediaType> responseTypes() {
        return RESPONSE_TYPES;
    }

    @Override
    public List<String> openAiPaths() {
        return List.of("/v1/embeddings");
    }

    /// Of own hooks as well, whatever they call it.
    @Override
    protected String askedAs() {
        return "sentence-embeddings";
    }

    /// Where a class of its own does not look at the answers itself.
    @Override
    protected boolean joinsRepeats() {
        return getClass() == EmbeddingHandler.class;
    }

    @Override
    protected int bytes(Object answer) {
        return Float.BYTES * ((float[]) answer).length;
    }

    @Override
    protected Object answer(TaskRecord<EncodedText, Parameters> record, float[] output) {
        var parameters = record.parameters();
        var whole = pooling.of(output, record.input().row().size());
        var vector = Arrays.copyOf(whole, Math.min(whole.length, parameters.truncateDim));
        return parameters.normalise ? Vectors.normalised(vector) : vector;
    }

    /// NumPy's arrays too: a matrix of a row for each text.
    @Override
    protected InvocationResponse written(List<Object> answers, InvocationRequest request) throws IOException {
        if (!request.accept().equals(MediaType.NPY)) {
            return super.written(answers, request);
        }
        BadRecords.requireNone(request);
        var vectors = answers.stream()
                .map(float[].class::cast)
                .map(vector -> Tensor.of(vector, vector.length))
                .toList();
        var matrix = vectors.isEmpty() ? Tensor.of(new float[0], 0, 0) : Tensor.stack(vectors);
        return InvocationResponse.of(Npy.write(matrix), MediaType.NPY);
    }
}
