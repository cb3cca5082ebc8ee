package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.handler.task.HubFiles;
import dev.berth.handler.task.HubTask;
import dev.berth.tokenizer.Tokenizer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The task of [FillMaskHandler].
public final class FillMask extends HubTask {

    public FillMask() {
        super("fill-mask", "ForMaskedLM", FillMaskHandler::new);
    }

    /// With modules it makes vectors of sentences.
    @Override
    public Optional<String> shownBy(HubFiles model) {
        return super.shownBy(model).filter(_ -> !model.has(SentenceEmbeddings.MODULES));
    }

    @Override
    public void describe(HubFiles model, ObjectNode json) {
        model.outputs(json, "logits", "logits");
        model.rows(json);
    }

    /// With the second word to be filled in.
    @Override
    public List<ObjectNode> requests(List<Passage> passages, HubFiles model, ObjectNode json) throws IOException {
        try (var tokenizer = Tokenizer.load(model.directory())) {
            var mask = tokenizer.maskToken().orElse("");
            return passages.stream()
                    .map(passage -> {
                        var words = new ArrayList<>(List.of(passage.context().split(" ")));
                        words.set(Math.min(1, words.size() - 1), mask);
                        return request(String.join(" ", words), Map.of("truncation", true));
                    })
                    .toList();
        }
    }

    @Override
    public boolean isSame(JsonNode one, JsonNode other, JsonNode json, double near) {
        return one.at("/0/token").equals(other.at("/0/token"));
    }
}
