package dev.berth.serving;

import dev.berth.batching.PartSink;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.metrics.ModelMetrics;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/// What a model answers: one body, or parts as they are made.
public sealed interface ServedAnswer {

    /// Where the request's time went. Of a streamed answer only when it has ended.
    Invocation invocation();

    record Whole(InvocationResponse response, Invocation invocation) implements ServedAnswer {}

    /// The parts of one request on their way from the workers, which encode them, to the request's
    /// thread, which sends them. The first is there, or there is none.
    ///
    /// It holds [#ROOM] bytes. While it is full, the request's records take part in no step, and the
    /// worker waits for nobody.
    final class Streamed<O> implements ServedAnswer, PartSink<O> {

        private static final int ROOM = 64 << 10;

        /// How often the reader is looked after while there is nothing to send.
        private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

        private final Flight<?, O> flight;
        private final MediaType type;
        private final StreamLimits limits;
        private final ModelMetrics.Streams metrics;

        /// This, when there is a part or will be none; or why there is no answer.
        final CompletableFuture<ServedAnswer> begun = new CompletableFuture<>();

        /// With an empty one after the last.
        private final BlockingQueue<Optional<byte[]>> parts = new LinkedBlockingQueue<>();

        private final AtomicLong buffered = new AtomicLong();
        private volatile long deadlineNanos;

        // Guarded by the monitor.
        private long charged;
        private Runnable cutOff = () -> {};

        /// Written before the end is in the queue, and read after.
        private ServingException failure;

        /// @param flight whose memory nobody else uses while there are workers that call this
        Streamed(Flight<?, O> flight, MediaType type) {
            this.flight = flight;
            this.type = type;
            this.limits = flight.call.streams().orElseThrow();
            this.metrics = flight.model.metrics.streams();
            this.deadlineNanos = flight.deadlineNanos();
        }

        public MediaType contentType() {
            return type;
        }

        @Override
        public void take(int index, O part) {
            var framed = framed(flight.encodePart(part, index));
            synchronized (this) {
                long filled = buffered.get() + framed.length;
                if (filled > charged) {
                    flight.call.memory().addAtOnce(filled - charged);
                    charged = filled;
                }
                buffered.addAndGet(framed.length);
                long now = flight.now();
                long last = flight.begunAt + limits.whole().toNanos();
                metrics.parts.increment();
                if (!begun.isDone()) {
                    metrics.firstPart.record(Duration.ofNanos(now - flight.begunAt));
                }
                add(Optional.of(framed));
                // Not before: a request that is past its first deadline has ended or has begun to answer.
                deadlineNanos = Math.min(now - last < 0 ? now + limits.part().toNanos() : last, last);
            }
        }

        /// With what has readers find it again: pieces of the network's own choice arrive, whatever was sent.
        private byte[] framed(byte[] part) {
            var plain = type.withoutParameters();
            if (limits.isSocket()) {
                return part;
            }
            if (plain.equals(MediaType.JSON_LINES)) {
                var line = Arrays.copyOf(part, part.length + 1);
                line[part.length] = '\n';
                return line;
            }
            return plain.equals(MediaType.EVENT_STREAM) ? event(part) : part;
        }

        /// An event has a `data:` line for each line of the part (WHATWG HTML §9.2.6). In ISO 8859-1 each
        /// byte is a character, whatever the part is written in.
        private static byte[] event(byte[] part) {
            var lines = new String(part, StandardCharsets.ISO_8859_1)
                    .replace("\r\n", "\n")
                    .replace('\r', '\n');
            return ("data: " + lines.replace("\n", "\ndata: ") + "\n\n").getBytes(StandardCharsets.ISO_8859_1);
        }

        void end() {
            add(Optional.empty());
        }

        /// There will be no more parts. Where there was none yet, the answer is an error like any other.
        synchronized void fail(ServingException why) {
            if (begun.completeExceptionally(why)) {
                return;
            }
            failure = why.type() == ErrorType.DEADLINE_EXCEEDED ? late(why) : why;
            if (why.type() != ErrorType.CALLER_GONE) {
                metrics.broken.increment();
            }
            add(Optional.empty());
            if (!hasRoom()) {
                cutOff.run();
            }
        }

        private ServingException late(ServingException why) {
            boolean whole = flight.now() - flight.begunAt >= limits.whole().toNanos();
            return ErrorType.DEADLINE_EXCEEDED.because(
                    whole
                            ? "the answer took longer than %d s in all (--stream-timeout)"
                                    .formatted(limits.whole().toSeconds())
                            : "no part was made, or none was read, for %d s (--stream-part-timeout)"
                                    .formatted(limits.part().toSeconds()),
                    why);
        }

        private void add(Optional<byte[]> part) {
            parts.add(part);
            begun.complete(this);
        }

        @Override
        public boolean hasRoom() {
            return buffered.get() < ROOM;
        }

        @Override
        public long deadlineNanos() {
            return deadlineNanos;
        }

        /// Waits for the next part, framed as the content type wants it; nothing: that was all.
        ///
        /// @throws ServingException when there will be no more: the model failed, the time is over or
        ///   the reader has gone
        public Optional<byte[]> next() {
            while (true) {
                var part = poll();
                if (part == null) {
                    flight.ask();
                } else if (part.isPresent()) {
                    int length = part.get().length;
                    long before = buffered.getAndAdd(-length);
                    if (before >= ROOM && before - length < ROOM) {
                        flight.ask();
                    }
                    return part;
                } else if (failure != null) {
                    throw failure;
                } else {
                    return part;
                }
            }
        }

        /// Waits a while for a part or the end; null: neither has come.
        private Optional<byte[]> poll() {
            try {
                long left = deadlineNanos - flight.now();
                return parts.poll(Math.clamp(left, 1, LOOK_NANOS), TimeUnit.NANOSECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                abandon();
                throw ErrorType.NOT_READY.because("the server is stopping", e);
            }
        }

        /// Whether [#next] has something without waiting, so that there is no need to send what was
        /// written on its way.
        public boolean hasNext() {
            return buffered.get() > 0;
        }

        public void abandon() {
            flight.abandon();
        }

        /// Has something done when the time is over while the reader does not take what there is.
        ///
        /// @param cut must not block
        public synchronized void whenLate(Runnable cut) {
            cutOff = cut;
        }

        @Override
        public Invocation invocation() {
            return flight.invocation(Duration.ZERO);
        }
    }
}
