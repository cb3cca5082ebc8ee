package dev.berth.search;

import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.Tasks;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Function;

/// The tasks of search engines that no others have.
public final class SearchTasks implements Tasks {

    static final String DENSE = "sentence-embeddings";
    static final String SPARSE = "sparse-embeddings";
    static final String RANKING = "text-classification";

    @Override
    public Map<String, Function<Path, TaskHandler<?, ?, ?>>> handlers() {
        return Map.of(SPARSE, SparseEmbeddingHandler::new);
    }
}
