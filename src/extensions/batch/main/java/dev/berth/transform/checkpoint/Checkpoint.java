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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The answers to an object's records that outlive the job when it is killed, in parts of some
/// megabytes. A part is an object of its own, which appears whole: about once a second, as each is a
/// request to S3 that costs money and time, or a file that is flushed to the disk. An object that is
/// done sooner has none, and in S3 one that fails sooner. The answers are in the order of their records.
///
/// Records are counted from 1. For the one thread that reads and writes the object. What can't be kept,
/// or not be read, is asked again, and fails no object.
public final class Checkpoint {

    private static final Logger log = LoggerFactory.getLogger(Checkpoint.class);
    private static final long EVERY_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MOST_IN_PART = 4 << 20;

    private final Location all;
    private final Location ofJob;

    private record Answer(long first, int count, byte[] output) {}

    /// Parts of earlier runs that are not read yet.
    private final Deque<StoredObject> left;

    /// Of the part that was read last.
    private final Deque<Answer> answers = new ArrayDeque<>();

    private int parts;
    private long lastPart = System.nanoTime();
    private boolean isClosed;

    /// Of the next part.
    private final List<Answer> kept = new ArrayList<>();

    private long bytes;

    /// @param all for the parts of all jobs
    /// @param ofJob for those of this one
    /// @param left its own
    Checkpoint(Location all, Location ofJob, List<StoredObject> left) {
        this.all = all;
        this.ofJob = ofJob;
        this.left = new ArrayDeque<>(left);
        this.parts = left.size();
    }

    /// What an earlier run has made of these records. They are behind those that were asked for before.
    public Optional<byte[]> answer(long first, int count) {
        return from(first).filter(answer -> answer.count == count).map(Answer::output);
    }

    /// How many records, from this one on, an earlier run has an answer to that belongs to them together.
    public Optional<Integer> count(long first) {
        return from(first).map(Answer::count);
    }

    private Optional<Answer> from(long first) {
        while (answers.isEmpty() ? !left.isEmpty() : answers.peek().first < first) {
            if (answers.isEmpty()) {
                read(left.remove());
            } else {
                answers.remove();
            }
        }
        return Optional.ofNullable(answers.peek()).filter(answer -> answer.first == first);
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
                answers.add(new Answer(first, count, output));
            }
        } catch (IOException | StorageException | IllegalArgumentException e) {
            log.debug("{} is of no use", part.location(), e);
        }
    }

    /// Takes the output of a mini-batch. They come in the order of their records.
    public void keep(long first, int count, byte[] output) {
        if (isClosed) {
            return;
        }
        kept.add(new Answer(first, count, output));
        bytes += output.length;
        if (bytes >= MOST_IN_PART || isDue()) {
            uninterrupted(this::write);
        }
    }

    private boolean isDue() {
        return System.nanoTime() - lastPart >= EVERY_NANOS;
    }

    /// Writes what there is as a part. Where that does not succeed, nothing else is taken, and the end
    /// tries it again: the thread may have been interrupted.
    private void write() {
        try (var part = ofJob.resolve("%09d".formatted(parts)).create();
                var out = new DataOutputStream(part)) {
            for (var answer : kept) {
                out.writeLong(answer.first);
                out.writeInt(answer.count);
                out.writeInt(answer.output.length);
                out.write(answer.output);
            }
            part.commit();
            parts++;
            kept.clear();
            bytes = 0;
            lastPart = System.nanoTime();
        } catch (IOException | StorageException e) {
            log.debug("{}: no further answers are kept", ofJob, e);
            isClosed = true;
        }
    }

    /// Ends it.
    ///
    /// @param isDone whether the output is there. Otherwise the answers are kept for the next run
    public void end(boolean isDone) {
        isClosed = true;
        uninterrupted(() -> {
            // A look at a directory is no request, and one that was killed may have left part of a part.
            boolean isCheap = parts > 0 || all.file().isPresent();
            if (isDone && isCheap) {
                all.deleteAll();
            } else if (!isDone && !kept.isEmpty() && (isCheap || isDue())) {
                write();
            }
        });
    }

    /// Also where the thread has been interrupted, as a job is stopped by that.
    private void uninterrupted(Runnable change) {
        boolean wasInterrupted = Thread.interrupted();
        try {
            change.run();
        } catch (StorageException e) {
            log.debug("{} is left as it is", all, e);
        } finally {
            if (wasInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
