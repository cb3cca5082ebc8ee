package dev.berth.memory;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

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
    private static final long NEVER = Long.MAX_VALUE / 2;

    private final long all;
    private final LongSupplier clock;
    private final ReentrantLock lock = new ReentrantLock();

    /// These lines and all that follows are guarded by the lock.
    private final Deque<Share> beginning = new ArrayDeque<>();

    private final Deque<Share> growing = new ArrayDeque<>();

    /// What the shares of one model hold together.
    private final Map<Object, Long> ofModels = new HashMap<>();

    private long free;

    /// A budget whose deadlines are those of [System#nanoTime].
    public MemoryBudget(long bytes) {
        this(bytes, System::nanoTime);
    }

    /// @param clock nanoseconds, by which deadlines are given
    public MemoryBudget(long bytes, LongSupplier clock) {
        if (bytes < 1) {
            throw new IllegalArgumentException("bytes: found %d, expected at least 1".formatted(bytes));
        }
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

    public Share take(long bytes) throws InterruptedException {
        return take(bytes, clock.getAsLong() + NEVER).orElseThrow();
    }

    /// Waits for a share until the deadline; nothing where none came free before.
    public Optional<Share> take(long bytes, long deadlineNanos) throws InterruptedException {
        var share = new Share();
        return share.growTo(bytes, deadlineNanos) ? Optional.of(share) : Optional.empty();
    }

    public boolean isWanted() {
        return waiting() > 0;
    }

    int waiting() {
        lock.lock();
        try {
            return beginning.size() + growing.size();
        } finally {
            lock.unlock();
        }
    }

    /// The share whose turn it is; null for none.
    private Share next() {
        return growing.isEmpty() ? beginning.peek() : growing.peek();
    }

    private void callNext() {
        var next = next();
        if (next != null) {
            next.turn.signal();
        }
    }

    /// Bytes of the budget, until they are closed.
    ///
    /// One thread at a time lets it grow. Any thread may close it meanwhile. After that it holds
    /// nothing and never grows.
    public final class Share implements AutoCloseable {

        /// This and the following are guarded by the budget's lock.
        private final Condition turn = lock.newCondition();

        private long held;

        /// How many bytes it waits for, where it does.
        private long wanted;

        private boolean closed;

        /// Null where its model has the budget alone.
        private Object model;

        private Share() {}

        /// Counts it as one of a model's from now on. It holds nothing yet.
        void countFor(Object model) {
            lock.lock();
            try {
                this.model = model;
            } finally {
                lock.unlock();
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
            lock.lock();
            try {
                long more = Math.max(Math.min(bytes, all) - held, 0);
                if (closed || more > free || isRefused(more)) {
                    return false;
                }
                add(more);
                return true;
            } finally {
                lock.unlock();
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
            lock.lockInterruptibly();
            try {
                if (held > 0 && held >= Math.min(bytes, all)) {
                    return true;
                }
                wanted = Math.min(bytes, all);
                if (held > 0 && wouldBlock()) {
                    return tryGrowTo(bytes);
                }
                var line = held > 0 ? growing : beginning;
                line.add(this);
                try {
                    while (next() != this || !tryGrowTo(bytes)) {
                        long left = deadlineNanos - clock.getAsLong();
                        if (closed || left <= 0 || isRefused(wanted - held)) {
                            return false;
                        }
                        turn.awaitNanos(left);
                    }
                    return true;
                } finally {
                    line.remove(this);
                    callNext();
                }
            } finally {
                lock.unlock();
            }
        }

        /// Whether there would be too little for one of those that wait, this one included, when all
        /// others had given theirs back.
        private boolean wouldBlock() {
            long heldByWaiting =
                    held + growing.stream().mapToLong(share -> share.held).sum();
            return wanted + heldByWaiting - held > all
                    || growing.stream().anyMatch(share -> share.wanted + heldByWaiting - share.held > all);
        }

        boolean holds() {
            lock.lock();
            try {
                return held > 0;
            } finally {
                lock.unlock();
            }
        }

        /// Gives back what is more than so many bytes.
        public void shrinkTo(long bytes) {
            lock.lock();
            try {
                long kept = Math.clamp(bytes, 0, held);
                add(kept - held);
                callNext();
            } finally {
                lock.unlock();
            }
        }

        /// Gives everything back. May be called again.
        @Override
        public void close() {
            lock.lock();
            try {
                closed = true;
                turn.signal();
                shrinkTo(0);
            } finally {
                lock.unlock();
            }
        }
    }
}
