package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.config.BatchStrategy;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.zip.CRC32;

/// Runs a job against a container that is up: its objects, some at the same time, each to its output.
///
/// The objects that fail do not keep the others from being done. Outcomes are values; only what concerns the whole job,
/// such as a listing that fails, ends it.
public final class JobRunner {

  private static final int DEFAULT_PAYLOAD_IN_MB = 6;
  private static final int MOST_FAILURES = 1000;

  /// More connections than any machine has.
  private static final int MOST_CONCURRENT = 10_000;
  private static final Splitting RECORDS_OF_BEDROCK = Splitting.ofMebibytes(SplitType.LINE, BatchStrategy.SINGLE_RECORD, 0);

  private final TransformJob job;
  private final Storage storage;
  private final Progress progress;
  private final ReentrantLock lock = new ReentrantLock();
  private final List<ObjectOutcome> failures = new ArrayList<>();
  private long found;
  private long succeeded;
  private long skipped;
  private long failed;
  private long records;

  public JobRunner(TransformJob job, Storage storage, Progress progress) {
    this.job = job;
    this.storage = storage;
    this.progress = progress;
  }

  /// @param endpoint where the container listens
  public JobReport run(URI endpoint) throws InterruptedException {
    long start = System.nanoTime();
    var problem = "";
    try (var asked = new Invoker(endpoint, job.formats(), job.timeout(), 0, 1)) {
      var container = asked.executionParameters();
      int concurrent = concurrent(container);
      try (var invoker = new Invoker(endpoint, job.formats(), job.timeout(), job.retries(), concurrent);
          var threads = Executors.newVirtualThreadPerTaskExecutor()) {
        var reader = new ObjectReader(storage, job.gzip());
        var slots = new Semaphore(2 * concurrent);
        if (job.bedrock()) {
          var exchange = new BedrockExchange(invoker, storage, job.output(), job.imagesAsFiles());
          transformAll(new ObjectTransform(
              reader, RECORDS_OF_BEDROCK, Optional.empty(), Optional.empty(), exchange, threads, slots, progress),
              exchange::countDone, threads, concurrent);
          exchange.writeManifest(job.instances() == 1
              ? "manifest.json.out"
              : "manifest-%d-of-%d.json.out".formatted(job.instance(), job.instances()));
        } else {
          var processing = job.processing().processing(job.formats());
          var exchange = new TransformExchange(job, processing, invoker, reader);
          transformAll(new ObjectTransform(
              reader, splitting(container), processing, job.formats().accept(), exchange, threads, slots, progress),
              _ -> {}, threads, concurrent);
        }
      }
    } catch (StorageException | TransformException e) {
      problem = e.getMessage();
    }
    return new JobReport(
        job.instance(), job.instances(), found, succeeded, skipped, failed, records,
        (System.nanoTime() - start) / 1e9, List.copyOf(failures), problem);
  }

  /// No more objects are open than requests may run: each of them may be one request.
  ///
  /// @param done is told the outputs that were there already
  private void transformAll(
      ObjectTransform transform, Consumer<Location> done, ExecutorService threads, int concurrent) throws InterruptedException {
    var open = new Semaphore(concurrent);
    try (var objects = Objects.of(job, storage)) {
      for (Iterator<StoredObject> each = objects.iterator(); each.hasNext(); ) {
        var object = each.next();
        if (!isMine(object.key())) {
          continue;
        }
        found++;
        progress.found(found);
        open.acquire();
        threads.execute(() -> {
          try {
            end(outcome(transform, done, object));
          } finally {
            open.release();
          }
        });
      }
    } finally {
      open.acquire(concurrent);
    }
  }

  /// By the key alone, so that instances agree whatever else comes and goes meanwhile.
  private boolean isMine(String key) {
    var hash = new CRC32();
    hash.update(key.getBytes(StandardCharsets.UTF_8));
    return hash.getValue() % job.instances() == job.instance();
  }

  private ObjectOutcome outcome(ObjectTransform transform, Consumer<Location> done, StoredObject object) {
    long start = System.nanoTime();
    try {
      var output = output(object);
      if (!job.overwrite() && storage.exists(output)) {
        done.accept(output);
        return new ObjectOutcome(object.key(), ObjectOutcome.Status.SKIPPED, 0, 0, "");
      }
      long count = transform.transform(object, output);
      return new ObjectOutcome(object.key(), ObjectOutcome.Status.SUCCEEDED, count, seconds(start), "");
    } catch (TransformException | StorageException e) {
      return new ObjectOutcome(object.key(), ObjectOutcome.Status.FAILED, 0, seconds(start), e.getMessage());
    } catch (InterruptedException e) {
      return new ObjectOutcome(object.key(), ObjectOutcome.Status.FAILED, 0, seconds(start), "interrupted");
    } catch (RuntimeException | Error e) {
      return new ObjectOutcome(object.key(), ObjectOutcome.Status.FAILED, 0, seconds(start), e.toString());
    }
  }

  private Location output(StoredObject object) {
    return job.output().resolve(object.key() + ".out");
  }

  private void end(ObjectOutcome outcome) {
    lock.lock();
    try {
      switch (outcome.status()) {
        case SUCCEEDED -> succeeded++;
        case SKIPPED -> skipped++;
        case FAILED -> {
          failed++;
          if (failures.size() < MOST_FAILURES) {
            failures.add(outcome);
          }
        }
      }
      records += outcome.records();
    } finally {
      lock.unlock();
    }
    progress.ended(outcome);
  }

  /// The job's word, then the container's, then the platform's default.
  private int concurrent(Optional<JsonNode> container) {
    return said(job.maxConcurrentTransforms(), container, "MaxConcurrentTransforms").stream()
        .filter(n -> n > 0)
        .map(n -> Math.min(n, MOST_CONCURRENT))
        .findFirst()
        .orElse(1);
  }

  private Splitting splitting(Optional<JsonNode> container) {
    var strategy = job.strategy()
        .or(() -> container.flatMap(parameters -> strategy(parameters.path("BatchStrategy").asText())))
        .orElse(BatchStrategy.MULTI_RECORD);
    return Splitting.ofMebibytes(
        job.formats().splitType(), strategy, said(job.maxPayloadInMb(), container, "MaxPayloadInMB").orElse(DEFAULT_PAYLOAD_IN_MB));
  }

  /// The platform's containers spell it in capitals, the API does not.
  private static Optional<BatchStrategy> strategy(String text) {
    return Arrays.stream(BatchStrategy.values())
        .filter(strategy -> strategy.name().equals(text) || strategy.toString().equals(text))
        .findFirst();
  }

  private static OptionalInt said(OptionalInt job, Optional<JsonNode> container, String name) {
    var answer = container.map(parameters -> parameters.path(name)).filter(JsonNode::isInt);
    return job.isPresent() && !(job.getAsInt() == 0 && name.equals("MaxConcurrentTransforms"))
        ? job
        : answer.map(value -> OptionalInt.of(value.intValue())).orElse(OptionalInt.empty());
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
