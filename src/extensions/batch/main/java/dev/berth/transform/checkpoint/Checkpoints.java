package dev.berth.transform.checkpoint;

import dev.berth.content.Sha256;
import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/// What is safe of outputs that are not whole, so that a job that was killed goes on where it was:
/// below the output, in `.berth-parts/KEY.parts/JOB`. Whatever decides how an answer looks and
/// which records share a request is in `JOB`, a hash: what a job has left that was told something
/// else does not count. `KEY` is the hash of the object's key: keys may have slashes and any
/// length, and one could lead into the place of another one.
///
/// On a disk that is a [Journal]. Other stores can't append to an object: there these are
/// [StoredParts]. When the output is there they are removed.
public final class Checkpoints {

    /// Below the output of a job, for all that is not an output yet.
    public static final String DIRECTORY = ".berth-parts";

    private static final Pattern PART =
            Pattern.compile("([0-9a-f]{16})\\.parts/([0-9a-f]{16})/(\\d{1,18})-(\\d{1,18})");

    private final Location directory;
    private final String job;

    /// By the hash of the key. On a disk none.
    private final Map<String, List<StoredParts.Part>> left = new ConcurrentHashMap<>();

    /// Finds out what earlier runs have left in S3. A directory is looked at for each object.
    ///
    /// @param settings what the answers of this job depend on
    public Checkpoints(Location output, String settings) {
        this.directory = output.resolve(DIRECTORY);
        this.job = settings;
        if (directory.file().isEmpty()) {
            try (var parts = directory.list()) {
                parts.forEach(part -> {
                    var name = PART.matcher(part.key());
                    if (name.matches()) {
                        left.computeIfAbsent(name.group(1), _ -> new ArrayList<>())
                                .add(new StoredParts.Part(
                                        part.location(),
                                        name.group(2),
                                        Long.parseLong(name.group(3)),
                                        Long.parseLong(name.group(4))));
                    }
                });
            }
        }
    }

    /// @param goOn whether what was left counts; otherwise it is removed
    public Checkpoint open(StoredObject object, boolean goOn) {
        var hash = Sha256.hex("%s %s %d".formatted(job, object.location(), object.size()));
        var parts = directory(object);
        return parts.file()
                .<Checkpoint>map(path -> Journal.open(path, hash, goOn))
                .orElseGet(() -> StoredParts.open(parts, hash, goOn ? left(object) : removed(object)));
    }

    private List<StoredParts.Part> removed(StoredObject object) {
        left(object).forEach(part -> part.location().delete());
        return List.of();
    }

    private List<StoredParts.Part> left(StoredObject object) {
        return left.getOrDefault(Sha256.hex(object.key()), List.of());
    }

    /// Removes what is left of an object whose output is there.
    public void forget(StoredObject object) {
        if (directory.file().isPresent() || !left(object).isEmpty()) {
            directory(object).deleteAll();
        }
    }

    /// At the end of the job: removes directories that have nothing in them.
    public void end() {
        directory.deleteEmpty();
    }

    private Location directory(StoredObject object) {
        return directory.resolve(Sha256.hex(object.key()) + ".parts");
    }
}
