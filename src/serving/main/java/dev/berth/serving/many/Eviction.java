package dev.berth.serving.many;

import dev.berth.serving.ServedModel;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/// Which models may make way for one that is being loaded: the idle ones of a directory. Those of
/// `POST /models` can't come back by themselves, so they stay.
///
/// @param store empty: none may, and others are unloaded first
/// @param except the name of the model that is being loaded
public record Eviction(Optional<ModelStore> store, String except) {

    public static final Eviction NONE = new Eviction(Optional.empty(), "");

    static Eviction of(ModelStore store, String except) {
        return new Eviction(Optional.of(store), except);
    }

    /// The first one has not been used for longest.
    List<ServedModel> candidates() {
        return store.stream()
                .flatMap(ModelStore::named)
                .filter(version -> version.isReady()
                        && version.order.files().isPresent()
                        && !version.name().equals(except))
                .map(version -> version.model)
                .filter(ServedModel::isIdle)
                .sorted(Comparator.comparingLong(ServedModel::lastUsed))
                .toList();
    }

    /// Unloads one of them, and returns when it is gone.
    ///
    /// @return false: it is used again, or somebody else unloads it
    boolean evict(ServedModel model) throws InterruptedException {
        return store.isPresent() && store.get().evict(model);
    }
}
