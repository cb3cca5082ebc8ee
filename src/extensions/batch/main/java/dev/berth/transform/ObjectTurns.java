package dev.berth.transform;

import dev.berth.memory.MemoryBudget;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.BooleanSupplier;

/// The turns of a job's objects. As many objects as requests may run have a turn:
/// their records are read and answered. Others have been opened and wait for a turn, and others are
/// on their way to their outputs. So the time that S3 takes to answer keeps no request waiting.
///
/// An object that waits for its turn has a buffer in memory at most: what its connection has
/// received is the system's. Objects on their way to their outputs have a share of the heap
/// together.
final class ObjectTurns {

    /// Objects without a turn. With 40 ms for each answer of S3, they are enough for some 500
    /// objects/s.
    private static final int OTHERS = 64;

    /// For what S3's writers hold of objects whose turn is over.
    private static final int SHARE_OF_HEAP = 16;

    /// What a writer to S3 holds: a part that is sent, and one that is gathered.
    private static final long MOST_OF_WRITER = 16 << 20;

    private final int all;
    private final Semaphore objects;
    private final Semaphore turns;
    private final MemoryBudget ending = new MemoryBudget(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
    private final BooleanSupplier isOver;

    /// @param requests how many may run at the same time
    /// @param isOver whether no object may have its turn any more
    ObjectTurns(int requests, BooleanSupplier isOver) {
        this.all = requests + OTHERS;
        this.objects = new Semaphore(all);
        this.turns = new Semaphore(requests);
        this.isOver = isOver;
    }

    /// Waits until another object may be opened.
    void begin() throws InterruptedException {
        objects.acquire();
    }

    /// Counts an object as done, however it has ended.
    void end() {
        objects.release();
    }

    /// Waits until all objects have ended.
    void awaitEnds() throws InterruptedException {
        objects.acquire(all);
    }

    /// Waits for the turn of an object that is open; nothing when the job ends before.
    Optional<Turn> take() throws InterruptedException {
        try {
            turns.acquire();
        } catch (InterruptedException e) {
            if (isOver.getAsBoolean()) {
                Thread.currentThread().interrupt();
                return Optional.empty();
            }
            throw e;
        }
        if (isOver.getAsBoolean()) {
            turns.release();
            return Optional.empty();
        }
        return Optional.of(new Turn());
    }

    /// That of one object. For one thread.
    final class Turn implements AutoCloseable {

        private boolean isHeld = true;
        private MemoryBudget.Share rest = ending.share();

        /// Gives the turn to another object: all answers are there, and what the writer holds of them
        /// has to be put in place.
        void pass(long bytes) throws InterruptedException {
            rest = ending.take(Math.clamp(bytes, 1, MOST_OF_WRITER));
            release();
        }

        @Override
        public void close() {
            rest.close();
            release();
        }

        private void release() {
            if (isHeld) {
                isHeld = false;
                turns.release();
            }
        }
    }
}
