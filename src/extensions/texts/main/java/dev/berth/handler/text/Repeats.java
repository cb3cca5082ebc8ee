package dev.berth.handler.text;

import dev.berth.handler.text.AnswerCache.Asked;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/// The records of a request, of which the model gets each once, and none whose answer is in the cache. Used by
/// one thread at a time.
final class Repeats<R> {

    private final Optional<AnswerCache> cache;

    /// By the records of the request.
    private final List<Asked> all;

    private final Map<Asked, Object> known = new LinkedHashMap<>();
    private final Map<Asked, R> unknown = new LinkedHashMap<>();

    Repeats(List<R> records, Function<R, Asked> asking, Optional<AnswerCache> cache) {
        this.cache = cache;
        this.all = new ArrayList<>(records.size());
        for (var record : records) {
            var asked = asking.apply(record);
            all.add(asked);
            if (!known.containsKey(asked) && !unknown.containsKey(asked)) {
                cache.flatMap(answers -> answers.find(asked))
                        .ifPresentOrElse(answer -> known.put(asked, answer), () -> unknown.put(asked, record));
            }
        }
    }

    List<R> unknown() {
        return List.copyOf(unknown.values());
    }

    /// The answers to all records.
    ///
    /// @param answers to the unknown ones
    /// @param bytes that an answer takes
    List<Object> all(List<Object> answers, ToIntFunction<Object> bytes) {
        int i = 0;
        for (var asked : unknown.keySet()) {
            var answer = answers.get(i++);
            known.put(asked, answer);
            cache.ifPresent(kept -> kept.put(asked, answer, bytes.applyAsInt(answer)));
        }
        return all.stream().map(known::get).toList();
    }
}
