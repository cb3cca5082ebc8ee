package dev.berth.transform;

import dev.berth.storage.StoredObject;
import java.util.List;
import java.util.stream.IntStream;

/// What one instance does of an object: all of it, or with `--split-objects` a range of its bytes.
/// Where a range's lines begin and end is for [LineReader] to say.
///
/// Which ranges an object has follows from its size and the number of instances alone.
///
/// @param number which of its object's ranges this is, from 0
/// @param count how many ranges the object has
record ObjectRange(StoredObject object, int number, int count) {

    /// A shorter one is not worth the requests for its part.
    static final long LEAST_BYTES = 64 << 10;

    /// @param most how many there are at most
    static List<ObjectRange> of(StoredObject object, int most) {
        int count = Math.clamp(object.size() / LEAST_BYTES, 1, most);
        return IntStream.range(0, count)
                .mapToObj(number -> new ObjectRange(object, number, count))
                .toList();
    }

    boolean isWhole() {
        return count == 1;
    }

    /// The offset of the first byte.
    long start() {
        return start(number);
    }

    /// The offset of the byte behind the last one.
    long end() {
        return start(number + 1);
    }

    long bytes() {
        return end() - start();
    }

    private long start(int number) {
        // No product of a size and a number can overflow here.
        return object.size() / count * number + Math.min(number, object.size() % count);
    }

    /// No two ranges have the same: the key, which may have any characters, is last.
    String name() {
        return "%05d-of-%05d %s".formatted(number, count, object.key());
    }

    /// What [dev.berth.transform.checkpoint.Checkpoints] keep answers for.
    StoredObject checkpointed() {
        return new StoredObject(object.location(), name(), object.size());
    }

    /// For people.
    @Override
    public String toString() {
        return isWhole() ? object.key() : "%s, bytes %d to %d".formatted(object.key(), start(), end() - 1);
    }
}
