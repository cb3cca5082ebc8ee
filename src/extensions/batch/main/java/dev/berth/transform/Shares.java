package dev.berth.transform;

import dev.berth.content.Sha256;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
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
///
/// @param all what each instance has to do
/// @param mine hashes of this instance's names. By size only: of millions of names no more than that
///   fits into memory
/// @param list a hash of the objects
record Shares(TransformJob job, List<Share> all, Set<Long> mine, String list) {

    /// What an object takes that is empty, in bytes: a request.
    private static final long OF_ANY_OBJECT = 4096;

    private static final Pattern NOTE = Pattern.compile("\\d{1,9}\\.\\p{XDigit}{16}");
    private static final long MIXING = 0x9e3779b97f4a7c15L;
    private static final int MOST_NAMED = 10;

    /// What an instance has to do.
    ///
    /// @param objects or ranges of them
    /// @param bytes 0 where sizes are not known
    record Share(long objects, long bytes) {

        private static final Share NONE = new Share(0, 0);

        private Share with(Share other) {
            return new Share(objects + other.objects, bytes + other.bytes);
        }

        private long weight() {
            return bytes + OF_ANY_OBJECT * objects;
        }
    }

    /// Lists the objects of a job.
    ///
    /// @param wanted asked now and then; where it says no, the shares are not whole
    static Shares of(TransformJob job, BooleanSupplier wanted) {
        var all = new ArrayList<>(Collections.nCopies(job.part().count(), Share.NONE));
        var named = new TreeMap<Long, Share>();
        try (var objects = job.source().objects()) {
            for (var each = objects.iterator(); each.hasNext() && wanted.getAsBoolean(); ) {
                for (var range : job.ranges(each.next())) {
                    var share = new Share(1, range.bytes());
                    if (!needNoList(job)) {
                        named.merge(hash(range), share, Share::with);
                    }
                    if (!isBySize(job)) {
                        int instance = byKey(range, job);
                        all.set(instance, all.get(instance).with(share));
                    }
                }
            }
        }
        long list = 0;
        for (var each : named.entrySet()) {
            list = (list * MIXING + each.getKey()) * MIXING + each.getValue().weight();
        }
        var mine = isBySize(job) ? deal(named, job, all) : Set.<Long>of();
        return new Shares(job, List.copyOf(all), mine, "%016x".formatted(list));
    }

    /// Those of a job that [needs no list][#needNoList], before its objects are listed.
    static Shares unlisted(TransformJob job) {
        return new Shares(job, List.of(), Set.of(), "");
    }

    /// @return the names of this instance's
    private static Set<Long> deal(SortedMap<Long, Share> named, TransformJob job, List<Share> all) {
        var least = new PriorityQueue<Integer>(
                Comparator.<Integer>comparingLong(instance -> all.get(instance).weight())
                        .thenComparing(Comparator.naturalOrder()));
        IntStream.range(0, job.part().count()).forEach(least::add);
        var mine = new HashSet<Long>();
        named.entrySet().stream()
                .sorted(Map.Entry.comparingByValue(
                        Comparator.comparingLong(Share::weight).reversed()))
                .forEach(each -> {
                    int instance = least.remove();
                    all.set(instance, all.get(instance).with(each.getValue()));
                    least.add(instance);
                    if (instance == job.part().index()) {
                        mine.add(each.getKey());
                    }
                });
        return mine;
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
    boolean isMine(ObjectRange range) {
        return isBySize(job)
                ? mine.contains(hash(range))
                : byKey(range, job) == job.part().index();
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
        int same = 0;
        var others = new TreeSet<Integer>();
        // The last one may have removed them meanwhile. S3 also lists those of more instances.
        try (var found = notes.list()) {
            for (var note :
                    found.filter(each -> NOTE.matcher(each.key()).matches()).toList()) {
                int instance =
                        Integer.parseInt(note.key().substring(0, note.key().indexOf('.')));
                if (note.key().endsWith(list)) {
                    same++;
                } else if (instance == job.part().index()) {
                    note.location().delete();
                } else {
                    others.add(instance);
                }
            }
        }
        if (!others.isEmpty()) {
            throw new TransformException(
                    "the input has changed: found other objects than instance %s, so some may be in nobody's part. Run instance %s again"
                            .formatted(
                                    others.first(),
                                    others.stream()
                                            .limit(MOST_NAMED)
                                            .map(String::valueOf)
                                            .collect(Collectors.joining(", "))));
        }
        if (same == job.part().count()) {
            notes.deleteAll();
        }
    }
}
