package dev.berth.serving.many;

import dev.berth.serving.ServedModel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// The models that this process serves. Two may have the same name: versions of one model, of which
/// the older one ends. May be used by any thread.
public final class ModelRegistry {

    private final Set<ServedModel> models = ConcurrentHashMap.newKeySet();

    public void add(ServedModel model) {
        models.add(model);
    }

    void remove(ServedModel model) {
        models.remove(model);
    }

    public Collection<ServedModel> all() {
        return List.copyOf(models);
    }

    /// Has all models refuse new requests, finish the running ones within `drain`, and free what they
    /// hold.
    ///
    /// All of them at the same time, each on a thread of its own but for the last one.
    ///
    /// @throws Exception what the first one threw, the others' suppressed
    public void close(Duration drain) throws Exception {
        var closings = new ArrayList<FutureTask<Boolean>>();
        models.forEach(model -> closings.add(new FutureTask<>(() -> model.close(drain))));
        if (!closings.isEmpty()) {
            closings.subList(0, closings.size() - 1)
                    .forEach(closing ->
                            Thread.ofPlatform().name("berth-unloader").daemon().start(closing));
            closings.getLast().run();
        }
        var failures = new ArrayList<Exception>();
        for (var closing : closings) {
            try {
                closing.get();
            } catch (ExecutionException e) {
                failures.add(e.getCause() instanceof Exception cause ? cause : e);
            }
        }
        if (!failures.isEmpty()) {
            failures.stream().skip(1).forEach(failures.getFirst()::addSuppressed);
            throw failures.getFirst();
        }
    }

    /// Why one of them can't serve; nothing where all can.
    public Optional<String> problem() {
        return models.stream().flatMap(model -> model.problem().stream()).findFirst();
    }
}
