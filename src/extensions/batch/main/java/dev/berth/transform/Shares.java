package dev.berth.transform;

import dev.berth.content.Sha256;
import dev.berth.storage.StoredObject;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.zip.CRC32;

/// How the objects of a job are dealt out to its instances. Each instance finds its own without
/// asking the others: all of them come to the same shares from the same list of objects, in any
/// order and after any restart.
///
/// By size, the largest object goes first, and each to the instance that has least until then. By
/// key, an object's instance depends on nothing but its key, and the shares are as even as chance
/// makes them. By size, and where objects are split, the list has to be the same for all instances:
/// the last one [finds out][#agree] whether it was.
///
/// What has one key has one output, and goes to one instance. With `--split-objects` each range of
/// a large object counts as an object of its own.
public final class Shares {

    /// What an object takes that is empty, in bytes: a request.
    private static final long OF_ANY_OBJECT = 4096;

    /// What an instance has to do.
    ///
    /// @param objects or ranges of them
    /// @param bytes 0 where sizes are not known
    public record Share(long objects, long bytes) {

        private Share with(Share other) {
            return new Share(objects + other.objects, bytes + other.bytes);
        }

        private long weight() {
            return bytes + OF_ANY_OBJECT * objects;
        }
    }

    /// What has one name; of millions no more than a hash of it fits into memory.
    private record Named(long name, long objects, long bytes) {

        private Share share() {
            return new Share(objects, bytes);
        }
    }

    private static final Pattern NOTE = Pattern.compile("\\d{1,9}\\.\\p{XDigit}{16}");
    private static final long MIXING = 0x9e3779b97f4a7c15L;

    private final TransformJob job;
    private final List<Share> all;

    /// By size only, in order.
    private final long[] mine;

    private final String list;

    private Shares(TransformJob job, List<Share> all, long[] mine, String list) {
        this.job = job;
        this.all = List.copyOf(all);
        this.mine = mine;
        this.list = list;
    }

    /// Lists the objects of a job.
    ///
    /// @param wanted asked now and then; where it says no, the shares are not whole
    public static Shares of(TransformJob job, BooleanSupplier wanted) {
        var all = new ArrayList<>(Collections.nCopies(job.part().count(), new Share(0, 0)));
        var named = new ArrayList<Named>();
        try (var objects = job.source().objects()) {
            for (var each = objects.iterator(); each.hasNext() && wanted.getAsBoolean(); ) {
                for (var range : job.ranges(each.next())) {
                    if (!needNoList(job)) {
                        named.add(new Named(hash(range), 1, range.bytes()));
                    }
                    if (!isBySize(job)) {
                        int instance = byKey(range, job);
                        all.set(instance, all.get(instance).with(new Share(1, range.bytes())));
                    }
                }
            }
        }
        named.sort(Comparator.comparingLong(Named::name).thenComparingLong(Named::bytes));
        long list = 0;
        for (var each : named) {
            list = (list * MIXING + each.name) * MIXING + each.bytes;
        }
        var mine = isBySize(job) ? deal(merged(named), job, all) : new long[0];
        return new Shares(job, all, mine, "%016x".formatted(list));
    }

    private static List<Named> merged(List<Named> sorted) {
        var merged = new ArrayList<Named>(sorted.size());
        for (var each : sorted) {
            if (merged.isEmpty() || merged.getLast().name != each.name) {
                merged.add(each);
            } else {
                var same = merged.removeLast();
                merged.add(new Named(each.name, same.objects + each.objects, same.bytes + each.bytes));
            }
        }
        return merged;
    }

    /// @return the names of this instance's, in order
    private static long[] deal(List<Named> named, TransformJob job, List<Share> all) {
        var least = new PriorityQueue<Integer>(
                Comparator.<Integer>comparingLong(instance -> all.get(instance).weight())
                        .thenComparing(Comparator.naturalOrder()));
        IntStream.range(0, job.part().count()).forEach(least::add);
        var mine = LongStream.builder();
        named.sort(
                Comparator.<Named>comparingLong(each -> -each.share().weight()).thenComparingLong(Named::name));
        for (var each : named) {
            int instance = least.remove();
            all.set(instance, all.get(instance).with(each.share()));
            least.add(instance);
            if (instance == job.part().index()) {
                mine.add(each.name);
            }
        }
        return mine.build().sorted().toArray();
    }

    private static long hash(ObjectRange range) {
        return ByteBuffer.wrap(Sha256.of(range.name())).getLong();
    }

    /// The ranges of one object go to one instance after another.
    private static int byKey(ObjectRange range, TransformJob job) {
        var hash = new CRC32();
        hash.update(range.object().key().getBytes(StandardCharsets.UTF_8));
        return (int) ((hash.getValue() + range.number()) % job.part().count());
    }

    private static boolean isBySize(TransformJob job) {
        return job.part().count() > 1 && job.part().bySize();
    }

    /// Whether no other instance does anything that depends on the list of objects.
    static boolean needNoList(TransformJob job) {
        return job.part().count() == 1 || !(job.part().bySize() || job.has(JobOption.SPLIT_OBJECTS));
    }

    /// Whether an object, or a range of one, is for this instance.
    static boolean isMineByKey(ObjectRange range, TransformJob job) {
        return byKey(range, job) == job.part().index();
    }

    boolean isMine(ObjectRange range) {
        return isBySize(job) ? Arrays.binarySearch(mine, hash(range)) >= 0 : isMineByKey(range, job);
    }

    /// What each instance has to do.
    public List<Share> all() {
        return all;
    }

    /// Leaves a note of the objects in the output, `.berth-shares-of-2/0.LIST`, when this instance
    /// has done its part of them. Instances that have found others have shared out others: an object
    /// may be in nobody's part.
    ///
    /// @throws TransformException where another instance has left another note
    void agree() {
        if (needNoList(job)) {
            return;
        }
        var notes =
                job.output().resolve(".berth-shares-of-%d".formatted(job.part().count()));
        try (var note =
                notes.resolve("%d.%s".formatted(job.part().index(), list)).create()) {
            note.commit();
        }
        List<StoredObject> there;
        // The last one may have removed them meanwhile.
        try (var found = notes.listIfThere()) {
            // S3 also lists those of more instances.
            there = found.filter(note -> NOTE.matcher(note.key()).matches()).toList();
        }
        int same = 0;
        var others = new TreeSet<Integer>();
        for (var note : there) {
            int instance = Integer.parseInt(note.key().substring(0, note.key().indexOf('.')));
            if (note.key().endsWith(list)) {
                same++;
            } else if (instance == job.part().index()) {
                note.location().delete();
            } else {
                others.add(instance);
            }
        }
        if (!others.isEmpty()) {
            throw new TransformException(
                    "the input has changed: found other objects than instance %s, so some may be in nobody's part. Run instance %s again"
                            .formatted(
                                    others.first(),
                                    others.stream()
                                            .limit(10)
                                            .map(String::valueOf)
                                            .collect(Collectors.joining(", "))));
        }
        if (same == job.part().count()) {
            notes.deleteAll();
        }
    }
}
