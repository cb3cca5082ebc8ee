package dev.berth.serving.many;

import dev.berth.artifact.ArtifactTree;
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
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/// Loads models that fit, and refuses the others before anything of them is loaded. May be used by
/// any thread.
///
/// What a model needs is estimated from its files, and known better when it has been loaded once. A
/// model that is being loaded counts with all that it needs, because its progress is unknown. When
/// it is loaded the memory is looked at again. If the model has taken what must stay free, it is
/// unloaded.
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

    /// How many artifacts are remembered.
    private static final int KNOWN = 1_000;

    /// The causes of hooks' own exceptions may go in circles.
    private static final int MOST_CAUSES = 20;

    private static final String BUDGET = "models-memory";

    private final ModelStore.Loader loader;

    /// The host, then the devices.
    private final List<Store> stores;

    /// What models may take of all stores together.
    private final OptionalLong budget;

    /// Models make way for one load after the other: a second one would not count what is just being
    /// freed.
    private final ReentrantLock makingWay = new ReentrantLock();

    // All that follows is guarded by this object's monitor.

    private final Map<ServedModel, Load> loading = new LinkedHashMap<>();

    /// What each model that is loaded takes of each store.
    private final Map<ServedModel, List<Footprint>> loaded = new LinkedHashMap<>();

    private long begun;

    /// The most that an artifact has taken of the native heap, by the names and sizes of its files.
    private final Map<Map<Path, Long>, Long> measured = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Map<Path, Long>, Long> eldest) {
            return size() > KNOWN;
        }
    };

    /// A model that is being loaded.
    ///
    /// @param number how many have begun with it
    /// @param needs of each store
    private record Load(long number, List<Footprint> needs) {}

    /// A memory that has too little left.
    ///
    /// @param kept what a model that is loaded takes of it
    private record Shortage(long need, MemoryReading left, ToLongFunction<List<Footprint>> kept) {

        private long missing() {
            return need - left.free();
        }
    }

    /// @param loader loads what fits
    /// @param host the memory of this process
    /// @param devices that of each GPU
    /// @param budget how many bytes of all these the models may take together
    public ModelRoom(ModelStore.Loader loader, Store host, List<Store> devices, OptionalLong budget) {
        this.loader = loader;
        this.stores = Stream.concat(Stream.of(host), devices.stream()).toList();
        this.budget = budget;
    }

    /// @throws ServingException `INSUFFICIENT_MEMORY` when the model does not fit, or has no memory
    ///   left while it loads
    @Override
    public void load(ServedModel model, Path directory, Eviction eviction) throws Exception {
        var files = files(directory);
        takeOrMakeWay(model, directory, files, eviction);
        try {
            var before = NativeHeap.used();
            loader.load(model, directory, eviction);
            // Until then what was read and is not needed any more counts as taken.
            NativeHeap.trim();
            requireNothingShort(model, eviction);
            keep(model, directory, files, before);
        } catch (Throwable e) {
            NativeHeap.trim();
            var shortage = shortage(e);
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

    /// Takes what a model needs until it is loaded.
    ///
    /// @throws ServingException `INSUFFICIENT_MEMORY` when there is not so much
    private void takeOrMakeWay(ServedModel model, Path directory, Map<Path, Long> files, Eviction eviction)
            throws InterruptedException {
        if (take(model, directory, files).isEmpty()) {
            return;
        }
        makingWay.lockInterruptibly();
        try {
            for (var lack = take(model, directory, files); lack.isPresent(); lack = take(model, directory, files)) {
                if (!makeWay(lack.get(), eviction)) {
                    throw tooLarge(model, lack.get(), eviction);
                }
            }
        } finally {
            makingWay.unlock();
        }
    }

    /// Takes it, or says what is missing.
    private synchronized Optional<Shortage> take(ServedModel model, Path directory, Map<Path, Long> files) {
        var needs = needs(directory, files);
        var lackOfStore = shortage(needs, loading.values());
        if (lackOfStore.isPresent()) {
            return lackOfStore;
        }
        if (budget.isPresent()) {
            loaded.keySet().removeIf(ServedModel::isGone);
            long taken = loading.values().stream()
                            .mapToLong(load -> most(load.needs))
                            .sum()
                    + loaded.values().stream().mapToLong(ModelRoom::kept).sum();
            var left = new MemoryReading(budget.getAsLong() - taken, budget.getAsLong(), BUDGET);
            if (left.free() < most(needs)) {
                return Optional.of(new Shortage(most(needs), left, ModelRoom::kept));
            }
        }
        loading.put(model, new Load(++begun, needs));
        return Optional.empty();
    }

    /// What an artifact takes of each store. What it has taken of the host before is known better
    /// than estimated.
    private List<Footprint> needs(Path directory, Map<Path, Long> files) {
        var needs = new ArrayList<Footprint>();
        for (var store : stores) {
            var estimate = files.keySet().stream()
                    .map(directory::resolve)
                    .map(store.need)
                    .reduce(Footprint.NONE, Footprint::plus);
            long known = needs.isEmpty() ? measured.getOrDefault(files, 0L) : 0;
            needs.add(new Footprint(Math.max(estimate.kept(), known), estimate.whileLoading()));
        }
        return List.copyOf(needs);
    }

    private static long kept(List<Footprint> footprints) {
        return footprints.stream().mapToLong(Footprint::kept).sum();
    }

    private static long most(List<Footprint> footprints) {
        return footprints.stream().mapToLong(Footprint::most).sum();
    }

    /// Unloads one idle model, where all of them together would be enough.
    private boolean makeWay(Shortage lack, Eviction eviction) throws InterruptedException {
        var idle = eviction.candidates().stream()
                .filter(model -> kept(model, lack) > 0)
                .toList();
        if (idle.stream().mapToLong(model -> kept(model, lack)).sum() < lack.missing()) {
            return false;
        }
        for (var model : idle) {
            if (eviction.evict(model)) {
                return true;
            }
        }
        return false;
    }

    private synchronized long kept(ServedModel model, Shortage lack) {
        return Optional.ofNullable(loaded.get(model))
                .map(lack.kept::applyAsLong)
                .orElse(0L);
    }

    private ServingException tooLarge(ServedModel model, Shortage lack, Eviction eviction) {
        return ErrorType.INSUFFICIENT_MEMORY.because("model \"%s\" needs about %d MB, found %s, %s"
                .formatted(model.name(), Math.ceilDiv(lack.need, 1L << 20), lack.left, advice(lack, eviction)));
    }

    private String advice(Shortage lack, Eviction eviction) {
        if (lack.need > lack.left.total()) {
            return lack.left.source().equals(BUDGET) ? "raise --models-memory" : "take a machine with more memory";
        }
        if (eviction.equals(Eviction.NONE)) {
            return "unload another first";
        }
        long idle = eviction.candidates().stream()
                .mapToLong(model -> kept(model, lack))
                .sum();
        return "idle models could free %d MB more".formatted(idle >> 20);
    }

    private void requireNothingShort(ServedModel model, Eviction eviction) throws Exception {
        for (var lack = missing(); lack.isPresent(); lack = missing()) {
            makingWay.lockInterruptibly();
            try {
                if (!makeWay(lack.get(), eviction)) {
                    model.unload(Duration.ZERO);
                    throw ErrorType.INSUFFICIENT_MEMORY.because(
                            "model \"%s\" needs %d MB more than there were, found %s, unload another first"
                                    .formatted(
                                            model.name(),
                                            Math.ceilDiv(lack.get().missing(), 1L << 20),
                                            lack.get().left));
                }
            } finally {
                makingWay.unlock();
            }
        }
    }

    /// What models have taken of what must stay free.
    private Optional<Shortage> missing() {
        return shortage(Collections.nCopies(stores.size(), Footprint.NONE), List.of());
    }

    /// The first store that has too little left, once others have what they need of it.
    private Optional<Shortage> shortage(List<Footprint> needs, Collection<Load> others) {
        for (int i = 0; i < stores.size(); i++) {
            int store = i;
            long taken = others.stream()
                    .mapToLong(load -> load.needs.get(store).most())
                    .sum();
            long need = needs.get(store).most();
            var left = stores.get(store).left.get().map(reading -> reading.minus(taken));
            if (left.isPresent() && left.get().free() < need) {
                return Optional.of(
                        new Shortage(need, left.get(), kept -> kept.get(store).kept()));
            }
        }
        return Optional.empty();
    }

    private synchronized void keep(ServedModel model, Path directory, Map<Path, Long> files, OptionalLong before) {
        var after = NativeHeap.used();
        // The first load brings the library of the models, and while another one runs nobody knows what
        // is whose.
        if (begun > 1
                && loading.get(model).number == begun
                && loading.size() == 1
                && before.isPresent()
                && after.isPresent()) {
            measured.merge(files, after.getAsLong() - before.getAsLong(), Math::max);
        }
        loaded.keySet().removeIf(ServedModel::isGone);
        loaded.put(model, needs(directory, files));
        // At once, or another load would count it twice.
        loading.remove(model);
    }

    private synchronized void end(ServedModel model) {
        loading.remove(model);
    }

    /// What says that the heap or a device had no memory, if that is why.
    private static Optional<Throwable> shortage(Throwable e) {
        return Stream.iterate(e, Objects::nonNull, Throwable::getCause)
                .limit(MOST_CAUSES)
                .filter(cause -> cause instanceof OutOfMemoryError || cause instanceof InsufficientMemoryException)
                .findFirst();
    }

    /// The files of an artifact and their sizes.
    private static Map<Path, Long> files(Path directory) {
        var files = new TreeMap<Path, Long>();
        ArtifactTree.files(directory, Integer.MAX_VALUE, _ -> true).forEach((file, found) -> {
            if (found.isRegularFile()) {
                files.put(file, found.size());
            }
        });
        return files;
    }
}
