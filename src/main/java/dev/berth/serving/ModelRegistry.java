package dev.berth.serving;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/// The models that this process serves, by their names. May be used by any thread.
public final class ModelRegistry {

  private final Map<String, ServedModel> models = new ConcurrentHashMap<>();

  /// @throws IllegalStateException when there is one of this name
  public void add(ServedModel model) {
    if (models.putIfAbsent(model.name(), model) != null) {
      throw new IllegalStateException("found a second model %s, expected one".formatted(model.name()));
    }
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
  ///
  /// All of them at the same time, each on a thread of its own but for the last one.
  ///
  /// @throws Exception what the first one threw, the others' suppressed
  public void close(Duration drain) throws Exception {
    var closings = new ArrayDeque<FutureTask<Boolean>>();
    models.values().forEach(model -> closings.add(new FutureTask<>(() -> model.close(drain))));
    var last = closings.peekLast();
    closings.forEach(closing -> {
      if (closing == last) {
        closing.run();
      } else {
        Thread.ofPlatform().name("berth-unloader").daemon().start(closing);
      }
    });
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
    return models.values().stream().flatMap(model -> model.problem().stream()).findFirst();
  }
}
