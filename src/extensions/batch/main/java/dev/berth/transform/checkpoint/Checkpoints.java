package dev.berth.transform.checkpoint;

import dev.berth.content.Sha256;
import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/// What is safe of outputs that are not whole, so that a job that was killed goes on where it was:
/// below the output, in `.berth-parts/KEY.parts/JOB`. Whatever decides how an answer looks and
/// which records share a request is in `JOB`, a hash: what a job has left that was told something
/// else does not count. `KEY` is the hash of the object's key: keys may have slashes and any
/// length, and one could lead into the place of another one.
public final class Checkpoints {

    /// Below the output of a job, for all that is not an output yet.
    public static final String DIRECTORY = ".berth-parts";

    /// Of parts. Those of a Berth that writes them otherwise do not count.
    private static final String FORM = "in order";

    private final Location directory;
    private final String job;

    /// What earlier runs have left, by the name of its object's directory.
    private final Map<String, List<StoredObject>> left;

    /// @param settings what the answers of this job depend on
    public Checkpoints(Location output, String settings) {
        this.directory = output.resolve(DIRECTORY);
        this.job = settings;
        try (var parts = directory.list()) {
            this.left = parts.collect(Collectors.groupingBy(part -> part.key().replaceFirst("/.*", "")));
        }
    }

    /// @param goOn whether what was left counts; otherwise it is removed
    public Checkpoint open(StoredObject object, boolean goOn) {
        var all = directory.resolve(name(object));
        var hash = Sha256.hex("%s %s %s %d".formatted(FORM, job, object.location(), object.size()));
        var own = left(object).stream()
                .filter(part -> goOn && part.key().matches(".*/" + hash + "/\\d{9}"))
                .toList();
        if (own.isEmpty()) {
            forget(object);
        }
        return new Checkpoint(all, all.resolve(hash), own);
    }

    private List<StoredObject> left(StoredObject object) {
        return left.getOrDefault(name(object), List.of());
    }

    private static String name(StoredObject object) {
        return Sha256.hex(object.key()) + ".parts";
    }

    /// Removes what is left of an object whose output is there.
    public void forget(StoredObject object) {
        if (!left(object).isEmpty()) {
            directory.resolve(name(object)).deleteAll();
        }
    }

    /// At the end of the job: removes directories that have nothing in them.
    public void end() {
        directory.deleteEmpty();
    }
}
