package dev.berth.engine;

import java.util.ArrayList;
import java.util.List;

/// A tensor that stays in the engine's memory from one forward to the next, such as the key/value
/// cache of a text.
///
/// Used by one thread at a time. It is freed when it is closed, at the latest with the graph that
/// made it.
public interface KeptTensor extends AutoCloseable {

    /// What a forward is given, as the engine's own.
    ///
    /// @throws IllegalArgumentException when one of them is not the engine's, closed, or given twice
    static <T extends KeptTensor> List<T> all(List<KeptTensor> kept, Class<T> own) {
        var all = new ArrayList<T>(kept.size());
        for (var each : kept) {
            if (!own.isInstance(each)) {
                throw refused(all.size(), String.valueOf(each), "a tensor that Graph.keep has returned");
            }
            if (each.isClosed()) {
                throw refused(all.size(), "a closed tensor", "an open one");
            }
            if (all.contains(each)) {
                throw refused(all.size(), "the same tensor twice", "another one");
            }
            all.add(own.cast(each));
        }
        return all;
    }

    private static IllegalArgumentException refused(int index, String found, String expected) {
        return new IllegalArgumentException("kept[%d]: found %s, expected %s".formatted(index, found, expected));
    }

    boolean isClosed();

    /// What it takes, in bytes; 0 when it is closed.
    long bytes();

    /// May be called again.
    @Override
    void close();
}
