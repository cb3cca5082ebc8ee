package dev.berth.transform.checkpoint;

import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The answers to an object's records that outlive the job when it is killed, in parts of some
/// megabytes. A part is an object of its own, which appears whole: about once a second, as each is a
/// request to S3 that costs money and time, or a file that is flushed to the disk. An object that is
/// done sooner has none, and in S3 one that fails sooner. A part has answers in the order in which they
/// arrived. Its name, `FROM-NUMBER`, says that all of them are for `FROM` and later records: those before
/// were written when it was begun.
///
/// Records are counted from 1. Only the thread that reads and writes the object calls it, but for
/// [#arrived]. What can't be kept, or not be read, is asked again, and fails no object.
public final class Checkpoint {

    private static final Logger log = LoggerFactory.getLogger(Checkpoint.class);
    private static final long EVERY_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MOST_IN_PART = 4 << 20;

    private final Location all;
    private final Location ofJob;

    /// Those of earlier runs that are not read yet, in the order of their records.
    private final Deque<StoredObject> left;

    /// Of the parts that were read, by the first record.
    private final TreeMap<Long, Answer> answers = new TreeMap<>();

    private record Answer(long first, int count, byte[] output) {}

    // Guarded by the monitor.
    private int parts;
    private long lastPart = System.nanoTime();
    private boolean isClosed;
    private long from;
    private long bytes;
    private final List<Answer> arrived = new ArrayList<>();

    /// @param all for the parts of all jobs
    /// @param ofJob for those of this one
    /// @param left its own
    Checkpoint(Location all, Location ofJob, List<StoredObject> left) {
        this.all = all;
        this.ofJob = ofJob;
        this.left = new ArrayDeque<>(left);
        this.parts = left.size();
    }

    /// The name of a part, so that they are listed in the order of their records.
    private static String name(long from, int number) {
        return "%018d-%d".formatted(from, number);
    }

    private static long from(StoredObject part) {
        return Long.parseLong(
                part.key().substring(part.key().lastIndexOf('/') + 1, part.key().lastIndexOf('-')));
    }

    /// What an earlier run has made of these records.
    public Optional<byte[]> answer(long first, int count) {
        while (!left.isEmpty() && from(left.peek()) <= first) {
            read(left.remove());
        }
        answers.headMap(first).clear();
        return Optional.ofNullable(answers.remove(first))
                .filter(answer -> answer.count == count)
                .map(Answer::output);
    }

    private void read(StoredObject part) {
        try (var in = new DataInputStream(new BufferedInputStream(part.open(0)))) {
            while (in.available() > 0) {
                long first = in.readLong();
                int count = in.readInt();
                int length = in.readInt();
                var output = in.readNBytes(length);
                if (output.length < length) {
                    throw new EOFException("found the end within an answer");
                }
                answers.put(first, new Answer(first, count, output));
            }
        } catch (IOException | StorageException | IllegalArgumentException e) {
            log.debug("{} is of no use", part.location(), e);
        }
    }

    /// Takes the output of a mini-batch as soon as it is there. Called by many threads, in any order:
    /// the object's other answers wait while a part is written, so no more than one is in memory.
    ///
    /// @param next the first record whose output is not written yet
    public synchronized void arrived(long next, long first, int count, byte[] output) {
        if (isClosed) {
            return;
        }
        from = arrived.isEmpty() ? next : from;
        arrived.add(new Answer(first, count, output));
        bytes += output.length;
        if (bytes >= MOST_IN_PART || isDue()) {
            write();
        }
    }

    private boolean isDue() {
        return System.nanoTime() - lastPart >= EVERY_NANOS;
    }

    /// Writes what has arrived as a part. Where that does not succeed, nothing else is taken, and the
    /// end tries it again: the thread may have been interrupted.
    private void write() {
        try (var part = ofJob.resolve(name(from, parts++)).create();
                var out = new DataOutputStream(part)) {
            for (var answer : arrived) {
                out.writeLong(answer.first);
                out.writeInt(answer.count);
                out.writeInt(answer.output.length);
                out.write(answer.output);
            }
            part.commit();
            arrived.clear();
            bytes = 0;
            lastPart = System.nanoTime();
        } catch (IOException | StorageException e) {
            log.debug("{}: no further answers are kept", ofJob, e);
            isClosed = true;
        }
    }

    /// Ends it, also where the thread has been interrupted, as a job is stopped by that.
    ///
    /// @param isDone whether the output is there. Otherwise the answers are kept for the next run
    public synchronized void end(boolean isDone) {
        isClosed = true;
        boolean wasInterrupted = Thread.interrupted();
        try {
            // A look at a directory is no request, and one that was killed may have left part of a part.
            boolean isCheap = parts > 0 || all.file().isPresent();
            if (isDone && isCheap) {
                all.deleteAll();
            } else if (!isDone && !arrived.isEmpty() && (isCheap || isDue())) {
                write();
            }
        } catch (StorageException e) {
            log.debug("{} is left as it is", all, e);
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
