package dev.berth.handler;

import dev.berth.handler.image.ImageClassificationHandler;
import dev.berth.handler.qa.QuestionAnsweringHandler;
import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.Tasks;
import dev.berth.handler.text.EmbeddingHandler;
import dev.berth.handler.text.FillMaskHandler;
import dev.berth.handler.text.TextClassificationHandler;
import dev.berth.handler.text.TokenClassificationHandler;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;

/// The tasks that need no code.
public final class ReadyTasks implements Tasks {

    @Override
    public Map<String, Function<Path, TaskHandler<?, ?, ?>>> handlers() {
        var handlers = new LinkedHashMap<String, Function<Path, TaskHandler<?, ?, ?>>>();
        handlers.put("question-answering", QuestionAnsweringHandler::new);
        handlers.put("text-classification", TextClassificationHandler::new);
        handlers.put("token-classification", TokenClassificationHandler::new);
        handlers.put("fill-mask", FillMaskHandler::new);
        handlers.put("image-classification", ImageClassificationHandler::new);
        handlers.put("sentence-embeddings", EmbeddingHandler::new);
        return handlers;
    }
}
