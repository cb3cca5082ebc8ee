package dev.berth.handler.image;

import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.Tasks;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;

/// The task on pictures that needs no code.
public final class ImageTasks implements Tasks {

    @Override
    public Map<String, Function<Path, TaskHandler<?, ?, ?>>> handlers() {
        return Map.of("image-classification", ImageClassificationHandler::new);
    }
}
