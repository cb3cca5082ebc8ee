package dev.berth.handler.text;

import dev.berth.artifact.ModelArtifact;
import dev.berth.content.Fields;
import dev.berth.engine.EngineException;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.Labels;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Signature.Column;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// Token classification, such as the names in a text.
///
/// Requests and answers are those of the token-classification pipeline of `transformers` 5. A text
/// that is too long is cut, as there.
public class TokenClassificationHandler extends TextHandler<TokenClassificationHandler.Parameters> {

    /// How to put tokens together, in the pipeline's words.
    ///
    /// @param aggregation what becomes one entity
    /// @param ignored labels that are left out
    public record Parameters(Aggregation aggregation, List<String> ignored) implements TextParameters {

        private Parameters with(Fields fields) {
            return new Parameters(
                    fields.choice("aggregation_strategy", aggregation),
                    fields.texts("ignore_labels").orElse(ignored));
        }
    }

    private final List<String> labels;
    private final EntityFinder finder;

    public TokenClassificationHandler(Path modelDirectory) {
        var artifact = ModelArtifact.open(modelDirectory);
        super(
                artifact,
                "logits",
                true,
                ONE_TEXT,
                Stream.of("entity", "entity_group", "score", "word", "start", "end")
                        .map(Column::ofTexts)
                        .toList(),
                new InputReader<>(
                        artifact,
                        List.of("aggregation_strategy", "ignore_labels"),
                        Parameters::with,
                        new Parameters(Aggregation.NONE, List.of("O"))));
        this.labels = Labels.of(artifact);
        this.finder = new EntityFinder(tokenizer, vocabulary(artifact), labels);
    }

    /// A text has any number of entities, so they are one text of JSON.
    @Override
    public Signature signature() {
        return new Signature(super.signature().inputs(), List.of(Column.ofTexts("entities")));
    }

    /// A list of entities. An `entity` is one token, an `entity_group` those that belong together.
    @Override
    protected Object answer(TaskRecord<EncodedText, Parameters> record, float[] output) {
        int width = output.length / record.input().row().size();
        if (width != labels.size()) {
            throw new EngineException("logits: found %d for each token, expected one for each of the %d labels"
                    .formatted(width, labels.size()));
        }
        var parameters = record.parameters();
        var entities = finder.find(record.input().text().text(), record.input().row(), output, parameters.aggregation);
        return entities.stream()
                .filter(entity -> !parameters.ignored.contains(entity.label()))
                .map(entity -> described(entity, parameters.aggregation))
                .toList();
    }

    private static Map<String, Object> described(EntityFinder.Entity entity, Aggregation aggregation) {
        var described = new LinkedHashMap<String, Object>();
        described.put(aggregation == Aggregation.NONE ? "entity" : "entity_group", entity.label());
        described.put("score", entity.score());
        if (aggregation == Aggregation.NONE) {
            described.put("index", entity.tokens().getFirst().index());
        }
        described.put("word", entity.word());
        described.put("start", entity.tokens().getFirst().start());
        described.put("end", entity.tokens().getLast().end());
        return described;
    }
}
