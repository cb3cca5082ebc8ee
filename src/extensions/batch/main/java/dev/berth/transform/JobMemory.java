package dev.berth.transform;

import dev.berth.memory.MemoryBudget;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;

/// The memory of a job between reading and writing: its payloads, and their answers as they come.
///
/// A payload gets a [Share] before it is read, with room for an answer as long as answers have been
/// lately. A longer one is not read on until there is room for it. Only the answer to the oldest
/// request never waits, so that the job goes on: all shares have no more than the budget and one
/// answer. Used by any threads.
final class JobMemory {

    /// A payload's records, its body, what it is joined with, and what is made of these.
    private static final int COPIES = 4;

    /// Of the heap, for payloads and answers, and as much again for what is made of answers. A server
    /// in the same process needs its own, and so do the parts of outputs on their way to S3.
    private static final int SHARE_OF_HEAP = 4;

    /// One is on its way. The others may be read, or have an answer that waits to be written.
    private static final long PAYLOADS_PER_REQUEST = 4;

    /// How much of the longest answer is forgotten with each that is shorter.
    private static final int FORGETTING = 64;

    private final MemoryBudget budget;
    private final MemoryBudget making;
    private final MemoryBudget joining;

    /// What a share has, however small its payload: so that there are not too many.
    private final long least;

    private final int copiesOfAnswer;
    private final Semaphore requests;
    private final AtomicLong usualAnswer = new AtomicLong();

    /// Guarded by the monitor of this, the oldest first.
    private final Deque<Share> asked = new ArrayDeque<>();

    /// @param requests how many may run at the same time
    /// @param copiesOfAnswer how many there are at most while its output is made
    JobMemory(int requests, int copiesOfAnswer) {
        long bytes = Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP;
        this.budget = new MemoryBudget(bytes);
        this.making = new MemoryBudget(bytes);
        this.joining = new MemoryBudget(bytes / 2);
        this.least = bytes / (PAYLOADS_PER_REQUEST * requests);
        this.copiesOfAnswer = copiesOfAnswer;
        // Their answers are written in the order of the records.
        this.requests = new Semaphore(requests, true);
    }

    long bytes() {
        return budget.bytes();
    }

    /// What a payload takes, by the bytes that it has.
    long ofPayload(long bytes) {
        return Math.max(COPIES * bytes, least);
    }

    /// A share for what a payload takes; nothing where that is not free.
    Optional<Share> tryTake(long ofPayload) {
        return budget.tryTake(ofPayload + usualAnswer.get()).map(held -> new Share(held, ofPayload));
    }

    /// Waits for a share. The caller must have none whose answer it does not take.
    Share take(long ofPayload) throws InterruptedException {
        return new Share(budget.take(ofPayload + usualAnswer.get()), ofPayload);
    }

    /// Waits until the lines of an output may be read, one at a time. A few outputs may at once.
    MemoryBudget.Share takeForLines() throws InterruptedException {
        return making.take(making.bytes() / COPIES);
    }

    /// Waits until another output may be joined, which has no turn.
    MemoryBudget.Share takeForJoin() throws InterruptedException {
        return joining.take(ObjectTransform.MOST_OF_WRITER);
    }

    private synchronized void locked(Runnable change) {
        change.run();
        notifyAll();
    }

    /// That of one payload and its answer.
    final class Share implements Invoker.Room, AutoCloseable {

        private final MemoryBudget.Share held;
        private final MemoryBudget.Share made = making.share();
        private long ofPayload;

        /// Of answers that are whole: there are several where a payload is sent in parts.
        private long answered;

        private Share(MemoryBudget.Share held, long ofPayload) {
            this.held = held;
            this.ofPayload = ofPayload;
        }

        /// Keeps what a payload of so many bytes needs, and its answer.
        void shrinkToPayload(long bytes) {
            ofPayload = ofPayload(bytes);
            shrinkTo(ofPayload + usualAnswer.get());
        }

        /// Keeps what an output needs that waits to be written.
        void shrinkTo(long output) {
            held.shrinkTo(Math.max(output, least));
            locked(() -> {});
        }

        /// Whether there is room for an output that need not be asked for.
        boolean tryHold(long output) {
            return held.tryGrowTo(output);
        }

        /// Makes the request for the payload, and its output, when there are few enough of them.
        <T> T ask(Callable<T> request) throws Exception {
            requests.acquire();
            locked(() -> asked.add(this));
            try {
                return request.call();
            } finally {
                made.close();
                locked(() -> asked.remove(this));
                requests.release();
            }
        }

        /// Gives back what an earlier answer took while its output was made: who waits here has nothing
        /// that the oldest request may wait for.
        ///
        /// @throws TransformException for an answer that no heap of this size has room for
        @Override
        public void receive(long bytes) throws InterruptedException {
            made.shrinkTo(0);
            if (bytes > Math.min(2 * bytes() / copiesOfAnswer, Integer.MAX_VALUE / 2)) {
                throw new TransformException(
                        "the answer: found more than %d MB, expected less with a heap of %d MB; JAVA_OPTS=-Xmx gives it more"
                                .formatted(
                                        (2 * bytes() / copiesOfAnswer) >> 20,
                                        Runtime.getRuntime().maxMemory() >> 20));
            }
            synchronized (JobMemory.this) {
                while (!held.tryGrowTo(ofPayload + answered + bytes) && asked.peek() != this) {
                    JobMemory.this.wait();
                }
            }
        }

        @Override
        public void received(long bytes) throws InterruptedException {
            answered += bytes;
            usualAnswer.updateAndGet(usual -> Math.max(bytes, usual - usual / FORGETTING));
            made.growTo(copiesOfAnswer * bytes, Long.MAX_VALUE / 2 + System.nanoTime());
        }

        @Override
        public void close() {
            held.close();
            locked(() -> {});
        }
    }
}
