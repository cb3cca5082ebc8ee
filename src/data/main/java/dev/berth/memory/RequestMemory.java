package dev.berth.memory;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.util.List;
import java.util.function.LongSupplier;

/// What one request takes of the [ProcessMemory]. Whoever makes something whose size the caller
/// chooses says first what it costs, with [#charge]; the request gives it back when it ends.
///
/// The account of the request that a thread works for is a [ScopedValue], so that decoders need not
/// be handed it. On a thread that works for none nothing is counted but what is [held][#hold]. Used
/// by one thread at a time; any thread may close it.
public final class RequestMemory implements AutoCloseable {

    /// As much as most requests need, taken at once: each step takes the lock that all requests
    /// share.
    private static final int STEP = 64 << 10;

    /// What a request may have of the part for small ones.
    private static final int FEW = 4 * STEP;

    private static final ScopedValue<RequestMemory> CURRENT = ScopedValue.newInstance();

    private final ProcessMemory process;
    private final long deadlineNanos;
    private final Runnable beforeWait;
    private final MemoryBudget.Share few;
    private final MemoryBudget.Share medium;
    private final MemoryBudget.Share large;

    /// The one of the first three that has what is taken. It only ever becomes a larger one.
    private MemoryBudget.Share part;

    private boolean isLarge;
    private long used;
    private long taken;

    /// The heap that requests may take, all together: the one account of a process, in parts.
    ///
    /// - `few` has what a request makes that makes little.
    /// - `medium` has what one makes that makes no more than [#mostOfMedium].
    /// - `large` has what any other makes, such as texts, trees, unpacked archives, pictures, tensors
    ///   and tokens.
    ///
    /// So a request never waits for a larger one. What is left of the heap is for bodies that arrive, for
    /// the server itself, and for the collector, which needs room to work.
    ///
    /// @param mostOfMedium in bytes
    public record ProcessMemory(MemoryBudget few, MemoryBudget medium, MemoryBudget large, long mostOfMedium) {

        private static final ProcessMemory THIS = ofHeap(Runtime.getRuntime().maxMemory(), System::nanoTime);

        /// The account of this process.
        public static ProcessMemory ofThisProcess() {
            return THIS;
        }

        /// The account of a process with so large a heap.
        static ProcessMemory ofHeap(long bytes, LongSupplier clock) {
            long percent = bytes / 100;
            return new ProcessMemory(
                    new MemoryBudget(12 * percent, clock),
                    new MemoryBudget(10 * percent, clock),
                    new MemoryBudget(40 * percent, clock),
                    percent);
        }
    }

    /// @param deadlineNanos until when it waits for memory, as the account's clock counts
    /// @param beforeWait told, by the thread that waits, that it will
    public RequestMemory(ProcessMemory process, long deadlineNanos, Runnable beforeWait) {
        this.process = process;
        this.deadlineNanos = deadlineNanos;
        this.beforeWait = beforeWait;
        this.few = process.few().share();
        this.medium = process.medium().share();
        this.large = process.large().share();
        this.part = few;
    }

    /// Counts what it takes as that of a model, too: the requests of a model have no more than half
    /// of each part, so that one whose requests do not end leaves memory to the others. Only a
    /// request that is alone may have more. Before it takes anything.
    public void countFor(Object model) {
        List.of(few, medium, large).forEach(share -> share.countFor(model));
    }

    /// Memory that is given back before the request ends.
    public interface Held extends AutoCloseable {
        @Override
        void close();
    }

    /// Counts what the calling thread makes meanwhile.
    public <T, E extends Exception> T call(ScopedValue.CallableOp<T, E> work) throws E {
        return ScopedValue.where(CURRENT, this).call(work);
    }

    /// Counts what the calling thread is about to make for its request, and that lives as long as
    /// this.
    ///
    /// @throws ServingException when there is no room for it
    public static void charge(long bytes) {
        if (CURRENT.isBound()) {
            CURRENT.get().add(bytes);
        }
    }

    /// Counts what the calling thread is about to make, until it is closed.
    ///
    /// @throws ServingException when there is no room for it
    public static Held hold(long bytes) {
        if (CURRENT.isBound()) {
            var memory = CURRENT.get();
            memory.add(bytes);
            return () -> memory.giveBack(bytes);
        }
        var own = new RequestMemory(ProcessMemory.ofThisProcess(), System.nanoTime() + MemoryBudget.NEVER, () -> {});
        own.add(bytes);
        return own::close;
    }

    /// Says that the calling thread waits for something: where hooks run, another one may run in its
    /// place.
    public static void waiting() {
        if (CURRENT.isBound()) {
            CURRENT.get().beforeWait.run();
        }
    }

    /// Waits for as much as the request is likely to need, while it holds nothing that others wait
    /// for.
    ///
    /// @throws ServingException when the deadline comes first
    public void expect(long bytes) {
        if (used + bytes > taken) {
            take(used + bytes, true);
        }
    }

    /// Counts as a static [#charge] does.
    public void add(long bytes) {
        add(bytes, true);
    }

    /// Counts as [#add] does, for a thread that must not wait.
    ///
    /// @throws ServingException when there is no room for it now
    public void addAtOnce(long bytes) {
        add(bytes, false);
    }

    private void add(long bytes, boolean mayWait) {
        if (bytes < 0 || bytes > process.large().bytes() - used) {
            throw tooLarge();
        }
        long needed = used + bytes;
        if (needed > taken) {
            take(needed + needed / 8, mayWait);
        }
        used = needed;
    }

    /// Takes of the part for such requests. Of the first one it takes without waiting, or not at all.
    private void take(long bytes, boolean mayWait) {
        long steps = Math.ceilDiv(bytes, STEP) * STEP;
        if (part == few && steps <= FEW && few.tryGrowTo(steps)) {
            taken = steps;
            return;
        }
        long wanted = Math.min(bytes, process.large().bytes());
        var next = part != large && wanted <= process.mostOfMedium() ? medium : large;
        // Medium requests that wait to grow large would soon hold all that there is for such.
        boolean waits = mayWait && (part != medium || next == medium);
        if (!next.tryGrowTo(wanted) && !(waits && await(next, wanted))) {
            throw beside(wanted);
        }
        if (next != part) {
            part.shrinkTo(0);
            part = next;
        }
        taken = wanted;
    }

    private boolean await(MemoryBudget.Share share, long bytes) {
        beforeWait.run();
        try {
            return share.growTo(bytes, deadlineNanos);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw ErrorType.MEMORY_TAKEN.because("the wait for memory was interrupted; try again later");
        }
    }

    /// Says that its body is long, wherever it is.
    public void becomeLarge() {
        isLarge = true;
    }

    /// Whether it needs more than its first part, or its body is long.
    public boolean isLarge() {
        return isLarge || part != few;
    }

    /// Gives everything back. Later charges fail.
    @Override
    public void close() {
        List.of(few, medium, large).forEach(MemoryBudget.Share::close);
    }

    private void giveBack(long bytes) {
        used -= bytes;
        if (part == large && taken - used > bytes / 2) {
            taken = used;
            large.shrinkTo(taken);
        }
    }

    private ServingException tooLarge() {
        return ErrorType.PAYLOAD_TOO_LARGE.because(
                "the request: found data that need more memory than the %d MB that there are for one, expected fewer or smaller records, or a server with a larger heap (-Xmx in JAVA_OPTS)"
                        .formatted(process.large().bytes() >> 20));
    }

    private static ServingException beside(long needed) {
        return ErrorType.MEMORY_TAKEN.because(
                "the request needs %d MB of memory, and other requests have too much of it; try again later"
                        .formatted(1 + (needed >> 20)));
    }
}
