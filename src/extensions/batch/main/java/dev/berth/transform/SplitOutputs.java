package dev.berth.transform;

import dev.berth.content.Sha256;
import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import dev.berth.transform.checkpoint.Checkpoints;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The outputs of objects that several instances share. Each instance writes its part, below the
/// output, to `.berth-parts/KEY.split/00003-of-00008.JOB`. `KEY` and `JOB` are hashes, as in
/// [Checkpoints]. An instance that has written a part joins them if all are there.
///
/// Two instances that end at the same time may both join: they make the same bytes, and each lets
/// them appear at once. Parts are removed when the output is there, so who misses a part finds the
/// output, or is not the last.
record SplitOutputs(TransformJob job) {

    private static final Logger log = LoggerFactory.getLogger(SplitOutputs.class);
    private static final int MOST_TRIES = 3;

    /// Where the answers to a range's records go.
    Location part(ObjectRange range) {
        return range.isWhole() ? job.output(range.object()) : directory(range).resolve(name(range, range.number()));
    }

    /// Whether a range need not be done: its part is there, or its object's output.
    boolean isDone(ObjectRange range) {
        // In this order. The part is removed after the output has appeared, by whoever joins.
        return part(range).exists()
                || (!range.isWhole() && job.output(range.object()).exists());
    }

    /// Where the answers to a range that is done are. Where its part has been joined already, they
    /// are with those of the other ranges, and count for the first one.
    Optional<Location> answers(ObjectRange range) {
        if (part(range).exists()) {
            return Optional.of(part(range));
        }
        return Optional.of(job.output(range.object())).filter(_ -> range.number() == 0);
    }

    /// What is asked where some of the answers to a range do not count: all of its object where they
    /// are joined.
    ObjectRange asked(ObjectRange range, Location answers) {
        return answers.equals(part(range)) ? range : new ObjectRange(range.object(), 0, 1);
    }

    /// Makes the output of a range's object, if all its parts are there and the output is not.
    ///
    /// @param range not all of its object
    void join(ObjectRange range) {
        var output = job.output(range.object());
        for (int tries = 1; ; tries++) {
            try {
                // In this order. Parts are removed when the output is there.
                var parts = parts(range);
                if (!output.exists()) {
                    if (parts.size() < range.count()) {
                        return;
                    }
                    output.join(parts, job.kind().outputType());
                }
                directory(range).deleteAll();
                return;
            } catch (StorageException e) {
                // Another instance joins too, and was faster or has begun after this one.
                if (tries == MOST_TRIES && !output.exists()) {
                    throw e;
                }
                log.debug("{}: joining did not succeed, try {}", output, tries, e);
            }
        }
    }

    /// Those that are there. Their names are listed in their order.
    private List<StoredObject> parts(ObjectRange range) {
        var names = IntStream.range(0, range.count())
                .mapToObj(number -> name(range, number))
                .collect(Collectors.toSet());
        try (var found = directory(range).list()) {
            return found.filter(part -> names.contains(part.key())).toList();
        }
    }

    private Location directory(ObjectRange range) {
        return job.output()
                .resolve(Checkpoints.DIRECTORY)
                .resolve(Sha256.hex(range.object().key()) + ".split");
    }

    private String name(ObjectRange range, int number) {
        var object = range.object();
        var hash = Sha256.hex("%s %s %s %d"
                .formatted(job.madeBy(), job.kind().records().strategy(), object.location(), object.size()));
        return "%05d-of-%05d.%s".formatted(number, range.count(), hash);
    }
}
