package dev.berth.search;

import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.Tasks;
import dev.berth.handler.text.TextForm;
import dev.berth.hooks.BadInputException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/// The tasks of search engines that no others have.
public final class SearchTasks implements Tasks {

    static final String DENSE = "sentence-embeddings";
    static final String SPARSE = "sparse-embeddings";
    static final String RANKING = "text-classification";

    /// Says that a model of a ready task can't do what is asked. Of other models nobody knows what they read.
    static Optional<TextForm.Asked> refuse(String field, String task, String expected) {
        if (Tasks.ALL.containsKey(task)) {
            throw new BadInputException(
                    "%s: found a model whose task is %s, expected %s".formatted(field, task, expected));
        }
        return Optional.empty();
    }

    @Override
    public Map<String, Function<Path, TaskHandler<?, ?, ?>>> handlers() {
        return Map.of(SPARSE, SparseEmbeddingHandler::new);
    }
}
