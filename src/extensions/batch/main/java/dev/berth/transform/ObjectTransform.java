package dev.berth.transform;

import dev.berth.hooks.BadInputException;
import dev.berth.memory.MemoryBudget;
import dev.berth.storage.Location;
import dev.berth.transform.checkpoint.Checkpoint;
import dev.berth.transform.checkpoint.Checkpoints;
import java.io.IOException;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.ZipException;

/// Transforms one object, or a range of one: its payloads are sent as they are read, several at the
/// same time, and their answers written in their order. The output appears when it is whole.
///
/// One thread reads and writes; a payload is sent by a thread of its own. What is between reading
/// and writing, of all objects together, is limited, and so is the memory that a job takes,
/// whatever the size of its objects. An object is opened before its [turn][ObjectTurns] comes, and
/// put in place when that is over.
///
/// A thread takes of the memory what its next payload needs at most, reads it, and gives back what
/// was too much. A thread that holds some must not wait for more: it writes what it has, and gives
/// that memory back.
record ObjectTransform(TransformJob job, Splitting splitting, Exchange exchange, Shared shared) {

    /// What all objects of a job share.
    ///
    /// @param threads of payloads
    record Shared(
            ExecutorService threads, ObjectTurns turns, JobMemory memory, Checkpoints checkpoints, Progress progress) {}

    /// A payload whose output is on its way.
    ///
    /// @param isKept whether an earlier run has made its output
    /// @param bytes of the object that were read for it
    private record Sent(int records, boolean isKept, long bytes, JobMemory.Share share, Future<byte[]> output) {}

    /// @param previous the output that is there, where only some of its records are asked again
    /// @param answered counts the bytes of the object whose answers are written
    /// @return how many records it has
    /// @throws InterruptedException also where it is not begun, as the job ends
    /// @throws TransformException when a record or its answer fails; there is no output then
    long transform(ObjectRange range, Location output, Optional<Location> previous, LongAdder answered)
            throws InterruptedException {
        try (var lines = new PreviousOutput(previous)) {
            return new Run(range, lines, answered).open(output);
        } catch (BadInputException e) {
            throw new TransformException(e.getMessage(), e);
        } catch (ZipException e) {
            throw new TransformException("it is not whole gzip, as CompressionType says: " + e.getMessage(), e);
        } catch (IOException e) {
            throw new TransformException("it can't be read: " + e.getMessage(), e);
        }
    }

    /// Whether the answers to an object's payloads are worth to be kept while it is not whole.
    private boolean areSafeInParts() {
        return splitting.splitType().isSplit();
    }

    /// An object on its way. For one thread.
    private final class Run {
        private final ObjectRange range;
        private final PreviousOutput previous;
        private final LongAdder answered;
        private final ArrayDeque<Sent> sent = new ArrayDeque<>();

        /// Counts the bytes that were read and are not sent.
        private final LongAdder read = new LongAdder();

        private Optional<TableObject> table = Optional.empty();
        private MiniBatches payloads;
        private Checkpoint checkpoint;
        private OutputStream out;
        private long recordsSent;
        private final AtomicLong recordsWritten = new AtomicLong();
        private long bytesWritten;

        private Run(ObjectRange range, PreviousOutput previous, LongAdder answered) {
            this.range = range;
            this.previous = previous;
            this.answered = answered;
        }

        private long open(Location output) throws IOException, InterruptedException {
            int most = splitting.maxRecord();
            if (job.kind() instanceof Tables tables) {
                try (var rows = new TableObject(tables, job.source().storage(), range.object(), most, read)) {
                    table = Optional.of(rows);
                    payloads = new MiniBatches(rows, 0, splitting, job.kind().records());
                    return inTurn(output);
                }
            }
            // Before what the source opens of the range.
            long newlines = range.start() == 0 ? 0 : job.source().newlines(range.object(), range.start() - 1);
            try (var in = job.source().open(range, read)) {
                if (range.isWhole()) {
                    payloads = new MiniBatches(in, splitting, job.kind().records());
                } else {
                    var lines = new LineReader(in, range.start(), range.end(), newlines, most);
                    payloads = new MiniBatches(
                            lines, lines.linesBefore(), splitting, job.kind().records());
                }
                return inTurn(output);
            }
        }

        private long inTurn(Location output) throws IOException, InterruptedException {
            try (var turn = shared.turns.take()) {
                checkpoint = shared.checkpoints.open(range.checkpointed(), !job.has(JobOption.OVERWRITE));
                return transform(output, turn);
            }
        }

        private long transform(Location output, MemoryBudget.Share turn) throws IOException, InterruptedException {
            boolean isDone = false;
            try (var writer = output.create(job.kind().outputType())) {
                out = table.map(rows -> rows.answers(writer)).orElse(writer);
                sendAll();
                previous.requireEnd();
                if (table.isPresent()) {
                    table.get().write(writer);
                }
                turn.shrinkTo(bytesWritten);
                writer.commit();
                isDone = true;
                return recordsWritten.get();
            } finally {
                for (var left : sent) {
                    left.output.cancel(true);
                    left.share.close();
                }
                checkpoint.end(isDone);
            }
        }

        private void sendAll() throws IOException, InterruptedException {
            var memory = shared.memory;
            // Of a table that is packed.
            long most = memory.ofPayload(payloads.mostBytes(
                    table.isPresent() ? Long.MAX_VALUE : job.source().mostBytes(range.object())));
            // A record may be as long as all memory, and hardly any is. One that is gets its share when
            // it is there.
            long expected = most <= memory.bytes() / 2 ? most : memory.ofPayload(0);
            while (true) {
                var free = memory.tryTake(expected);
                while (free.isEmpty() && !sent.isEmpty()) {
                    // The oldest output is on its way, whatever the other objects do.
                    write();
                    free = memory.tryTake(expected);
                }
                var share = free.isPresent() ? free.get() : memory.take(expected);
                var next = next(share);
                if (next.isEmpty()) {
                    break;
                }
                long needed = memory.ofPayload(next.get().bytes());
                if (needed > expected) {
                    share.close();
                    writeAll();
                    share = memory.take(needed);
                }
                try {
                    send(next.get(), share);
                } catch (IOException | RuntimeException e) {
                    share.close();
                    throw e;
                }
                while (!sent.isEmpty() && sent.peek().output.isDone()) {
                    write();
                }
            }
            writeAll();
        }

        /// Reads the next payload, and gives the share back where there is none, or more of it than
        /// that needs.
        private Optional<Payload> next(JobMemory.Share share) throws IOException {
            boolean isThere = false;
            try {
                var next = payloads.next();
                isThere = next.isPresent();
                next.ifPresent(payload -> share.shrinkToPayload(payload.bytes()));
                return next;
            } finally {
                if (!isThere) {
                    share.close();
                }
            }
        }

        /// Has a payload sent, unless an earlier run has its output.
        private void send(Payload payload, JobMemory.Share share) throws IOException, InterruptedException {
            long first = recordsSent + 1;
            recordsSent += payload.records();
            // Read in any case, to come to what belongs to the next payload.
            var before = previous.next(payload.records());
            var kept = (areSafeInParts() ? checkpoint.answer(first, payload.records()) : Optional.<byte[]>empty())
                    .or(() -> before)
                    .filter(output -> exchange.counts(payload, output));
            if (kept.isPresent() && !share.tryHold(kept.get().length)) {
                writeAll();
            }
            var output = kept.<Future<byte[]>>map(CompletableFuture::completedFuture)
                    .orElseGet(() -> shared.threads.submit(() -> ask(payload, share, first)));
            sent.add(new Sent(payload.records(), kept.isPresent(), read.sumThenReset(), share, output));
        }

        private byte[] ask(Payload payload, JobMemory.Share share, long first) throws Exception {
            var made = share.ask(() -> exchange.output(payload, range.object(), share));
            // Another request runs meanwhile.
            if (areSafeInParts()) {
                checkpoint.arrived(recordsWritten.get() + 1, first, payload.records(), made);
            }
            share.shrinkTo(made.length);
            return made;
        }

        private void writeAll() throws IOException, InterruptedException {
            while (!sent.isEmpty()) {
                write();
            }
        }

        /// Writes the oldest output, waiting for it where it is not there.
        private void write() throws IOException, InterruptedException {
            var oldest = sent.peek();
            try {
                var output = oldest.output.get();
                out.write(output);
                bytesWritten += output.length;
            } catch (ExecutionException e) {
                throw TransformException.thrown(e.getCause());
            }
            sent.remove();
            oldest.share.close();
            recordsWritten.addAndGet(oldest.records);
            answered.add(oldest.bytes);
            shared.progress.written(oldest.isKept ? 0 : oldest.records, oldest.bytes);
        }
    }
}
