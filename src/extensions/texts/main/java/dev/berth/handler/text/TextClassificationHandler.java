package dev.berth.handler.text;

import dev.berth.artifact.ModelArtifact;
import dev.berth.content.Fields;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.Labels;
import dev.berth.handler.task.ScoreFunction;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Signature.Column;
import java.nio.file.Path;
import java.util.List;

/// Text classification: labels for a text or for a pair of texts, such as a question and a passage
/// that is ranked for it.
///
/// Requests and answers are those of the text-classification pipeline of `transformers` 5.
public class TextClassificationHandler extends TextHandler<TextClassificationHandler.Parameters> {

    /// How to classify, in the pipeline's words.
    ///
    /// @param topK the most labels of an answer, the best first
    /// @param listed whether `top_k` was chosen: then an answer is a list
    /// @param function what makes scores of the model's output
    /// @param truncation whether a text that is too long is cut; else it is an error
    public record Parameters(int topK, boolean listed, ScoreFunction function, boolean truncation)
            implements TextParameters {

        /// A `top_k` of null asks for all labels.
        private Parameters with(Fields fields) {
            boolean chosen = fields.has("top_k");
            return new Parameters(
                    fields.integer("top_k", 1, Integer.MAX_VALUE, chosen ? Integer.MAX_VALUE : topK),
                    chosen || listed,
                    fields.choice("function_to_apply", function),
                    fields.bool("truncation", truncation));
        }
    }

    private final List<String> labels;

    public TextClassificationHandler(Path modelDirectory) {
        var artifact = ModelArtifact.open(modelDirectory);
        super(
                artifact,
                "logits",
                false,
                PAIR_OF_TEXTS,
                List.of(Column.ofTexts("label"), Column.of("score", ElementType.FLOAT64)),
                new InputReader<>(
                        artifact,
                        List.of("top_k", "function_to_apply", "truncation"),
                        Parameters::with,
                        new Parameters(
                                1,
                                false,
                                ScoreFunction.usual(
                                        artifact.header().tensors().labels().size()),
                                false)));
        this.labels = Labels.of(artifact);
    }

    /// As the pipeline: an object for a record of a list, a list of one for a text alone, a list
    /// where `top_k` was chosen.
    @Override
    protected Object answer(TaskRecord<EncodedText, Parameters> record, float[] output) {
        var parameters = record.parameters();
        var best = Labels.best(labels, parameters.function.of(output), parameters.topK);
        return parameters.listed || record.input().text().isTextAlone() ? best : best.getFirst();
    }
}
