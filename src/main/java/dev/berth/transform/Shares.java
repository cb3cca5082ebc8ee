package dev.berth.transform;

import dev.berth.storage.Storage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.zip.CRC32;

/// How the objects of a job are dealt out to its instances. Each instance finds its own without
/// asking the others: all of them come to the same shares from the same list of objects, in any
/// order and after any restart.
///
/// By size, the largest object goes first, and each to the instance that has least until then. The
/// list has to be the same for all instances, so nothing may be added to the input meanwhile. By
/// key, an object's instance depends on nothing but its key, and the shares are as even as chance
/// makes them.
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

  private record Load(int instance, long weight) {}

  private final TransformJob job;
  private final List<Share> all;

  /// By size only.
  private final Set<String> mine;

  private Shares(TransformJob job, List<Share> all, Set<String> mine) {
    this.job = job;
    this.all = all;
    this.mine = mine;
  }

  /// Lists the objects of a job.
  ///
  /// @param wanted asked now and then; where it says no, the shares are not whole
  public static Shares of(TransformJob job, Storage storage, BooleanSupplier wanted) {
    var all = new ArrayList<Share>();
    for (int i = 0; i < job.instances(); i++) {
      all.add(new Share(0, 0));
    }
    var keys = new HashMap<String, Share>();
    try (var objects = JobObjects.of(job, storage)) {
      for (var each = objects.iterator(); each.hasNext() && wanted.getAsBoolean(); ) {
        for (var range : ObjectRange.of(each.next(), job)) {
          var share = new Share(1, range.bytes());
          if (job.instances() > 1 && job.shardBySize()) {
            keys.merge(range.name(), share, Share::with);
          } else {
            all.set(byKey(range, job), all.get(byKey(range, job)).with(share));
          }
        }
      }
    }
    var mine = new HashSet<String>();
    deal(keys, job, all, mine);
    return new Shares(job, List.copyOf(all), mine);
  }

  private static void deal(
      Map<String, Share> keys, TransformJob job, List<Share> all, Set<String> mine) {
    var loads =
        new PriorityQueue<Load>(
            Comparator.comparingLong(Load::weight).thenComparingInt(Load::instance));
    for (int i = 0; i < job.instances(); i++) {
      loads.add(new Load(i, 0));
    }
    keys.entrySet().stream()
        .sorted(
            Comparator.<Map.Entry<String, Share>>comparingLong(entry -> -entry.getValue().weight())
                .thenComparing(Map.Entry::getKey))
        .forEach(
            entry -> {
              var least = loads.poll();
              loads.add(new Load(least.instance, least.weight + entry.getValue().weight()));
              all.set(least.instance, all.get(least.instance).with(entry.getValue()));
              if (least.instance == job.instance()) {
                mine.add(entry.getKey());
              }
            });
  }

  /// The ranges of one object go to one instance after another.
  private static int byKey(ObjectRange range, TransformJob job) {
    var hash = new CRC32();
    hash.update(range.object().key().getBytes(StandardCharsets.UTF_8));
    return (int) ((hash.getValue() + range.number()) % job.instances());
  }

  /// Whether shares can be told from a key alone, without a list.
  static boolean needNoList(TransformJob job) {
    return job.instances() == 1 || !job.shardBySize();
  }

  /// Whether an object, or a range of one, is for this instance.
  static boolean isMineByKey(ObjectRange range, TransformJob job) {
    return byKey(range, job) == job.instance();
  }

  boolean isMine(ObjectRange range) {
    return needNoList(job) ? isMineByKey(range, job) : mine.contains(range.name());
  }

  /// What each instance has to do.
  public List<Share> all() {
    return all;
  }
}
