package dev.berth.transform.checkpoint;

import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The answers to an object's records that outlive the job when it is killed, in parts of some
/// megabytes. A part has answers in the order in which they arrived. Its name, `FROM-NUMBER`, says
/// that all of them are for `FROM` and later records: those before were written when it was begun.
///
/// On a disk each answer is appended to a file, so a job that is killed makes again what was on its
/// way, and nothing else. A machine that loses its power may lose some of it, which the checksums
/// tell. Other stores can't append to an object: there a part is written about once a second, as
/// each is a request that costs money and time, and an object that is done sooner has none.
///
/// Records are counted from 1. Only the thread that reads and writes the object calls it, but for
/// [#arrived]. What can't be kept, or not be read, is asked again, and fails no object.
public final class Checkpoint {

    private static final Logger log = LoggerFactory.getLogger(Checkpoint.class);
    private static final long EVERY_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MOST_IN_PART = 4 << 20;
    private static final int HEAD = 2 * Long.BYTES + 2 * Integer.BYTES;

    private final Location all;
    private final Location ofJob;

    /// Those of earlier runs that are not read yet, in the order of their records.
    private final Deque<StoredObject> left;

    /// Of the parts that were read, by the first record.
    private final TreeMap<Long, Answer> answers = new TreeMap<>();

    private record Answer(int count, byte[] output) {}

    // Guarded by the monitor.
    private int parts;
    private long lastEnd = System.nanoTime();
    private boolean isClosed;

    /// Null until there is something to write.
    private Part part;

    private volatile boolean isAnyThere;

    /// @param all for the parts of all jobs
    /// @param ofJob for those of this one
    /// @param left its own
    Checkpoint(Location all, Location ofJob, List<StoredObject> left) {
        this.all = all;
        this.ofJob = ofJob;
        this.left = new ArrayDeque<>(left);
        this.parts = left.size();
        // A look at a directory is no request.
        this.isAnyThere = !left.isEmpty() || all.file().isPresent();
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
            read(left.remove().location());
        }
        answers.headMap(first).clear();
        return Optional.ofNullable(answers.remove(first))
                .filter(answer -> answer.count == count)
                .map(Answer::output);
    }

    /// What was cut off, or never reached the disk, is no answer.
    private void read(Location location) {
        try (var in = new BufferedInputStream(location.open())) {
            for (var head = in.readNBytes(HEAD); head.length == HEAD; head = in.readNBytes(HEAD)) {
                var found = ByteBuffer.wrap(head);
                long first = found.getLong();
                int count = found.getInt();
                var output = in.readNBytes(Math.max(0, found.getInt()));
                if (head(first, count, output).equals(found.rewind())) {
                    answers.put(first, new Answer(count, output));
                }
            }
        } catch (IOException | StorageException e) {
            log.debug("{} is of no use", location, e);
        }
    }

    /// What is before an answer: which records it is for, its length, and a checksum.
    private static ByteBuffer head(long first, int count, byte[] output) {
        var head = ByteBuffer.allocate(HEAD).putLong(first).putInt(count).putInt(output.length);
        var sum = new CRC32C();
        sum.update(head.array());
        sum.update(output);
        return head.putLong(sum.getValue()).rewind();
    }

    /// Takes the output of a mini-batch as soon as it is there. Called by many threads, in any order.
    ///
    /// @param from the first record whose output is not written yet
    public void arrived(long from, long first, int count, byte[] output) {
        try {
            var due = Optional.<Part>empty();
            synchronized (this) {
                if (isClosed) {
                    return;
                }
                if (part == null) {
                    part = new Part(ofJob.resolve(name(from, parts++)));
                }
                part.add(first, count, output);
                if (part.isDue(lastEnd)) {
                    due = Optional.of(part);
                    part = null;
                    lastEnd = System.nanoTime();
                }
            }
            // The other requests of the object go on meanwhile.
            if (due.isPresent()) {
                due.get().end(true);
                isAnyThere = true;
            }
        } catch (IOException | StorageException e) {
            log.debug("{}: no further answers are kept", ofJob, e);
            synchronized (this) {
                isClosed = true;
            }
        }
    }

    /// Ends it.
    ///
    /// @param isDone whether the output is there. Otherwise the answers are kept for the next run
    public synchronized void end(boolean isDone) {
        isClosed = true;
        try {
            if (part != null) {
                // Nothing of an object that has just begun is worth a request.
                part.end(!isDone && (isAnyThere || System.nanoTime() - lastEnd >= EVERY_NANOS));
            }
            if (isDone && isAnyThere) {
                all.deleteAll();
            }
        } catch (IOException | StorageException e) {
            log.debug("{} is left as it is", all, e);
        }
    }

    /// One that is being written: on a disk with each answer, in S3 at its end.
    private static final class Part {
        private final Location location;
        private final OutputStream out;
        private long bytes;

        private Part(Location location) throws IOException {
            this.location = location;
            var file = location.file();
            if (file.isPresent()) {
                Files.createDirectories(file.get().getParent());
                out = Files.newOutputStream(file.get());
            } else {
                out = new ByteArrayOutputStream();
            }
        }

        private void add(long first, int count, byte[] output) throws IOException {
            out.write(head(first, count, output).array());
            out.write(output);
            bytes += HEAD + output.length;
        }

        private boolean isDue(long lastEnd) {
            return bytes >= MOST_IN_PART || (location.file().isEmpty() && System.nanoTime() - lastEnd >= EVERY_NANOS);
        }

        private void end(boolean isKept) throws IOException {
            out.close();
            if (isKept && out instanceof ByteArrayOutputStream held) {
                try (var object = location.create()) {
                    held.writeTo(object);
                    object.commit();
                }
            }
        }
    }
}
