package dev.berth.serving;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.memory.Footprint;
import dev.berth.memory.MemoryReading;
import dev.berth.memory.NativeHeap;
import java.io.IOException;
import java.nio.file.FileVisitOption;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Loads models that fit, and refuses the others before anything of them is loaded. May be used by any thread.
///
/// What a model needs is estimated from its files, and known better when it has been loaded once. A model that is being
/// loaded counts with all that it needs, because nobody knows how far it is. When it is loaded the memory is looked at
/// again. If the model has taken what must stay free, it is unloaded.
public final class ModelRoom implements ModelStore.Loader {

  /// A memory that every model is loaded into.
  ///
  /// @param left what models may still take of it; nothing: it does not tell, and keeps no model out
  /// @param need what one file of an artifact takes of it
  public record Store(Supplier<Optional<MemoryReading>> left, Function<Path, Footprint> need) {}

  /// How many artifacts are remembered.
  private static final int KNOWN = 1_000;

  /// The causes of hooks' own exceptions may go in circles.
  private static final int MOST_CAUSES = 20;

  private final ModelStore.Loader loader;
  private final Store host;
  private final List<Store> devices;

  // All that follows is guarded by this object's monitor.

  /// What each model that is being loaded needs of the host and of a device.
  private final Map<ServedModel, Needs> loading = new LinkedHashMap<>();
  /// How many loads have begun.
  private long begun;
  /// The most that an artifact has taken of the native heap, by the names and sizes of its files.
  private final Map<Map<Path, Long>, Long> measured = new LinkedHashMap<>() {
    @Override
    protected boolean removeEldestEntry(Map.Entry<Map<Path, Long>, Long> eldest) {
      return size() > KNOWN;
    }
  };

  private record Needs(long ofHost, List<Long> ofDevices) {}

  /// @param loader loads what fits
  /// @param host the memory of this process
  /// @param devices that of each GPU
  public ModelRoom(ModelStore.Loader loader, Store host, List<Store> devices) {
    this.loader = loader;
    this.host = host;
    this.devices = List.copyOf(devices);
  }

  /// @throws ServingException `INSUFFICIENT_MEMORY` when the model does not fit, or has no memory left while it loads
  @Override
  public void load(ServedModel model, Path directory) throws Exception {
    var files = files(directory);
    long number = take(model, directory, files);
    try {
      var before = NativeHeap.used();
      loader.load(model, directory);
      // Until then what was read and is not needed any more counts as taken.
      NativeHeap.trim();
      requireNothingShort(model);
      remember(number, files, before);
    } catch (Throwable e) {
      NativeHeap.trim();
      var shortage = shortage(e);
      if (shortage.isPresent()) {
        throw new ServingException(ErrorType.INSUFFICIENT_MEMORY,
            "model \"%s\" ran out of memory while it was loaded: %s".formatted(model.name(), shortage.get().getMessage()), e);
      }
      throw e;
    } finally {
      end(model);
    }
  }

  /// Takes what a model needs until it is loaded.
  ///
  /// @return the number of this load
  /// @throws ServingException `INSUFFICIENT_MEMORY` when there is not so much
  private synchronized long take(ServedModel model, Path directory, Map<Path, Long> files) {
    long ofHost = require(model, host, most(host, directory, files, measured.getOrDefault(files, 0L)),
        loading.values().stream().mapToLong(Needs::ofHost).sum());
    var ofDevices = new ArrayList<Long>();
    for (var device : devices) {
      int index = ofDevices.size();
      ofDevices.add(require(model, device, most(device, directory, files, 0),
          loading.values().stream().mapToLong(needs -> needs.ofDevices.get(index)).sum()));
    }
    loading.put(model, new Needs(ofHost, ofDevices));
    return ++begun;
  }

  /// @param kept what it kept when it was loaded before
  private static long most(Store store, Path directory, Map<Path, Long> files, long kept) {
    var estimate = files.keySet().stream().map(directory::resolve).map(store.need).reduce(Footprint.NONE, Footprint::plus);
    return Math.max(estimate.kept(), kept) + estimate.whileLoading();
  }

  private static long require(ServedModel model, Store store, long need, long others) {
    var left = store.left.get().map(reading -> reading.minus(others));
    if (left.isPresent() && left.get().free() < need) {
      throw new ServingException(ErrorType.INSUFFICIENT_MEMORY, "model \"%s\" needs about %d MB, found %s, %s".formatted(
          model.name(), Math.ceilDiv(need, 1L << 20), left.get(),
          need > left.get().total() ? "take a machine with more memory" : "unload another first"));
    }
    return need;
  }

  private void requireNothingShort(ServedModel model) throws Exception {
    var missing = Stream.concat(Stream.of(host), devices.stream()).flatMap(store -> store.left.get().stream())
        .filter(left -> left.free() < 0).findFirst();
    if (missing.isPresent()) {
      model.unload(Duration.ZERO);
      throw new ServingException(ErrorType.INSUFFICIENT_MEMORY,
          "model \"%s\" needs %d MB more than there were, found %s, unload another first".formatted(
              model.name(), Math.ceilDiv(-missing.get().free(), 1L << 20), missing.get()));
    }
  }

  /// The first load brings the library of the models, and while another one runs nobody knows what is whose.
  private synchronized void remember(long number, Map<Path, Long> files, OptionalLong before) {
    var after = NativeHeap.used();
    if (number > 1 && begun == number && loading.size() == 1 && before.isPresent() && after.isPresent()) {
      measured.merge(files, after.getAsLong() - before.getAsLong(), Math::max);
    }
  }

  private synchronized void end(ServedModel model) {
    loading.remove(model);
  }

  /// What says that the heap or a device had no memory, if that is why.
  private static Optional<Throwable> shortage(Throwable e) {
    return Stream.iterate(e, Objects::nonNull, Throwable::getCause).limit(MOST_CAUSES)
        .filter(cause -> cause instanceof OutOfMemoryError || cause instanceof InsufficientMemoryException)
        .findFirst();
  }

  /// The files of an artifact and their sizes.
  private static Map<Path, Long> files(Path directory) throws IOException {
    var files = new TreeMap<Path, Long>();
    try (var found = Files.walk(directory, FileVisitOption.FOLLOW_LINKS)) {
      for (var file : found.filter(Files::isRegularFile).toList()) {
        files.put(directory.relativize(file), Files.size(file));
      }
    }
    return files;
  }
}
