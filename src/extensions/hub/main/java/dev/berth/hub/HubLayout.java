package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelLayout;
import dev.berth.json.JsonText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// Has `--model-dir` take a directory of Hugging Face that holds an ONNX file.
public final class HubLayout implements ModelLayout {

    /// What has no tokenizer and no task that is known here is the tensor handler's.
    @Override
    public Optional<JsonNode> describe(Path directory) {
        boolean isOne = Files.isRegularFile(directory.resolve("config.json"))
                && !Files.exists(directory.resolve("code"))
                && !ModelFiles.in(directory).isEmpty()
                && (Files.exists(directory.resolve("tokenizer.json"))
                        || Files.exists(directory.resolve("tokenizer_config.json"))
                        || needsNoTokenizer(directory));
        if (!isOne) {
            return Optional.empty();
        }
        var model = new HubModel(directory, Optional.empty());
        HubTask.of(model);
        return Optional.of(model.description.set(WARNINGS, JsonText.tree(model.warnings)));
    }

    private static boolean needsNoTokenizer(Path directory) {
        try {
            return JsonText.read(directory.resolve("config.json"))
                    .path("architectures")
                    .toString()
                    .contains(HubTask.IMAGE_CLASSIFICATION.architecture);
        } catch (IOException _) {
            return false;
        }
    }
}
