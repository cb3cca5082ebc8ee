package dev.berth.image;

import dev.berth.memory.RequestMemory;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/// The turn of a picture to be decoded, until it is closed. Any threads take turns, in order of
/// arrival.
///
/// Small pictures never wait. As many large ones as there are cores are decoded at once, and half
/// as many huge ones. So the pictures of one caller may fill neither the threads of hooks nor all
/// cores, and a photograph does not wait for what takes seconds.
final class DecodingTurn implements AutoCloseable {

    private static final int CORES = Runtime.getRuntime().availableProcessors();

    /// Pixels, as [EncodedImage#work] counts them: some 10 ms.
    private static final long SMALL = 1_000_000;

    /// More than a photograph of 12 million pixels; from here on it takes up to some seconds.
    private static final long LARGE = 16_000_000;

    private static final Semaphore LARGE_ONES = new Semaphore(CORES, true);
    private static final Semaphore HUGE_ONES = new Semaphore(Math.max(1, CORES / 2), true);
    private static final Semaphore SMALL_ONES = new Semaphore(Integer.MAX_VALUE);

    private final Semaphore turns;

    private DecodingTurn(Semaphore turns) {
        this.turns = turns;
    }

    static DecodingTurn take(long work) throws InterruptedException {
        var turns = work <= SMALL ? SMALL_ONES : work <= LARGE ? LARGE_ONES : HUGE_ONES;
        // Without a time, it would not heed those that wait already.
        if (!turns.tryAcquire(0, TimeUnit.SECONDS)) {
            RequestMemory.waiting();
            turns.acquire();
        }
        return new DecodingTurn(turns);
    }

    @Override
    public void close() {
        turns.release();
    }
}
