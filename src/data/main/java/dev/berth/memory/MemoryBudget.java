package dev.berth.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

/// Bytes that threads share out among themselves. All shares together never hold more than there
/// is.
///
/// A share larger than the budget waits until it is alone. Threads that wait are served in order of
/// arrival. The methods `try…` never wait: they take what is free, even while others wait. So a
/// large share that does not fit yet delays no small ones.
///
/// A share that waits to grow goes before those that wait to begin, because these may wait for its
/// end.
public final class MemoryBudget {

    /// Some 146 years, in nanoseconds.
    static final long NEVER = Long.MAX_VALUE / 2;

    private final long all;
    private final LongSupplier clock;

    // Guarded by this.
    /// In order of arrival.
    private final Deque<Share> waiting = new ArrayDeque<>();

    /// What the shares of one model hold together.
    private final Map<Object, Long> ofModels = new HashMap<>();

    private long free;

    /// A budget whose deadlines are those of [System#nanoTime].
    public MemoryBudget(long bytes) {
        this(bytes, System::nanoTime);
    }

    /// @param clock nanoseconds, by which deadlines are given
    public MemoryBudget(long bytes, LongSupplier clock) {
        this.all = bytes;
        this.free = bytes;
        this.clock = clock;
    }

    public long bytes() {
        return all;
    }

    public Share share() {
        return new Share();
    }

    /// Takes a share at once, or nothing where too little is free.
    public Optional<Share> tryTake(long bytes) {
        var share = new Share();
        return share.tryGrowTo(bytes) ? Optional.of(share) : Optional.empty();
    }

    /// Waits for a share.
    public Share take(long bytes) throws InterruptedException {
        var share = new Share();
        var _ = share.growTo(bytes, clock.getAsLong() + NEVER);
        return share;
    }

    synchronized int waiting() {
        return waiting.size();
    }

    private Stream<Share> growing() {
        return waiting.stream().filter(share -> share.held > 0);
    }

    /// The share whose turn it is; null for none.
    private Share next() {
        return growing().findFirst().orElseGet(waiting::peek);
    }

    /// Only one thread looks again, however many wait.
    private void wakeNext() {
        if (!waiting.isEmpty()) {
            LockSupport.unpark(next().waiter);
        }
    }

    /// Bytes of the budget, until they are closed.
    ///
    /// One thread at a time lets it grow. Any thread may close it meanwhile. After that it holds
    /// nothing and never grows.
    public final class Share implements AutoCloseable {

        // Guarded by the budget.
        private long held;

        /// How many bytes it waits for, where it does.
        private long wanted;

        /// Null where it does not wait.
        private Thread waiter;

        private boolean closed;

        /// Null where its model has the budget alone.
        private Object model;

        private Share() {}

        /// Counts it as one of a model's from now on. It holds nothing yet.
        void countFor(Object model) {
            synchronized (MemoryBudget.this) {
                this.model = model;
            }
        }

        /// Whether its model has so much, with other shares, that it may not hold so many bytes more.
        private boolean isRefused(long more) {
            long ofModel = model == null ? 0 : ofModels.getOrDefault(model, 0L);
            return ofModel > held && ofModel + more > all / 2;
        }

        private void add(long bytes) {
            free -= bytes;
            held += bytes;
            if (model != null && bytes != 0) {
                ofModels.merge(model, bytes, (before, more) -> before + more == 0 ? null : before + more);
            }
        }

        /// Grows without waiting, so that it holds so many bytes in all.
        ///
        /// @return false where too little is free or it is closed; then it holds what it held
        public boolean tryGrowTo(long bytes) {
            synchronized (MemoryBudget.this) {
                long more = Math.max(Math.min(bytes, all) - held, 0);
                if (closed || more > free || isRefused(more)) {
                    return false;
                }
                add(more);
                return true;
            }
        }

        /// Waits until it can hold so many bytes in all.
        ///
        /// It does not wait where it and others that wait could block each other by what they hold, nor
        /// where its model holds its half: those of other models would wait behind it.
        ///
        /// @param deadlineNanos by the budget's clock
        /// @return false where the deadline came first, it would block others, its model holds too
        ///   much, or it is closed; then it holds what it held
        public boolean growTo(long bytes, long deadlineNanos) throws InterruptedException {
            synchronized (MemoryBudget.this) {
                if (held > 0 && held >= Math.min(bytes, all)) {
                    return true;
                }
                wanted = Math.min(bytes, all);
                if (held > 0 && wouldBlock()) {
                    return tryGrowTo(bytes);
                }
                waiter = Thread.currentThread();
                waiting.add(this);
            }
            try {
                while (!Thread.interrupted()) {
                    long left = deadlineNanos - clock.getAsLong();
                    synchronized (MemoryBudget.this) {
                        if (next() == this && tryGrowTo(bytes)) {
                            waiting.remove(this);
                            return true;
                        }
                        if (closed || left <= 0 || isRefused(wanted - held)) {
                            return false;
                        }
                    }
                    LockSupport.parkNanos(MemoryBudget.this, left);
                }
                throw new InterruptedException();
            } finally {
                synchronized (MemoryBudget.this) {
                    waiter = null;
                    waiting.remove(this);
                    wakeNext();
                }
            }
        }

        /// Whether there would be too little for one of those that wait, this one included, when all
        /// others had given theirs back.
        private boolean wouldBlock() {
            long heldByWaiting = held + growing().mapToLong(share -> share.held).sum();
            return Stream.concat(Stream.of(this), growing())
                    .anyMatch(share -> share.wanted + heldByWaiting - share.held > all);
        }

        /// Gives back what is more than so many bytes.
        public void shrinkTo(long bytes) {
            synchronized (MemoryBudget.this) {
                add(Math.clamp(bytes, 0, held) - held);
                wakeNext();
            }
        }

        /// Gives everything back. May be called again.
        @Override
        public void close() {
            synchronized (MemoryBudget.this) {
                closed = true;
                LockSupport.unpark(waiter);
                shrinkTo(0);
            }
        }
    }
}
