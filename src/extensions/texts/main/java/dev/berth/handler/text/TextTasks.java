package dev.berth.handler.text;

import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.Tasks;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/// The tasks on texts that need no code.
public final class TextTasks implements Tasks {

    @Override
    public Map<String, Function<Path, TaskHandler<?, ?, ?>>> handlers() {
        var handlers = new LinkedHashMap<String, Function<Path, TaskHandler<?, ?, ?>>>();
        handlers.put("text-classification", TextClassificationHandler::new);
        handlers.put("token-classification", TokenClassificationHandler::new);
        handlers.put("fill-mask", FillMaskHandler::new);
        handlers.put("sentence-embeddings", EmbeddingHandler::new);
        return handlers;
    }
}
