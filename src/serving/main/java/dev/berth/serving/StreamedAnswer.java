package dev.berth.serving;

import dev.berth.batching.PartSink;
import dev.berth.batching.Submission;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.StreamingHandler;
import dev.berth.memory.RequestMemory;
import dev.berth.metrics.StreamMetrics;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookFailure;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/// The parts of one request on their way from the workers, which encode them, to the request's
/// thread, which sends them.
///
/// It holds [#ROOM] bytes. While it is full, the request's records take part in no step, and the
/// worker waits for nobody.
final class StreamedAnswer<O> implements ServedAnswer.Streamed, PartSink<O> {

    private static final int ROOM = 64 << 10;

    /// How often the reader is looked after while there is nothing to send.
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final StreamingHandler<?, ?, O, ?> handler;
    private final String partFn;
    private final InvocationRequest request;
    private final MediaType type;
    private final PartFrame frame;
    private final RequestMemory memory;
    private final StreamMetrics metrics;
    private final Deadline deadline;
    private final StreamLimits limits;
    private final long begunAt;
    private final Runnable whenBegun;

    private final Queue<byte[]> parts = new ArrayDeque<>();
    private long charged;
    private boolean begun;
    private boolean ended;
    private ServingException failure;
    private Invocation invocation;
    private Runnable cutOff = () -> {};
    private final CompletableFuture<Submission<?, O>> ticket = new CompletableFuture<>();

    /// Written under the monitor; read without it.
    private final AtomicLong buffered = new AtomicLong();

    private volatile long deadlineNanos;

    /// @param call whose memory nobody else uses while there are workers that call this
    /// @param deadline until the first part
    /// @param begunAt when the request came, as the deadline's clock counts
    /// @param whenBegun run once, when the first part is there or all have come. It must not block
    StreamedAnswer(
            StreamingHandler<?, ?, O, ?> handler,
            String partFn,
            InvocationRequest request,
            MediaType type,
            Call call,
            StreamMetrics metrics,
            Deadline deadline,
            long begunAt,
            Runnable whenBegun) {
        this.handler = handler;
        this.partFn = partFn;
        this.request = request;
        this.type = type;
        this.memory = call.memory();
        this.metrics = metrics;
        this.deadline = deadline;
        this.limits = call.streams().orElseThrow();
        this.frame = limits.isSocket() ? PartFrame.NONE : PartFrame.of(type);
        this.begunAt = begunAt;
        this.deadlineNanos = deadline.nanos();
        this.whenBegun = whenBegun;
    }

    /// Says where the parts come from. The first may be there already.
    void comesFrom(Submission<?, O> source) {
        ticket.complete(source);
    }

    @Override
    public MediaType contentType() {
        return type;
    }

    @Override
    public void take(int index, O part) {
        byte[] data;
        try {
            data = handler.partFn(part, index, request);
            if (data == null) {
                throw ErrorType.INTERNAL.because("%s returned null, expected the bytes of a part".formatted(partFn));
            }
        } catch (Throwable e) {
            throw HookFailure.inside(partFn, e);
        }
        var framed = frame.around(data);
        synchronized (this) {
            long filled = buffered.get() + framed.length;
            if (filled > charged) {
                memory.addAtOnce(filled - charged);
                charged = filled;
            }
            parts.add(framed);
            buffered.set(filled);
            long now = deadline.clock().getAsLong();
            long last = begunAt + limits.whole().toNanos();
            deadlineNanos = Math.min(now - last < 0 ? now + limits.part().toNanos() : last, last);
            metrics.parts.increment();
            if (!begun) {
                metrics.firstPart.record(Duration.ofNanos(now - begunAt));
            }
            begin();
        }
    }

    synchronized void end(Invocation all) {
        ended = true;
        invocation = all;
        begin();
    }

    /// There will be no more parts.
    ///
    /// @return false: there was none yet, so the answer may be an error like any other
    synchronized boolean fail(ServingException why) {
        if (!begun) {
            return false;
        }
        failure = why.type() == ErrorType.DEADLINE_EXCEEDED ? late(why) : why;
        if (why.type() != ErrorType.CALLER_GONE) {
            metrics.broken.increment();
        }
        ended = true;
        notifyAll();
        if (!hasRoom()) {
            cutOff.run();
        }
        return true;
    }

    private ServingException late(ServingException why) {
        boolean whole = deadline.clock().getAsLong() - begunAt >= limits.whole().toNanos();
        return ErrorType.DEADLINE_EXCEEDED.because(
                whole
                        ? "the answer took longer than %d s in all (--stream-timeout)"
                                .formatted(limits.whole().toSeconds())
                        : "no part was made, or none was read, for %d s (--stream-part-timeout)"
                                .formatted(limits.part().toSeconds()),
                why);
    }

    private void begin() {
        if (!begun) {
            begun = true;
            whenBegun.run();
        }
        notifyAll();
    }

    @Override
    public boolean hasRoom() {
        return buffered.get() < ROOM;
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    public Optional<byte[]> next(BooleanSupplier readerHasGone) {
        while (true) {
            var part = poll();
            if (part != null) {
                return Optional.of(part);
            }
            if (awaitChange()) {
                continue;
            }
            if (hasEnded()) {
                return Optional.empty();
            }
            if (readerHasGone.getAsBoolean()) {
                abandon();
                throw ErrorType.CALLER_GONE.because("the caller has gone away");
            }
            ticket.join().ask();
        }
    }

    /// Takes the next part, and says so where there was no room for others.
    private byte[] poll() {
        byte[] part;
        boolean wasFull;
        synchronized (this) {
            part = parts.poll();
            wasFull = !hasRoom();
            buffered.addAndGet(part == null ? 0 : -part.length);
        }
        if (wasFull && hasRoom()) {
            ticket.join().resume();
        }
        return part;
    }

    /// Waits a while for a part or the end. It may return before: [#next] asks again.
    ///
    /// @return whether there is a part
    @SuppressWarnings("WaitNotInLoop")
    private synchronized boolean awaitChange() {
        try {
            if (parts.isEmpty() && !ended) {
                TimeUnit.NANOSECONDS.timedWait(
                        this,
                        Math.min(
                                LOOK_NANOS,
                                Math.max(1, deadlineNanos - deadline.clock().getAsLong())));
            }
            if (parts.isEmpty() && failure != null) {
                throw failure;
            }
            return !parts.isEmpty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            ticket.join().abandon();
            throw ErrorType.NOT_READY.because("the server is stopping", e);
        }
    }

    private synchronized boolean hasEnded() {
        return ended && parts.isEmpty() && failure == null;
    }

    @Override
    public boolean hasNext() {
        return buffered.get() > 0;
    }

    @Override
    public void abandon() {
        ticket.join().abandon();
    }

    @Override
    public synchronized void whenLate(Runnable cut) {
        cutOff = cut;
    }

    @Override
    public synchronized Invocation invocation() {
        return invocation;
    }
}
