package dev.berth.transform;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What is safe of outputs that are not whole, so that a job that was killed goes on where it was: below the output, in
/// `.berth-parts/KEY.parts/JOB/1-412`, are the answers to the records 1 to 412 of an object. Whatever decides how an answer
/// looks and which records share a request is in `JOB`, a hash: parts of a job that was told something else do not count.
///
/// Parts are written about once a second, so an object that is done sooner has none. When the output is there they are
/// removed.
final class Checkpoints {

  private static final Logger log = LoggerFactory.getLogger(Checkpoints.class);
  static final String DIRECTORY = ".berth-parts";
  private static final Pattern PART = Pattern.compile("(?s)(.*)\\.parts/([0-9a-f]{16})/(\\d{1,18})-(\\d{1,18})");
  private static final long EVERY_NANOS = Duration.ofSeconds(1).toNanos();
  private static final int MOST_HELD = 8 << 20;

  private record Part(Location location, String job, long first, long last) {}

  private final Storage storage;
  private final Location directory;
  private final String job;
  private final Map<String, List<Part>> left = new ConcurrentHashMap<>();

  /// Lists what earlier runs have left.
  ///
  /// @param settings what the parts of this job depend on
  Checkpoints(Storage storage, Location output, String settings) {
    this.storage = storage;
    this.directory = output.resolve(DIRECTORY);
    this.job = settings;
    try (var parts = storage.listIfThere(directory)) {
      parts.forEach(part -> {
        var name = PART.matcher(part.key());
        if (name.matches()) {
          left.computeIfAbsent(name.group(1), _ -> new ArrayList<>()).add(new Part(
              part.location(), name.group(2), Long.parseLong(name.group(3)), Long.parseLong(name.group(4))));
        }
      });
    }
  }

  /// @param goOn whether what was left counts; otherwise it is removed
  Checkpoint open(StoredObject object, boolean goOn) {
    var hash = hash("%s %s %d".formatted(job, object.location(), object.size()));
    var found = left.getOrDefault(object.key(), List.of());
    var done = new ArrayList<Part>();
    var ofThisJob = found.stream()
        .filter(part -> goOn && part.job.equals(hash)).sorted(Comparator.comparingLong(Part::first)).toList();
    for (var part : ofThisJob) {
      if (part.first == (done.isEmpty() ? 1 : done.getLast().last + 1)) {
        done.add(part);
      }
    }
    found.stream().filter(part -> !done.contains(part)).forEach(part -> storage.delete(part.location));
    return new Checkpoint(object.key(), hash, done);
  }

  /// Removes what is left of an object whose output is there. A file that was being written is in no list.
  void forget(StoredObject object) {
    if (directory instanceof Location.Local || left.containsKey(object.key())) {
      storage.deleteAll(directory(object.key()));
    }
  }

  /// At the end of the job: removes directories that have nothing in them.
  void end() {
    storage.deleteEmpty(directory);
  }

  private Location directory(String key) {
    return directory.resolve(key + ".parts");
  }

  static String hash(String text) {
    try {
      var hash = MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, 8);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /// That of one object. For one thread.
  final class Checkpoint {

    private final String key;
    private final String hash;
    private final List<Part> parts;
    private final ByteArrayOutputStream held = new ByteArrayOutputStream();
    private long written = System.nanoTime();
    private long records;
    private boolean isBroken;

    private Checkpoint(String key, String hash, List<Part> parts) {
      this.key = key;
      this.hash = hash;
      this.parts = parts;
      this.records = last();
    }

    private long last() {
      return parts.isEmpty() ? 0 : parts.getLast().last;
    }

    /// How many records need not be sent any more.
    long records() {
      return last();
    }

    /// Where their answers are, in their order.
    List<Location> outputs() {
      return parts.stream().map(Part::location).toList();
    }

    /// Writes their answers.
    void replay(ObjectWriter out) throws IOException {
      for (var part : parts) {
        try (var in = storage.open(part.location)) {
          in.transferTo(out);
        }
      }
    }

    /// Takes the answers to the next records. They are written at once when the last ones were a while ago.
    void add(int count, byte[] answers) {
      records += count;
      if (isBroken) {
        return;
      }
      held.writeBytes(answers);
      if (System.nanoTime() - written >= EVERY_NANOS || held.size() >= MOST_HELD) {
        write();
      }
    }

    /// An object does not fail where only a part of it can't be written: it has no further ones then.
    private void write() {
      var part = new Part(
          directory(key).resolve("%s/%d-%d".formatted(hash, last() + 1, records)), hash, last() + 1, records);
      try (var out = storage.create(part.location)) {
        out.write(held.toByteArray());
        out.commit();
        parts.add(part);
      } catch (StorageException e) {
        log.debug("{}: no further parts are written", key, e);
        isBroken = true;
      }
      held.reset();
      written = System.nanoTime();
    }

    /// Writes what is held, because the object can't be ended now, unless it has just begun.
    void keep() {
      if (held.size() > 0 && (!parts.isEmpty() || System.nanoTime() - written >= EVERY_NANOS)) {
        write();
      }
    }

    /// Removes it: the output is there.
    void end() {
      if (directory instanceof Location.Local || !parts.isEmpty()) {
        storage.deleteAll(directory(key));
      }
    }
  }
}
