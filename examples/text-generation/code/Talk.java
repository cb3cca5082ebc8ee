import dev.berth.engine.Graph;
import dev.berth.engine.KeptTensor;
import java.util.ArrayList;
import java.util.List;

/// What a session remembers: the tokens so far and the key/value cache of those that were read. So
/// a turn of a chat costs only its own tokens.
///
/// Requests of a session take turns. It goes on with what a request adds when that has written its
/// text to the end. A request that fails or is left by its reader adds nothing: what it wrote into
/// the cache stands behind what counts.
final class Talk implements AutoCloseable {

    private final List<Long> ids = new ArrayList<>();
    private Graph graph;
    private KeptTensor cache;
    private int read;

    /// How many tokens there are so far.
    int size() {
        return ids.size();
    }

    /// How many tokens the cache has.
    int read() {
        return read;
    }

    /// What the model has to read before what is new.
    long[] unread() {
        return ids.subList(read, ids.size()).stream().mapToLong(Long::longValue).toArray();
    }

    /// The cache for a model. Another accelerator's model reads all tokens anew.
    KeptTensor cacheFor(Graph model, Language language) {
        if (graph != model) {
            close();
            cache = model.keep(language.emptyCache());
            graph = model;
            read = 0;
        }
        return cache;
    }

    /// A text was written to its end.
    ///
    /// @param more the tokens of the prompt and of the text
    /// @param inCache how many tokens the cache has now
    void add(List<Long> more, int inCache) {
        ids.addAll(more);
        read = inCache;
    }

    long bytes() {
        return cache == null ? 0 : cache.bytes();
    }

    @Override
    public void close() {
        if (cache != null) {
            cache.close();
        }
    }
}
