package dev.berth.transform.checkpoint;

import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Objects of S3, `KEY.parts/JOB/1-412` with the answers to the records 1 to 412. One is written
/// about once a second, as each is a request that costs money and time: a job that is killed makes
/// the answers of the last second again. An object that is done sooner has none.
final class StoredParts implements Checkpoint {

    /// Answers to the records from the first to the last one, in their order.
    record Part(Location location, String job, long first, long last) {}

    private record Answer(int count, byte[] output) {}

    private static final Logger log = LoggerFactory.getLogger(StoredParts.class);
    private static final long EVERY_NANOS = Duration.ofSeconds(1).toNanos();
    private static final int MOST_HELD = 4 << 20;

    private final Location directory;
    private final String job;

    /// Those whose records are not yet read.
    private final List<Part> left;

    private boolean isAnyWritten;

    /// Those of the part that was read last, by their first record.
    private final Map<Long, Answer> answers = new HashMap<>();

    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private long firstHeld;
    private long lastHeld;
    private long written = System.nanoTime();
    private boolean isBroken;

    private StoredParts(Location directory, String job, List<Part> left) {
        this.directory = directory;
        this.job = job;
        this.left = left;
        this.isAnyWritten = !left.isEmpty();
    }

    /// @param left what earlier runs have left; what is of no use is removed
    static StoredParts open(Location directory, String job, List<Part> left) {
        var parts = left.stream()
                .sorted(Comparator.comparingLong(Part::first))
                .collect(Collectors.partitioningBy(part -> part.job.equals(job)));
        parts.get(false).forEach(part -> part.location.delete());
        return new StoredParts(directory, job, parts.get(true));
    }

    @Override
    public Optional<byte[]> answer(long first, int count) {
        if (!answers.containsKey(first)) {
            left.stream()
                    .filter(part -> part.first <= first && first <= part.last)
                    .findFirst()
                    .ifPresent(this::read);
        }
        return Optional.ofNullable(answers.remove(first))
                .filter(answer -> answer.count == count)
                .map(Answer::output);
    }

    /// What can't be read is asked again.
    private void read(Part part) {
        answers.clear();
        try (var in = part.location.open()) {
            var bytes = ByteBuffer.wrap(in.readAllBytes());
            for (var frame = Frame.read(bytes); frame.isPresent(); frame = Frame.read(bytes)) {
                var answer = new byte[frame.get().length()];
                bytes.get(answer);
                answers.put(frame.get().first(), new Answer(frame.get().count(), answer));
            }
        } catch (IOException | StorageException e) {
            log.debug("{} is of no use", part.location, e);
        }
    }

    @Override
    public void written(long first, int count, byte[] output) {
        if (isBroken) {
            return;
        }
        if (held.size() > 0 && first != lastHeld + 1) {
            // An earlier run has written what is between them.
            write();
        }
        if (held.size() == 0) {
            firstHeld = first;
        }
        lastHeld = first + count - 1;
        held.writeBytes(Frame.of(first, count, output).head());
        held.writeBytes(output);
        if (System.nanoTime() - written >= EVERY_NANOS || held.size() >= MOST_HELD) {
            write();
        }
    }

    /// An object does not fail where only a part of it can't be written: it has no further ones then.
    private void write() {
        var part = directory.resolve("%s/%d-%d".formatted(job, firstHeld, lastHeld));
        try (var out = part.create()) {
            out.write(held.toByteArray());
            out.commit();
            isAnyWritten = true;
        } catch (StorageException e) {
            log.debug("{}: no further parts are written", directory, e);
            isBroken = true;
        }
        held.reset();
        written = System.nanoTime();
    }

    /// Nothing of an object that has just begun is worth a request.
    @Override
    public void keep() {
        if (held.size() > 0 && (isAnyWritten || System.nanoTime() - written >= EVERY_NANOS)) {
            write();
        }
    }

    @Override
    public void end() {
        if (isAnyWritten) {
            directory.deleteAll();
        }
    }
}
