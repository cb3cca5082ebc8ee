package dev.berth.transform;

import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.util.concurrent.atomic.LongAdder;

/// What becomes of a payload, and how many records have an error in the place of an answer. Called by
/// many threads at the same time, each for a payload of its own.
abstract class Exchange {

    private final JobEnd end;
    private final LongAdder records = new LongAdder();
    private final LongAdder asked = new LongAdder();
    private final LongAdder errors = new LongAdder();

    /// @param end is told of each error
    Exchange(JobEnd end) {
        this.end = end;
    }

    /// Asks the container, and gives what is written for the payload.
    ///
    /// @throws RuntimeException when the object fails with it
    abstract byte[] output(Payload payload, StoredObject object, Invoker.Room room) throws InterruptedException;

    /// Whether the output that an earlier run has made counts. Otherwise its records are asked again.
    abstract boolean counts(Payload payload, byte[] output);

    /// Counts the records of an object's output that was there already.
    ///
    /// @return whether it counts, or some of its records are to be asked again
    abstract boolean counts(Location output);

    /// Is told when an object's output is in its place.
    ///
    /// @param wasThere whether an earlier run has made it
    void placed(StoredObject object, boolean wasThere) {}

    /// Writes what there is beside the outputs, when the objects are done or the job was stopped.
    void finish() {}

    /// Whether there are records, and each has an error.
    boolean hasOnlyErrors() {
        return errors() > 0 && errors() == records();
    }

    /// Counts records that have an answer or an error, of this run or of an earlier one.
    final void came(long count) {
        records.add(count);
    }

    /// Counts records whose answers or errors this run asked for.
    final void asked(long count) {
        asked.add(count);
    }

    /// Counts a record of this run.
    final void failed(String key, String reason) {
        errors.increment();
        end.failed(key, reason);
    }

    /// Counts records of an earlier run.
    final void failedBefore(long records) {
        errors.add(records);
    }

    final long records() {
        return records.sum();
    }

    final long asked() {
        return asked.sum();
    }

    final long errors() {
        return errors.sum();
    }
}
