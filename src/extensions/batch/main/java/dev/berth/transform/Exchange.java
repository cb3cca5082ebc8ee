package dev.berth.transform;

import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;

/// What becomes of a payload. Called by many threads at the same time, each for a payload of its
/// own.
interface Exchange {

    /// Asks the container, and gives what is written for the payload.
    ///
    /// @throws RuntimeException when the object fails with it
    byte[] output(Payload payload, StoredObject object, Invoker.Room room) throws InterruptedException;

    /// Whether the output that an earlier run has made counts. Otherwise its records are asked again.
    default boolean counts(Payload payload, byte[] output) {
        return true;
    }

    /// Counts the records of an object's output that was there already.
    ///
    /// @return whether it counts, or some of its records are to be asked again
    default boolean counts(Location output) {
        return true;
    }

    /// Is told when an object's output is in its place.
    ///
    /// @param wasThere whether an earlier run has made it
    default void placed(StoredObject object, boolean wasThere) throws InterruptedException {}

    /// Writes what there is beside the outputs, when the objects are done or the job was stopped.
    default void finish() {}

    /// How many records have an error.
    default long errors() {
        return 0;
    }

    /// Whether there are records, and each has an error.
    default boolean hasOnlyErrors() {
        return false;
    }
}
