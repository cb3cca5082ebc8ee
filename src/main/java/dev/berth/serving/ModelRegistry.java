package dev.berth.serving;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/// The models that this process serves, by their names. May be used by any thread.
public final class ModelRegistry {

  private final Map<String, ServedModel> models = new ConcurrentHashMap<>();

  /// @throws IllegalStateException when there is one of this name
  public void add(ServedModel model) {
    if (models.putIfAbsent(model.name(), model) != null) {
      throw new IllegalStateException("found a second model %s, expected one".formatted(model.name()));
    }
  }

  /// Adds a model unless there is one of its name.
  boolean addIfAbsent(ServedModel model) {
    return models.putIfAbsent(model.name(), model) == null;
  }

  void remove(ServedModel model) {
    models.remove(model.name(), model);
  }

  public Optional<ServedModel> find(String name) {
    return Optional.ofNullable(models.get(name));
  }

  /// All of them, in no order.
  public Collection<ServedModel> all() {
    return List.copyOf(models.values());
  }

  /// Has all models refuse new requests, finish the running ones within `drain`, and free what they hold.
  public void close(Duration drain) throws Exception {
    for (var model : models.values()) {
      model.close(drain);
    }
  }
}
