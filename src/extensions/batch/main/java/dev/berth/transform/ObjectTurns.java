package dev.berth.transform;

import dev.berth.memory.MemoryBudget;
import java.util.concurrent.Semaphore;

/// The turns of a job's objects. As many objects as requests may run have a turn: their records are read
/// and answered. Others have been opened and wait for a turn, and others are on their way to
/// their outputs. So the time that S3 takes to answer keeps no request waiting.
///
/// A turn is room for what a writer to S3 holds. When all answers are there, it keeps room for what is
/// left to be put in place, and the next object has the rest. An object that waits for its turn has a
/// buffer in memory at most: what its connection has received is the system's.
final class ObjectTurns {

    /// Objects without a turn. With 40 ms for each answer of S3, they are enough for some 500
    /// objects/s.
    private static final int OTHERS = 64;

    /// What a writer to S3 holds: a part that is sent, and one that is gathered.
    private static final long MOST_OF_WRITER = 16 << 20;

    private final int all;
    private final Semaphore objects;
    private final MemoryBudget writers;
    private final JobEnd end;

    /// @param requests how many may run at the same time
    /// @param end when no object may have its turn any more
    ObjectTurns(int requests, JobEnd end) {
        this.end = end;
        this.all = requests + OTHERS;
        this.objects = new Semaphore(all);
        // Less than another turn is for objects on their way to their outputs.
        this.writers = new MemoryBudget((requests + 1) * MOST_OF_WRITER - 1);
    }

    /// Waits until another object may be opened; false where the job ends before.
    boolean begin() throws InterruptedException {
        objects.acquire();
        boolean isOver = end.isOver();
        if (isOver) {
            objects.release();
        }
        return !isOver;
    }

    /// Counts an object as done, however it has ended.
    void end() {
        objects.release();
    }

    /// Waits until all objects have ended.
    void awaitEnds() throws InterruptedException {
        objects.acquire(all);
    }

    /// Waits for the turn of an object that is open.
    ///
    /// @throws InterruptedException where the job ends before
    MemoryBudget.Share take() throws InterruptedException {
        var turn = writers.take(MOST_OF_WRITER);
        if (end.isOver()) {
            turn.close();
            throw new InterruptedException("the job has ended");
        }
        return turn;
    }
}
