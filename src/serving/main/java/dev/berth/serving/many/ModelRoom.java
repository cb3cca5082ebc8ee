package dev.berth.serving.many;

import dev.berth.artifact.ArtifactTree;
import dev.berth.artifact.code.Thrown;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.memory.Footprint;
import dev.berth.memory.MemoryReading;
import dev.berth.memory.NativeHeap;
import dev.berth.serving.ServedModel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/// Loads models that fit, and refuses the others before anything of them is loaded. May be used by
/// any thread.
///
/// What a model needs is estimated from its files. A model that is being loaded counts with all that
/// it needs, because its progress is unknown. When it is loaded the memory is looked at again. If the
/// model has taken what must stay free, it is unloaded.
///
/// Where models may make way, idle ones are unloaded until the new one fits. None is where all of
/// them would not be enough.
public final class ModelRoom implements ModelStore.Loader {

    /// A memory that every model is loaded into.
    ///
    /// @param left what models may still take of it; nothing: it does not tell, and keeps no model
    ///   out
    /// @param need what one file of an artifact takes of it
    public record Store(Supplier<Optional<MemoryReading>> left, Function<Path, Footprint> need) {}

    private final ModelStore.Loader loader;

    /// The host, the devices, and what models may take of these together.
    private final List<Store> stores;

    /// Models make way for one load after the other: a second one would not count what is just being
    /// freed.
    private final ReentrantLock makingWay = new ReentrantLock();

    // All that follows is guarded by this object's monitor.

    /// What each model that is being loaded needs of each store.
    private final Map<ServedModel, List<Footprint>> loading = new LinkedHashMap<>();

    /// What each model that is loaded takes of each store.
    private final Map<ServedModel, List<Footprint>> loaded = new LinkedHashMap<>();

    /// A memory that has too little left.
    ///
    /// @param store which of them
    private record Shortage(int store, long need, MemoryReading left) {

        private long missing() {
            return need - left.free();
        }
    }

    /// @param loader loads what fits
    /// @param host the memory of this process
    /// @param devices that of each GPU
    /// @param budget how many bytes of all these the models may take together
    public ModelRoom(ModelStore.Loader loader, Store host, List<Store> devices, Optional<Long> budget) {
        this.loader = loader;
        var memories = Stream.concat(Stream.of(host), devices.stream()).toList();
        long most = budget.orElse(Long.MAX_VALUE);
        var together = new Store(
                () -> Optional.of(new MemoryReading(most - keptTogether(), most, "models-memory")),
                file -> sum(memories.stream().map(store -> store.need.apply(file))));
        this.stores = Stream.concat(memories.stream(), Stream.of(together)).toList();
    }

    /// @throws ServingException `INSUFFICIENT_MEMORY` when the model does not fit, or has no memory
    ///   left while it loads
    @Override
    public void load(ServedModel model, Path directory, Optional<ModelStore> others) throws Exception {
        var needs = needs(directory);
        makeWay(model, others, () -> take(model, needs), lack -> tooLarge(model, lack, others));
        try {
            loader.load(model, directory, others);
            // Until then what was read and is not needed any more counts as taken.
            NativeHeap.trim();
            requireNothingShort(model, others);
            keep(model, needs);
        } catch (Throwable e) {
            NativeHeap.trim();
            var shortage = Thrown.chain(e)
                    .filter(cause -> cause instanceof OutOfMemoryError || cause instanceof InsufficientMemoryException)
                    .findFirst();
            if (shortage.isPresent()) {
                throw ErrorType.INSUFFICIENT_MEMORY.because(
                        "model \"%s\" ran out of memory while it was loaded: %s"
                                .formatted(model.name(), shortage.get().getMessage()),
                        e);
            }
            throw e;
        } finally {
            end(model);
        }
    }

    /// Unloads idle models until nothing is short.
    ///
    /// @param look what is short
    /// @param otherwise why the load ends where all idle models would not be enough
    private void makeWay(
            ServedModel model,
            Optional<ModelStore> others,
            Supplier<Optional<Shortage>> look,
            Function<Shortage, ServingException> otherwise)
            throws InterruptedException {
        if (look.get().isEmpty()) {
            return;
        }
        makingWay.lockInterruptibly();
        try {
            for (var lack = look.get(); lack.isPresent(); lack = look.get()) {
                if (!evictOne(lack.get(), model, others)) {
                    throw otherwise.apply(lack.get());
                }
            }
        } finally {
            makingWay.unlock();
        }
    }

    /// Unloads one idle model, where all of them together would be enough.
    private boolean evictOne(Shortage lack, ServedModel model, Optional<ModelStore> others)
            throws InterruptedException {
        if (idle(model, lack, others) < lack.missing()) {
            return false;
        }
        for (var other : evictable(model, others)) {
            if (kept(other.model, lack) > 0 && others.orElseThrow().evict(other)) {
                return true;
            }
        }
        return false;
    }

    private static List<ModelVersion> evictable(ServedModel model, Optional<ModelStore> others) {
        return others.map(store -> store.evictableFor(model)).orElse(List.of());
    }

    /// How much of what is short idle models keep.
    private long idle(ServedModel model, Shortage lack, Optional<ModelStore> others) {
        return evictable(model, others).stream()
                .mapToLong(other -> kept(other.model, lack))
                .sum();
    }

    private synchronized long kept(ServedModel model, Shortage lack) {
        var footprints = loaded.get(model);
        return footprints == null ? 0 : footprints.get(lack.store).kept();
    }

    /// Takes what a model needs until it is loaded, or says what is missing.
    private synchronized Optional<Shortage> take(ServedModel model, List<Footprint> needs) {
        var lack = shortage(needs, loading.values());
        if (lack.isEmpty()) {
            loading.put(model, needs);
        }
        return lack;
    }

    /// What an artifact takes of each store.
    private List<Footprint> needs(Path directory) {
        var files = new ArrayList<Path>();
        ArtifactTree.files(directory, _ -> true).forEach((file, found) -> {
            if (found.isRegularFile()) {
                files.add(directory.resolve(file));
            }
        });
        return stores.stream().map(store -> sum(files.stream().map(store.need))).toList();
    }

    private static Footprint sum(Stream<Footprint> footprints) {
        return footprints.reduce(Footprint.NONE, Footprint::plus);
    }

    private ServingException tooLarge(ServedModel model, Shortage lack, Optional<ModelStore> others) {
        return ErrorType.INSUFFICIENT_MEMORY.because("model \"%s\" needs about %d MB, found %s, %s"
                .formatted(model.name(), Math.ceilDiv(lack.need, 1L << 20), lack.left, advice(model, lack, others)));
    }

    private String advice(ServedModel model, Shortage lack, Optional<ModelStore> others) {
        if (lack.need > lack.left.total()) {
            return lack.store == stores.size() - 1 ? "raise --models-memory" : "take a machine with more memory";
        }
        if (others.isEmpty()) {
            return "unload another first";
        }
        return "idle models could free %d MB more".formatted(idle(model, lack, others) >> 20);
    }

    /// A model may have taken what must stay free.
    private void requireNothingShort(ServedModel model, Optional<ModelStore> others) throws Exception {
        var none = Collections.nCopies(stores.size(), Footprint.NONE);
        try {
            makeWay(
                    model,
                    others,
                    () -> shortage(none, List.of()),
                    lack -> ErrorType.INSUFFICIENT_MEMORY.because(
                            "model \"%s\" needs %d MB more than there were, found %s, unload another first"
                                    .formatted(model.name(), Math.ceilDiv(lack.missing(), 1L << 20), lack.left)));
        } catch (ServingException e) {
            model.close(Duration.ZERO);
            throw e;
        }
    }

    /// The first store that has too little left, once others have what they need of it.
    private synchronized Optional<Shortage> shortage(List<Footprint> needs, Collection<List<Footprint>> others) {
        for (int i = 0; i < needs.size(); i++) {
            int store = i;
            long taken =
                    others.stream().mapToLong(load -> load.get(store).most()).sum();
            long need = needs.get(store).most();
            var left = stores.get(i).left.get().map(reading -> reading.minus(taken));
            if (left.isPresent() && left.get().free() < need) {
                return Optional.of(new Shortage(store, need, left.get()));
            }
        }
        return Optional.empty();
    }

    /// By those that are loaded.
    private long keptTogether() {
        loaded.keySet().removeIf(ServedModel::isGone);
        return loaded.values().stream()
                .mapToLong(footprints -> footprints.getLast().kept())
                .sum();
    }

    private synchronized void keep(ServedModel model, List<Footprint> footprints) {
        loaded.put(model, footprints);
        // At once, or another load would count it twice.
        loading.remove(model);
    }

    private synchronized void end(ServedModel model) {
        loading.remove(model);
    }
}
