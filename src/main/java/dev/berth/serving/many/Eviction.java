package dev.berth.serving.many;

import dev.berth.serving.ServedModel;
import java.util.List;

/// Which models may make way for one that is being loaded.
public interface Eviction {

  /// None: whoever loads a model unloads others first.
  Eviction NONE =
      new Eviction() {
        @Override
        public List<ServedModel> candidates() {
          return List.of();
        }

        @Override
        public boolean evict(ServedModel model) {
          return false;
        }
      };

  /// Those that are idle, first the one that has not been used for longest.
  List<ServedModel> candidates();

  /// Unloads one of them, and returns when it is gone.
  ///
  /// @return false: it is used again, or somebody else unloads it
  boolean evict(ServedModel model) throws InterruptedException;
}
