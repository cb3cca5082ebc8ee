package dev.berth.handler.qa;

import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.Tasks;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;

/// The task of answering questions, which needs no code.
public final class QuestionAnsweringTask implements Tasks {

    @Override
    public Map<String, Function<Path, TaskHandler<?, ?, ?>>> handlers() {
        return Map.of("question-answering", QuestionAnsweringHandler::new);
    }
}
