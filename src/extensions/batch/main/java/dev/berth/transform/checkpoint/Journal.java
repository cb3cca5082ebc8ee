package dev.berth.transform.checkpoint;

import dev.berth.storage.StorageException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A file, `KEY.parts/JOB`, that each answer to a mini-batch is appended to as soon as it arrives,
/// in any order. So a job that is killed makes again what was on its way, and nothing else.
///
/// The system writes it to the disk when it likes. A machine that loses its power may lose some of
/// it, which the checksums tell.
final class Journal implements Checkpoint {

    private static final Logger log = LoggerFactory.getLogger(Journal.class);

    private record Place(Frame frame, long position) {}

    private final Path directory;
    private final Path path;
    private final Map<Long, Place> places = new HashMap<>();

    /// Written under the monitor, as is what follows. Null until there is something to read or to
    /// write.
    private RandomAccessFile file;

    private boolean isBroken;

    private Journal(Path directory, Path path) {
        this.directory = directory;
        this.path = path;
    }

    /// @param goOn whether what was left counts; otherwise it is removed
    static Journal open(Path directory, String hash, boolean goOn) {
        var journal = new Journal(directory, directory.resolve(hash));
        try {
            if (Files.isDirectory(directory)) {
                try (var left = Files.newDirectoryStream(directory)) {
                    for (var other : left) {
                        if (!goOn || !other.equals(journal.path)) {
                            Files.delete(other);
                        }
                    }
                }
            }
            if (Files.exists(journal.path)) {
                journal.find();
            }
        } catch (IOException e) {
            journal.keep();
            throw StorageException.permanent(journal.path, "it can't be read; --overwrite begins anew: " + e, e);
        }
        return journal;
    }

    /// Finds the answers. What follows the last whole one is cut off.
    private void find() throws IOException {
        file = new RandomAccessFile(path.toFile(), "rw");
        long end = 0;
        while (file.length() - end >= Frame.BYTES) {
            var head = Frame.read(ByteBuffer.wrap(read(end, Frame.BYTES)));
            long answer = end + Frame.BYTES;
            if (head.isEmpty() || head.get().length() > file.length() - answer) {
                break;
            }
            places.put(head.get().first(), new Place(head.get(), answer));
            end = answer + head.get().length();
        }
        file.setLength(end);
    }

    private byte[] read(long position, int length) throws IOException {
        var bytes = new byte[length];
        file.seek(position);
        file.readFully(bytes);
        return bytes;
    }

    @Override
    public synchronized Optional<byte[]> answer(long first, int count) {
        var place = places.get(first);
        if (place == null || place.frame.count() != count) {
            return Optional.empty();
        }
        try {
            var answer = read(place.position, place.frame.length());
            return place.frame.isOf(answer) ? Optional.of(answer) : Optional.empty();
        } catch (IOException e) {
            log.debug("{}: records {} and on are asked again", path, first, e);
            return Optional.empty();
        }
    }

    /// An object does not fail where only its journal can't be written: it has no further answers
    /// then.
    @Override
    public synchronized void arrived(long first, int count, byte[] output) {
        try {
            if (isBroken) {
                return;
            }
            if (file == null) {
                Files.createDirectories(directory);
                file = new RandomAccessFile(path.toFile(), "rw");
            }
            file.seek(file.length());
            file.write(Frame.of(first, count, output).head());
            file.write(output);
        } catch (IOException e) {
            log.debug("{}: no further answers are kept", path, e);
            isBroken = true;
        }
    }

    /// The output is there, so the object does not fail where the journal stays: the next run removes
    /// it.
    @Override
    public void end() {
        keep();
        if (file == null) {
            return;
        }
        try {
            Files.deleteIfExists(path);
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            log.debug("{} stays", path, e);
        }
    }

    @Override
    public synchronized void keep() {
        try {
            isBroken = true;
            if (file != null) {
                file.close();
            }
        } catch (IOException e) {
            log.debug("{}", path, e);
        }
    }
}
