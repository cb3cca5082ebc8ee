package dev.berth.transform;

import dev.berth.hooks.MediaType;
import dev.berth.memory.MemoryBudget;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
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

  private static final int MOST_FAILURES = 1000;

  /// For payloads. A server in the same process needs its own, and so do the parts of outputs on their way to S3.
  private static final int SHARE_OF_HEAP = 4;

  /// One is on its way. The others may be read, or have an answer that waits to be written.
  private static final long PAYLOADS_PER_REQUEST = 4;

  private final TransformJob job;
  private final Storage storage;
  private final ObjectSource source;
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
    this.source = new ObjectSource(storage, job.gzip());
    this.progress = progress;
  }

  /// @param endpoint where the container listens
  public JobReport run(URI endpoint) throws InterruptedException {
    long start = System.nanoTime();
    var problem = "";
    try {
      runObjects(endpoint);
    } catch (StorageException | TransformException e) {
      problem = e.getMessage();
    }
    var report = new JobReport(
        status(problem), job.instance(), job.instances(), found, succeeded, skipped, failed, records, seconds(start),
        List.copyOf(failures), problem);
    progress.status(report.status());
    return report;
  }

  private void runObjects(URI endpoint) throws InterruptedException {
    var plan = plan(endpoint);
    if (job.bedrock()) {
      progress.status(JobStatus.SUBMITTED);
      progress.status(JobStatus.VALIDATING);
      try (var objects = JobObjects.of(job, storage)) {
        job.quotas().check(objects, source, plan.splitting());
      }
      progress.status(JobStatus.SCHEDULED);
    }
    progress.status(JobStatus.IN_PROGRESS);
    int concurrent = plan.concurrent();
    try (var invoker = new Invoker(endpoint, job.formats(), job.timeout(), job.retries(), concurrent);
        var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      var memory = new MemoryBudget(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
      long leastShare = memory.bytes() / (PAYLOADS_PER_REQUEST * concurrent);
      if (job.bedrock()) {
        var exchange = new BedrockExchange(invoker, storage, job.output(), job.imagesAsFiles());
        transformAll(new ObjectTransform(
            source, plan.splitting(), Optional.empty(), Optional.empty(), exchange, threads, memory, leastShare, progress),
            exchange::countDone, threads, concurrent);
        exchange.writeManifest(job.instances() == 1
            ? "manifest.json.out"
            : "manifest-%d-of-%d.json.out".formatted(job.instance(), job.instances()));
      } else {
        var processing = job.processing().processing(job.formats(), job.keepsBadRecords());
        var exchange = new TransformExchange(job, processing, errors(), invoker, source);
        transformAll(new ObjectTransform(
            source, plan.splitting(), processing, job.formats().accept(), exchange, threads, memory, leastShare, progress),
            _ -> {}, threads, concurrent);
      }
    }
  }

  private RecordFormat errors() {
    return job.formats().answeredLines().filter(MediaType.CSV::equals).isPresent() ? new CsvFormat() : new JsonFormat();
  }

  private InvocationPlan plan(URI endpoint) throws InterruptedException {
    try (var container = new Invoker(endpoint, job.formats(), job.timeout(), 0, 1)) {
      return InvocationPlan.of(job, container.executionParameters());
    }
  }

  private JobStatus status(String problem) {
    if (failed == 0 && problem.isEmpty()) {
      return JobStatus.COMPLETED;
    }
    return job.bedrock() && problem.isEmpty() && succeeded + skipped > 0
        ? JobStatus.PARTIALLY_COMPLETED
        : JobStatus.FAILED;
  }

  /// No more objects are open than requests may run: each of them may be one request.
  ///
  /// @param done is told the outputs that were there already
  private void transformAll(
      ObjectTransform transform, Consumer<Location> done, ExecutorService threads, int concurrent)
      throws InterruptedException {
    var open = new Semaphore(concurrent);
    var keys = new HashSet<String>();
    try (var objects = JobObjects.of(job, storage)) {
      for (Iterator<StoredObject> each = objects.iterator(); each.hasNext(); ) {
        var object = each.next();
        if (!isMine(object.key())) {
          continue;
        }
        found++;
        progress.found(found);
        if (JobObjects.mayShareKeys(job) && !keys.add(object.key())) {
          end(failure(object, System.nanoTime(), "%s would be written twice".formatted(output(object))));
          continue;
        }
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
      return failure(object, start, e.getMessage());
    } catch (InterruptedException e) {
      return failure(object, start, "interrupted");
    } catch (RuntimeException | Error e) {
      return failure(object, start, e.toString());
    }
  }

  private static ObjectOutcome failure(StoredObject object, long start, String reason) {
    return new ObjectOutcome(object.key(), ObjectOutcome.Status.FAILED, 0, seconds(start), reason);
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

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
