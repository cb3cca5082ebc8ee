package dev.berth.memory;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/// Bytes that threads share out among themselves. All shares together never hold more than there
/// is.
///
/// A share waits only while it holds nothing, so that no two block each other by what they hold. One
/// that is larger than the budget waits until it is alone. Threads that wait are served in order of
/// arrival. The methods `try…` never wait: they take what is free, even while others wait. So a
/// large share that does not fit yet delays no small ones.
public final class MemoryBudget {

    /// Some 146 years, in nanoseconds.
    static final long NEVER = Long.MAX_VALUE / 2;

    /// What is counted, in bytes: a semaphore counts to 2^31.
    private static final int UNIT = 1 << 10;

    private final long bytes;
    private final int all;
    private final Semaphore free;
    private final LongSupplier clock;

    /// What the shares of one model hold together. Guarded by this, as is what each share holds.
    private final Map<Object, Integer> ofModels = new HashMap<>();

    /// A budget whose deadlines are those of [System#nanoTime].
    public MemoryBudget(long bytes) {
        this(bytes, System::nanoTime);
    }

    /// @param clock nanoseconds, by which deadlines are given
    public MemoryBudget(long bytes, LongSupplier clock) {
        this.bytes = bytes;
        this.all = Math.toIntExact(bytes / UNIT);
        this.free = new Semaphore(all, true);
        this.clock = clock;
    }

    public long bytes() {
        return bytes;
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

    int waiting() {
        return free.getQueueLength();
    }

    private int units(long bytes) {
        return (int) Math.min(Math.ceilDiv(bytes, UNIT), all);
    }

    /// Bytes of the budget, until they are closed.
    ///
    /// One thread at a time lets it grow. Any thread may close it meanwhile. After that it holds
    /// nothing and never grows.
    public final class Share implements AutoCloseable {

        private int held;
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

        /// Grows without waiting, so that it holds so many bytes in all.
        ///
        /// @return false where too little is free or it is closed; then it holds what it held
        public boolean tryGrowTo(long bytes) {
            synchronized (MemoryBudget.this) {
                int more = Math.max(units(bytes) - held, 0);
                return mayHold(more) && free.tryAcquire(more) && add(more);
            }
        }

        /// Waits until it can hold so many bytes in all, if it holds nothing. It does not wait where its
        /// model holds its half: shares of other models would wait behind it.
        ///
        /// @param deadlineNanos by the budget's clock
        /// @return false where the deadline came first, too little is free for one that holds something,
        ///   its model holds too much, or it is closed; then it holds what it held
        public boolean growTo(long bytes, long deadlineNanos) throws InterruptedException {
            int wanted = units(bytes);
            synchronized (MemoryBudget.this) {
                if (held > 0 || !mayHold(wanted)) {
                    return tryGrowTo(bytes);
                }
            }
            if (!free.tryAcquire(wanted, deadlineNanos - clock.getAsLong(), TimeUnit.NANOSECONDS)) {
                return false;
            }
            synchronized (MemoryBudget.this) {
                if (mayHold(wanted)) {
                    return add(wanted);
                }
                free.release(wanted);
                return false;
            }
        }

        /// Whether it may hold so much more: it is open, and its model has no more than half of the budget
        /// then, or no other share.
        private boolean mayHold(int more) {
            int ofModel = model == null ? 0 : ofModels.getOrDefault(model, 0);
            return !closed && (ofModel <= held || ofModel + more <= all / 2);
        }

        private boolean add(int more) {
            held += more;
            if (model != null && more != 0) {
                ofModels.merge(model, more, (before, added) -> before + added == 0 ? null : before + added);
            }
            return true;
        }

        /// Gives back what is more than so many bytes.
        public void shrinkTo(long bytes) {
            synchronized (MemoryBudget.this) {
                int less = Math.max(held - units(bytes), 0);
                var _ = add(-less);
                free.release(less);
            }
        }

        /// Gives everything back. May be called again.
        @Override
        public void close() {
            synchronized (MemoryBudget.this) {
                closed = true;
                shrinkTo(0);
            }
        }
    }
}
