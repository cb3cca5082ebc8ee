package dev.berth.handler.text;

import dev.berth.artifact.ModelArtifact;
import dev.berth.content.BadRecords;
import dev.berth.content.Documents;
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
import java.util.List;

/// Sentence embeddings: a vector for a text. Pooling, dense layers and normalisation are in the
/// traced file, as the files of sentence-transformers say. An ONNX file may have vectors of tokens
/// only; `pooling` in `model.json` says what becomes of them.
///
/// Vectors are those of `SentenceTransformer.encode`. A text that is too long is cut, as there,
/// unless the request says otherwise.
public class EmbeddingHandler extends TextHandler<EmbeddingHandler.Parameters> {

    private static final List<MediaType> RESPONSE_TYPES = List.of(MediaType.JSON, MediaType.JSON_LINES, MediaType.NPY);

    private static final String ASKED = EmbeddingForm.class.getName();

    /// What is done to a vector, in the words of `encode`.
    ///
    /// @param prompt what stands in front of a text
    /// @param truncateDim how many numbers are kept; at most all
    /// @param normalise whether it is scaled to length 1 afterwards
    /// @param truncation whether a text that is too long is cut; else it is an error
    public record Parameters(String prompt, int truncateDim, boolean normalise, boolean truncation)
            implements TextParameters {

        private Parameters with(Fields fields) {
            return new Parameters(
                    fields.text("prompt").orElse(prompt),
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
                        List.of("prompt", "truncate_dim", "normalize_embeddings", "truncation"),
                        Parameters::with,
                        new Parameters("", Integer.MAX_VALUE, false, true)));
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

    /// Those of other APIs too, such as OpenAI's `{"input": …}`.
    @Override
    protected Documents documents(InvocationRequest request) throws IOException {
        var documents = super.documents(request);
        if (documents instanceof Documents.Body(var body)) {
            for (var form : EmbeddingForm.ALL) {
                var asked = form.read(request, body);
                if (asked.isPresent()) {
                    request.attributes().put(ASKED, asked.get());
                    return new Documents.Records(asked.get().inputs());
                }
            }
        }
        return documents;
    }

    @Override
    protected Object answer(TaskRecord<EncodedText, Parameters> record, float[] output) {
        var parameters = record.parameters();
        var whole = pooling.of(output, record.input().row().size());
        var vector = Arrays.copyOf(whole, Math.min(whole.length, parameters.truncateDim));
        return parameters.normalise ? EmbeddingForm.normalised(vector) : vector;
    }

    /// NumPy's arrays too: a matrix of a row for each text. A request in the form of another API is
    /// answered in that.
    @Override
    public InvocationResponse outputFn(List<Object> answers, InvocationRequest request) throws IOException {
        if (request.attributes().get(ASKED) instanceof EmbeddingForm.Asked asked) {
            return asked.answer(vectors(answers), (int) request.attributes().get(InvocationRequest.TOKENS));
        }
        if (!request.accept().equals(MediaType.NPY)) {
            return super.outputFn(answers, request);
        }
        BadRecords.requireNone(request);
        var vectors = vectors(answers).stream()
                .map(vector -> Tensor.of(vector, vector.length))
                .toList();
        var matrix = vectors.isEmpty() ? Tensor.of(new float[0], 0, 0) : Tensor.stack(vectors);
        return InvocationResponse.of(Npy.write(matrix), MediaType.NPY);
    }

    private static List<float[]> vectors(List<Object> answers) {
        return answers.stream().map(float[].class::cast).toList();
    }
}
