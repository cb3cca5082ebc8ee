package dev.berth.transform;

import dev.berth.hooks.MediaType;
import dev.berth.memory.MemoryBudget;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs a job against a container that is up: its objects, some at the same time, each to its output.
///
/// The objects that fail do not keep the others from being done. Outcomes are values; only what concerns the whole job,
/// such as a listing that fails, ends it.
public final class JobRunner {

  private static final Logger log = LoggerFactory.getLogger(JobRunner.class);

  /// For payloads. A server in the same process needs its own, and so do the parts of outputs on their way to S3.
  private static final int SHARE_OF_HEAP = 4;

  /// What a stopped job gives the objects that are under way.
  private static final Duration DRAIN = Duration.ofSeconds(10);

  /// One is on its way. The others may be read, or have an answer that waits to be written.
  private static final long PAYLOADS_PER_REQUEST = 4;

  private final TransformJob job;
  private final Storage storage;
  private final ObjectSource source;
  private final Progress progress;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final ReentrantLock lock = new ReentrantLock();
  private final List<ObjectOutcome> failures = new ArrayList<>();
  private long found;
  private long succeeded;
  private long skipped;
  private long failed;
  private long records;
  private long errors;
  private volatile Optional<Shares> shares = Optional.empty();
  private volatile boolean stopping;
  private volatile boolean ended;

  public JobRunner(TransformJob job, Storage storage, Progress progress) {
    this.job = job;
    this.storage = storage;
    this.source = new ObjectSource(storage, job.gzip());
    this.progress = progress;
  }

  /// Has the job end soon: no further object is begun, and one that is under way has ten seconds. Returns at once. The report
  /// says that the job was stopped.
  public void stop() {
    stopping = true;
    Thread.ofVirtual().name("transform-drain").start(() -> {
      try {
        Thread.sleep(DRAIN);
        threads.shutdownNow();
      } catch (InterruptedException _) {
        Thread.currentThread().interrupt();
      }
    });
  }

  /// What there is to say of a job that has not ended.
  ///
  /// @param problem why it has not
  public JobReport unfinished(JobStatus status, String problem) {
    return new JobReport(status, job.instance(), job.instances(), 0, 0, 0, 0, 0, 0, 0, List.of(), problem);
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
    if (stopping) {
      problem = "stopped by a signal; the same command does the rest";
    }
    var report = new JobReport(
        status(problem), job.instance(), job.instances(), found, succeeded, skipped, failed, records, errors, seconds(start),
        List.copyOf(failures), problem);
    progress.status(report.status());
    return report;
  }

  private void runObjects(URI endpoint) throws InterruptedException {
    var plan = plan(endpoint);
    storage.requireWritable(job.output().resolve(".berth-probe-%d".formatted(job.instance())));
    job.preview().ifPresent(storage::requireWritable);
    if (job.envelope().equals(Optional.of(Envelope.BEDROCK))) {
      progress.status(JobStatus.SUBMITTED);
      progress.status(JobStatus.VALIDATING);
      try (var objects = JobObjects.of(job, storage)) {
        job.quotas().check(objects, source, plan.splitting());
      }
      progress.status(JobStatus.SCHEDULED);
    }
    progress.status(JobStatus.IN_PROGRESS);
    int concurrent = plan.concurrent();
    try (threads; var invoker = new Invoker(endpoint, job.formats(), job.timeout(), job.retries(), job.patience(), concurrent)) {
      if (Shares.needNoList(job)) {
        threads.execute(this::countBeside);
      } else {
        count();
      }
      var memory = new MemoryBudget(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
      var checkpoints = new Checkpoints(storage, job.output(), job.madeBy() + plan.splitting());
      long leastShare = memory.bytes() / (PAYLOADS_PER_REQUEST * concurrent);
      if (job.envelope().isPresent()) {
        var exchange = new EnvelopeExchange(job.envelope().get(), invoker, storage, job.output());
        var images = new AnswerImages(job, storage, threads);
        transformAll(new ObjectTransform(
            source, plan.splitting(), Optional.empty(), Optional.empty(), exchange, threads, memory, leastShare,
            checkpoints, !job.overwrite(), progress),
            exchange::countDone, images::add, checkpoints, invoker, concurrent);
        images.writePreview();
        errors = exchange.errors();
        if (job.envelope().get() == Envelope.BEDROCK) {
          exchange.writeManifest(job.instances() == 1
              ? "manifest.json.out"
              : "manifest-%d-of-%d.json.out".formatted(job.instance(), job.instances()));
        }
        if (exchange.hasOnlyErrors()) {
          throw new TransformException(
              "each of the %d records has an error; --overwrite does them again".formatted(errors), null);
        }
      } else {
        var processing = job.processing().processing(job.formats(), job.keepsBadRecords());
        var kept = new LongAdder();
        var exchange = new TransformExchange(job, processing, errors(), invoker, source, kept);
        transformAll(new ObjectTransform(
            source, plan.splitting(), processing, job.formats().accept(), exchange, threads, memory, leastShare,
            checkpoints, !job.overwrite(), progress),
            _ -> {}, (_, _) -> {}, checkpoints, invoker, concurrent);
        errors = kept.sum();
      }
    }
  }

  private RecordFormat errors() {
    return job.formats().answeredLines().filter(MediaType.CSV::equals).isPresent() ? new CsvFormat() : new JsonFormat();
  }

  private InvocationPlan plan(URI endpoint) throws InterruptedException {
    try (var container = new Invoker(endpoint, job.formats(), job.timeout(), 0, job.patience(), 1)) {
      container.awaitReady();
      return InvocationPlan.of(job, container.executionParameters());
    }
  }

  /// Finds out what there is to do, and tells how much it is.
  private void count() {
    var found = Shares.of(job, storage, () -> !ended && !stopping);
    if (!ended) {
      shares = Optional.of(found);
      progress.total(found.all().get(job.instance()).objects(), found.all().get(job.instance()).bytes());
    }
  }

  /// What goes wrong here goes wrong for the job too, which says so.
  private void countBeside() {
    try {
      count();
    } catch (StorageException | TransformException e) {
      log.debug("the objects can't be counted", e);
    }
  }

  private boolean isMine(StoredObject object) {
    return shares.map(known -> known.isMine(object)).orElseGet(() -> Shares.isMineByKey(object, job));
  }

  private JobStatus status(String problem) {
    if (stopping) {
      return JobStatus.STOPPED;
    }
    if (failed == 0 && problem.isEmpty()) {
      return JobStatus.COMPLETED;
    }
    return job.envelope().equals(Optional.of(Envelope.BEDROCK)) && problem.isEmpty() && succeeded + skipped > 0
        ? JobStatus.PARTIALLY_COMPLETED
        : JobStatus.FAILED;
  }

  /// No more objects are open than requests may run: each of them may be one request.
  ///
  /// @param done is told the outputs that were there already
  /// @param whole is told every object that has its output, and whether that was there already
  private void transformAll(
      ObjectTransform transform, Consumer<Location> done, WholeOutput whole, Checkpoints checkpoints, Invoker invoker,
      int concurrent) throws InterruptedException {
    var open = new Semaphore(concurrent);
    var keys = new HashSet<String>();
    boolean isEmpty = true;
    try (var objects = JobObjects.of(job, storage)) {
      for (Iterator<StoredObject> each = objects.iterator(); each.hasNext(); ) {
        var object = each.next();
        isEmpty = false;
        if (!isMine(object)) {
          continue;
        }
        open.acquire();
        if (stopping || invoker.gaveUp().isPresent()) {
          open.release();
          break;
        }
        found++;
        if (JobObjects.mayShareKeys(job) && !keys.add(object.key())) {
          open.release();
          end(failure(object, System.nanoTime(), "%s would be written twice".formatted(job.output(object))), object.size());
          continue;
        }
        threads.execute(() -> {
          var answered = new LongAdder();
          try {
            var outcome = outcome(transform, done, whole, checkpoints, object, answered);
            end(outcome, Math.max(0, object.size() - answered.sum()));
          } finally {
            open.release();
          }
        });
      }
    } finally {
      open.acquire(concurrent);
      ended = true;
      checkpoints.end();
    }
    if (invoker.gaveUp().isPresent()) {
      throw new TransformException(invoker.gaveUp().get(), null);
    }
    if (isEmpty) {
      throw JobObjects.none(job);
    }
  }

  /// What there is to do once an object has its output.
  private interface WholeOutput {
    void accept(StoredObject object, boolean wasThere) throws InterruptedException;
  }

  private ObjectOutcome outcome(
      ObjectTransform transform, Consumer<Location> done, WholeOutput whole, Checkpoints checkpoints, StoredObject object,
      LongAdder answered) {
    long start = System.nanoTime();
    try {
      var output = job.output(object);
      if (!job.overwrite() && storage.exists(output)) {
        done.accept(output);
        checkpoints.forget(object);
        whole.accept(object, true);
        return new ObjectOutcome(object.key(), ObjectOutcome.Status.SKIPPED, 0, 0, "");
      }
      long count = transform.transform(object, output, answered);
      whole.accept(object, false);
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

  private void end(ObjectOutcome outcome, long bytes) {
    lock.lock();
    try {
      switch (outcome.status()) {
        case SUCCEEDED -> succeeded++;
        case SKIPPED -> skipped++;
        case FAILED -> {
          failed++;
          failures.add(outcome);
        }
      }
      records += outcome.records();
    } finally {
      lock.unlock();
    }
    progress.ended(outcome, bytes);
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) / 1e9;
  }
}
