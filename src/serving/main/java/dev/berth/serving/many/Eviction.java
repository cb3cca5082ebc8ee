package dev.berth.serving.many;

import dev.berth.serving.ServedModel;
import java.util.List;

/// Which models may make way for one that is being loaded.
public interface Eviction {

    /// None: whoever loads a model unloads others first.
    Eviction NONE = new Eviction() {};

    /// Those that are idle, first the one that has not been used for longest.
    default List<ServedModel> candidates() {
        return List.of();
    }

    /// Unloads one of them, and returns when it is gone.
    ///
    /// @return false: it is used again, or somebody else unloads it
    default boolean evict(ServedModel model) throws InterruptedException {
        return false;
    }
}
