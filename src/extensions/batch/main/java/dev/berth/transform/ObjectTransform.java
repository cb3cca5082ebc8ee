package dev.berth.transform;

import dev.berth.hooks.BadInputException;
import dev.berth.memory.MemoryBudget;
import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
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
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.ZipException;

/// Transforms one object, or a range of one: its payloads are sent as they are read, several at the
/// same time, and their answers written in their order. The output appears when it is whole. An output
/// that is there already is kept, unless some of its records are to be asked again.
///
/// One thread reads and writes; a payload is sent by a thread of its own. What is between reading
/// and writing, of all objects together, is limited, and so is the memory that a job takes,
/// whatever the size of its objects.
///
/// As many objects as requests may run have a turn: their records are read and answered. Others have
/// been opened before it, or are put in place after it, so that the time that S3 takes to answer keeps no
/// request waiting. A turn is room for what a writer to S3 holds. When all answers are there, it keeps
/// room for what is left to be put in place, and the next object has the rest.
///
/// A thread takes of the memory what its next payload needs at most, reads it, and gives back what
/// was too much. A thread that holds some must not wait for more: it writes what it has, and gives
/// that memory back.
record ObjectTransform(TransformJob job, Splitting splitting, Exchange exchange, Shared shared) {

    /// What all objects of a job share.
    ///
    /// @param threads of payloads
    /// @param end is told of what is thrown for an object
    record Shared(
            ExecutorService threads,
            JobEnd end,
            MemoryBudget turns,
            JobMemory memory,
            Checkpoints checkpoints,
            MiniBatchSize miniBatchSize,
            Progress progress) {}

    /// What a writer to S3 holds of an object of up to 8 GB: a part, and what a request takes beside it.
    static final long MOST_OF_WRITER = 16 << 20;

    /// Less than another turn is for objects on their way to their outputs.
    ///
    /// @param requests how many may run at the same time
    static MemoryBudget turns(int requests) {
        return new MemoryBudget((requests + 1) * MOST_OF_WRITER - 1);
    }

    /// A payload whose output is on its way.
    ///
    /// @param isKept whether an earlier run has made its output
    /// @param bytes of the object that were read for it
    private record Sent(int records, boolean isKept, long bytes, JobMemory.Share share, Future<byte[]> output) {}

    /// Gives a range of an object its output, and tells how that went.
    ///
    /// @param clash why it can't have one
    /// @return nothing for a range that has not been begun, or that ends with the job
    Optional<ObjectOutcome> outcome(ObjectRange range, Optional<String> clash) {
        long start = System.nanoTime();
        var run = new Run(range);
        var status = ObjectOutcome.Status.FAILED;
        var failure = "";
        try {
            if (clash.isPresent()) {
                throw new TransformException(clash.get());
            }
            status = run.isThere() ? ObjectOutcome.Status.SKIPPED : run.transform();
        } catch (InterruptedException | RuntimeException | Error e) {
            if (shared.end.isOverWith(e)) {
                return Optional.empty();
            }
            failure = switch (e) {
                case TransformException _, StorageException _, BadInputException _ -> e.getMessage();
                default -> e.toString();
            };
            if (job.source().mayBePacked(range.object())) {
                failure += "; where it is packed, --compression-type Gzip unpacks it";
            }
        }
        long records = status == ObjectOutcome.Status.SUCCEEDED ? run.recordsWritten : 0;
        var outcome = new ObjectOutcome(range.toString(), status, records, JobRunner.seconds(start), failure);
        shared.progress.ended(outcome, Math.max(0, range.bytes() - run.answered));
        return Optional.of(outcome);
    }

    /// A range on its way. For one thread.
    private final class Run {
        private final SplitOutputs outputs = new SplitOutputs(job);
        private final ArrayDeque<Sent> sent = new ArrayDeque<>();

        /// Counts the bytes that were read and are not sent. A reader is a buffer ahead.
        private final LongAdder read = new LongAdder();

        /// What is asked: all of the object, where some records of a joined output are asked again.
        private ObjectRange range;

        /// The output that is there, where only some of its records are asked again.
        private Optional<Location> before = Optional.empty();

        private PreviousOutput previous;
        /// Of the payload that is read next, or was read last; null before the first.
        private JobMemory.Share share;

        private Optional<TableObject> table = Optional.empty();
        private MiniBatches payloads;
        private Checkpoint checkpoint;
        private OutputStream out;
        private long recordsSent;
        private long recordsWritten;
        private long bytesWritten;

        /// The bytes of the object whose answers are written.
        private long answered;

        private Run(ObjectRange range) {
            this.range = range;
        }

        /// Whether the range has its output, and that counts.
        private boolean isThere() throws InterruptedException {
            if (job.has(JobOption.OVERWRITE) || !outputs.isDone(range)) {
                return false;
            }
            before = outputs.answers(range);
            if (before.isPresent() && !counts(before.get())) {
                range = outputs.asked(range, before.get());
                return false;
            }
            shared.checkpoints.forget(range.checkpointed());
            place(true);
            return true;
        }

        private boolean counts(Location output) throws InterruptedException {
            try (var _ = shared.memory.takeForLines()) {
                return exchange.counts(output);
            }
        }

        private void place(boolean wasThere) throws InterruptedException {
            if (!range.isWhole()) {
                try (var _ = shared.memory.takeForJoin()) {
                    outputs.join(range);
                }
            }
            try (var _ = shared.memory.takeForLines()) {
                exchange.placed(range.object(), wasThere);
            }
        }

        /// @throws InterruptedException also where it is not begun, as the job ends
        /// @throws TransformException when a record or its answer fails; there is no output then
        private ObjectOutcome.Status transform() throws InterruptedException {
            try (var lines = new PreviousOutput(before)) {
                previous = lines;
                open(outputs.part(range));
            } catch (ZipException e) {
                throw new TransformException(
                        "it is not whole gzip, as CompressionType says: %s; leave --compression-type out, or replace the file"
                                .formatted(e.getMessage()),
                        e);
            } catch (IOException e) {
                throw new TransformException("it can't be read: " + e.getMessage(), e);
            }
            place(false);
            shared.end.succeeded();
            return ObjectOutcome.Status.SUCCEEDED;
        }

        private void open(Location output) throws IOException, InterruptedException {
            int most = splitting.maxRecord();
            if (job.kind() instanceof Tables tables) {
                try (var rows = new TableObject(tables, job.source().storage(), range.object(), most, read)) {
                    table = Optional.of(rows);
                    payloads = new MiniBatches(rows, 0, splitting, job.kind().records());
                    inTurn(output);
                }
                return;
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
                inTurn(output);
            }
        }

        private void inTurn(Location output) throws IOException, InterruptedException {
            boolean isDone = false;
            try (var turn = shared.turns.take(MOST_OF_WRITER)) {
                if (shared.end.isOver()) {
                    throw new InterruptedException("the job has ended");
                }
                checkpoint = shared.checkpoints.open(range.checkpointed(), !job.has(JobOption.OVERWRITE));
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
                } finally {
                    if (share != null) {
                        share.close();
                    }
                    for (var left : sent) {
                        if (!left.output.cancel(true) && left.output.state() == Future.State.SUCCESS) {
                            keep(left);
                        }
                        recordsWritten += left.records;
                        left.share.close();
                    }
                    checkpoint.end(isDone);
                }
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
                share = free.isPresent() ? free.get() : memory.take(expected);
                // The same records as before share a request where an earlier run has their answer.
                var next =
                        payloads.next(checkpoint.count(recordsSent + 1).orElseGet(shared.miniBatchSize::mostRecords));
                if (next.isEmpty()) {
                    break;
                }
                share.shrinkToPayload(next.get().bytes());
                long needed = memory.ofPayload(next.get().bytes());
                if (needed > expected) {
                    share.close();
                    writeAll();
                    share = memory.take(needed);
                }
                send(next.get(), share);
                while (!sent.isEmpty() && sent.peek().output.isDone()) {
                    write();
                }
            }
            share.close();
            writeAll();
        }

        /// Has a payload sent, unless an earlier run has its output.
        private void send(Payload payload, JobMemory.Share share) throws IOException, InterruptedException {
            long first = recordsSent + 1;
            recordsSent += payload.records();
            // Read in any case, to come to what belongs to the next payload.
            var before = previous.next(payload.records());
            var kept = (splitting.splitType().isSplit()
                            ? checkpoint.answer(first, payload.records())
                            : Optional.<byte[]>empty())
                    .or(() -> before)
                    .filter(output -> exchange.counts(payload, output));
            if (kept.isPresent() && !share.tryHold(kept.get().length)) {
                writeAll();
            }
            var output = kept.<Future<byte[]>>map(CompletableFuture::completedFuture)
                    .orElseGet(() -> shared.threads.submit(() -> ask(payload, share)));
            long bytes = Math.min(read.sum(), payload.read());
            read.add(-bytes);
            sent.add(new Sent(payload.records(), kept.isPresent(), bytes, share, output));
        }

        private byte[] ask(Payload payload, JobMemory.Share share) throws Exception {
            var made = share.ask(() -> {
                long start = System.nanoTime();
                var output = exchange.output(payload, range.object(), share);
                shared.miniBatchSize.answered(payload.records(), System.nanoTime() - start);
                return output;
            });
            share.shrinkTo(made.length);
            return made;
        }

        /// Has the next output outlive the job, unless an earlier run has done that.
        private void keep(Sent next) {
            if (splitting.splitType().isSplit() && !next.isKept) {
                checkpoint.keep(recordsWritten + 1, next.records, next.output.resultNow());
            }
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
                // Where that fails, the end of the object keeps it.
                keep(oldest);
                bytesWritten += output.length;
            } catch (ExecutionException e) {
                throw TransformException.thrown(e.getCause());
            }
            sent.remove();
            oldest.share.close();
            recordsWritten += oldest.records;
            answered += oldest.bytes;
            int asked = oldest.isKept ? 0 : oldest.records;
            exchange.asked(asked);
            shared.progress.written(asked, oldest.bytes);
        }
    }
}
