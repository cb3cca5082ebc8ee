package dev.berth.handler.text;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import dev.berth.artifact.ModelJson;
import dev.berth.hooks.Metrics;
import java.nio.file.Path;
import java.util.Optional;

/// The latest answers of a model by what was asked, where `cacheBytes` of `model.json` wants that. Safe for use by
/// many threads.
final class AnswerCache {

    /// What an answer depends on.
    record Asked(TextInput text, Object parameters) {

        /// Those that a caller chooses.
        private long characters() {
            return (long) text.text().length()
                    + text.pair().map(String::length).orElse(0)
                    + parameters.toString().length();
        }
    }

    /// @param bytes that it takes
    private record Kept(Object answer, int bytes) {}

    /// Of the cache itself, and of a text and its parameters.
    private static final int BYTES_OF_AN_ENTRY = 200;

    private final Cache<Asked, Kept> answers;
    private volatile Metrics.Counter hits = _ -> {};

    private AnswerCache(long bytes) {
        this.answers = Caffeine.newBuilder()
                .maximumWeight(Math.min(bytes, Runtime.getRuntime().maxMemory() / 4))
                .weigher((Asked asked, Kept kept) -> Math.clamp(
                        BYTES_OF_AN_ENTRY + Character.BYTES * asked.characters() + kept.bytes, 0, Integer.MAX_VALUE))
                .executor(Runnable::run)
                .build();
    }

    /// @throws dev.berth.artifact.ModelArtifactException when the size is no size
    static Optional<AnswerCache> of(Path directory) {
        var json = ModelJson.ifAny(directory);
        if (!json.has("cacheBytes")) {
            return Optional.empty();
        }
        int bytes = json.integer("cacheBytes");
        json.stopIfWrong();
        return Optional.of(new AnswerCache(bytes));
    }

    void countIn(Metrics metrics) {
        hits = metrics.counter("cache_hits", "texts whose answers were in the cache");
    }

    Optional<Object> find(Asked asked) {
        var found = Optional.ofNullable(answers.getIfPresent(asked));
        found.ifPresent(_ -> hits.increment());
        return found.map(Kept::answer);
    }

    /// @param bytes that the answer takes in memory
    void put(Asked asked, Object answer, int bytes) {
        answers.put(asked, new Kept(answer, bytes));
    }
}
