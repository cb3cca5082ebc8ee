package dev.berth.transform;

import dev.berth.hooks.MediaType;
import dev.berth.memory.MemoryBudget;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import dev.berth.transform.checkpoint.Checkpoints;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs a job against a container that is up: its objects, some at the same time, each to its
/// output.
///
/// The objects that fail do not keep the others from being done. Outcomes are values; only what
/// concerns the whole job, such as a listing that fails, ends it.
public final class JobRunner {

  private static final Logger log = LoggerFactory.getLogger(JobRunner.class);

  /// For payloads. A server in the same process needs its own, and so do the parts of outputs on
  /// their way to S3.
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

  /// Why another runner does this job now.
  private volatile Optional<String> lost = Optional.empty();

  private volatile boolean ended;

  public JobRunner(TransformJob job, Storage storage, Progress progress) {
    this.job = job;
    this.storage = storage;
    this.source = new ObjectSource(storage, job.gzip());
    this.progress = progress;
  }

  /// Has the job end soon: no further object is begun, and one that is under way has ten seconds.
  /// Returns at once. The report says that the job was stopped.
  public void stop() {
    stopping = true;
    Thread.ofVirtual()
        .name("transform-drain")
        .start(
            () -> {
              try {
                Thread.sleep(DRAIN);
                threads.shutdownNow();
              } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
              }
            });
  }

  /// Ends the job at once, as another runner does it.
  private void lose(String reason) {
    lost = Optional.of(reason);
    threads.shutdownNow();
  }

  /// What there is to say of a job that has not ended.
  ///
  /// @param problem why it has not
  public JobReport unfinished(JobStatus status, String problem) {
    return new JobReport(
        status, job.instance(), job.instances(), 0, 0, 0, 0, 0, 0, 0, List.of(), problem);
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
    if (lost.isPresent()) {
      problem = lost.get();
    } else if (stopping) {
      problem = "stopped by a signal; the same command does the rest";
    }
    var report =
        new JobReport(
            status(problem),
            job.instance(),
            job.instances(),
            found,
            succeeded,
            skipped,
            failed,
            records,
            errors,
            seconds(start),
            List.copyOf(failures),
            problem);
    progress.status(report.status());
    return report;
  }

  private void runObjects(URI endpoint) throws InterruptedException {
    var plan = plan(endpoint);
    storage.requireWritable(job.output().resolve(".berth-probe-%d".formatted(job.instance())));
    job.preview().ifPresent(storage::requireWritable);
    try (var _ = JobLock.take(job, storage, () -> stopping, this::lose)) {
      runObjects(endpoint, plan);
    }
  }

  private void runObjects(URI endpoint, InvocationPlan plan) throws InterruptedException {
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
    try (threads;
        var invoker =
            new Invoker(endpoint, job.formats(), job.timeout(), job.retries(), job.patience())) {
      if (Shares.needNoList(job)) {
        threads.execute(this::countBeside);
      } else {
        count();
      }
      var memory = new MemoryBudget(Runtime.getRuntime().maxMemory() / SHARE_OF_HEAP);
      warnOfLittleHeap(plan, memory);
      var checkpoints = new Checkpoints(storage, job.output(), job.madeBy() + plan.splitting());
      var turns =
          new ObjectTurns(
              concurrent, () -> stopping || lost.isPresent() || invoker.gaveUp().isPresent());
      long leastShare = memory.bytes() / (PAYLOADS_PER_REQUEST * concurrent);
      if (job.envelope().isPresent()) {
        var exchange = new EnvelopeExchange(job.envelope().get(), invoker, storage, job.output());
        var images = new AnswerImages(job, storage, threads);
        transformAll(
            new ObjectTransform(
                source,
                plan.splitting(),
                Optional.empty(),
                Optional.empty(),
                exchange,
                threads,
                turns,
                memory,
                leastShare,
                checkpoints,
                !job.overwrite(),
                progress,
                Optional.empty()),
            exchange::countDone,
            images::add,
            checkpoints,
            invoker,
            turns);
        images.writePreview();
        errors = exchange.errors();
        if (job.envelope().get() == Envelope.BEDROCK) {
          exchange.writeManifest(manifest(String.valueOf(job.instance())) + ".out");
        }
        if (exchange.hasOnlyErrors()) {
          throw new TransformException(
              "each of the %d records has an error; --overwrite does them again".formatted(errors),
              null);
        }
      } else {
        var processing = job.processing().processing(job.formats(), job.keepsBadRecords());
        var kept = new LongAdder();
        var exchange = new TransformExchange(job, processing, errors(), invoker, source, kept);
        transformAll(
            new ObjectTransform(
                source,
                plan.splitting(),
                processing,
                job.outputType(),
                exchange,
                threads,
                turns,
                memory,
                leastShare,
                checkpoints,
                !job.overwrite(),
                progress,
                job.table()),
            _ -> {},
            (_, _) -> {},
            checkpoints,
            invoker,
            turns);
        errors = kept.sum();
      }
    }
  }

  /// Not of payloads whose length is not known before: most are short.
  private static void warnOfLittleHeap(InvocationPlan plan, MemoryBudget memory) {
    long payload = (long) ObjectTransform.COPIES * plan.splitting().maxRecord();
    long needed = plan.concurrent() * payload;
    if (plan.splitting().isMultiRecord()
        && !plan.splitting().isUnlimited()
        && needed > memory.bytes()) {
      log.warn(
          "the heap has room for {} of {} requests at the same time, if all are as large as they may be; "
              + "JAVA_OPTS=-Xmx{}m has room for all",
          Math.max(1, memory.bytes() / payload),
          plan.concurrent(),
          ((SHARE_OF_HEAP * needed) >> 20) + 1);
    }
  }

  private RecordFormat errors() {
    return job.formats().answeredLines().filter(MediaType.CSV::equals).isPresent()
        ? new CsvFormat()
        : new JsonFormat();
  }

  private InvocationPlan plan(URI endpoint) throws InterruptedException {
    try (var container = new Invoker(endpoint, job.formats(), job.timeout(), 0, job.patience())) {
      container.awaitReady();
      return InvocationPlan.of(job, container.executionParameters());
    }
  }

  /// Finds out what there is to do, and tells how much it is.
  private void count() {
    var found = Shares.of(job, storage, () -> !ended && !stopping);
    if (!ended) {
      shares = Optional.of(found);
      progress.total(
          found.all().get(job.instance()).objects(), found.all().get(job.instance()).bytes());
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

  private boolean isMine(ObjectRange range) {
    return shares.map(known -> known.isMine(range)).orElseGet(() -> Shares.isMineByKey(range, job));
  }

  private JobStatus status(String problem) {
    if (stopping && lost.isEmpty()) {
      return JobStatus.STOPPED;
    }
    if (failed == 0 && problem.isEmpty()) {
      return JobStatus.COMPLETED;
    }
    return job.envelope().equals(Optional.of(Envelope.BEDROCK))
            && problem.isEmpty()
            && succeeded + skipped > 0
        ? JobStatus.PARTIALLY_COMPLETED
        : JobStatus.FAILED;
  }

  /// @param done is told the outputs that were there already
  /// @param whole is told every object that has its output, and whether that was there already
  private void transformAll(
      ObjectTransform transform,
      Consumer<Location> done,
      WholeOutput whole,
      Checkpoints checkpoints,
      Invoker invoker,
      ObjectTurns turns)
      throws InterruptedException {
    var keys = new HashMap<String, Location>();
    boolean isEmpty = true;
    try (var objects =
        JobObjects.of(job, storage).flatMap(object -> ObjectRange.of(object, job).stream())) {
      for (var each = objects.iterator(); each.hasNext(); ) {
        var range = each.next();
        isEmpty = false;
        boolean isManifest = isManifest(range.object());
        boolean isTwice = isManifest || (JobObjects.mayShareKeys(job) && isTwice(range, keys));
        if (!isMine(range)) {
          continue;
        }
        turns.begin();
        if (turns.isOver()) {
          turns.end();
          break;
        }
        if (isTwice) {
          turns.end();
          end(
              failure(
                  range,
                  System.nanoTime(),
                  "%s would be written twice%s"
                      .formatted(
                          job.output(range.object()),
                          isManifest
                              ? ": the job counts its records there. Rename the object"
                              : "")),
              range.bytes());
          continue;
        }
        threads.execute(
            () -> {
              var answered = new LongAdder();
              try {
                outcome(transform, done, whole, checkpoints, range, answered)
                    .ifPresent(
                        outcome -> end(outcome, Math.max(0, range.bytes() - answered.sum())));
              } finally {
                turns.end();
              }
            });
      }
    } finally {
      turns.awaitEnds();
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

  /// The object whose output would be that in which an instance counts its records.
  private String manifest(String instance) {
    return job.instances() == 1
        ? "manifest.json"
        : "manifest-%s-of-%d.json".formatted(instance, job.instances());
  }

  private boolean isManifest(StoredObject object) {
    return job.envelope().equals(Optional.of(Envelope.BEDROCK))
        && object.key().matches(manifest("\\d+"));
  }

  /// What there is to do once an object has its output.
  private interface WholeOutput {
    void accept(StoredObject object, boolean wasThere) throws InterruptedException;
  }

  /// Whether an object has the key of one before it. The ranges of one object have one key too.
  private static boolean isTwice(ObjectRange range, Map<String, Location> keys) {
    var first = keys.putIfAbsent(range.object().key(), range.object().location());
    return first != null && (range.isWhole() || !first.equals(range.object().location()));
  }

  /// Nothing for a range that has not been begun, as the job ends.
  private Optional<ObjectOutcome> outcome(
      ObjectTransform transform,
      Consumer<Location> done,
      WholeOutput whole,
      Checkpoints checkpoints,
      ObjectRange range,
      LongAdder answered) {
    long start = System.nanoTime();
    var outputs = new SplitOutputs(job, storage);
    try {
      if (!job.overwrite() && outputs.isDone(range)) {
        outputs.answers(range).ifPresent(done);
        checkpoints.forget(range.checkpointed());
        outputs.join(range);
        whole.accept(range.object(), true);
        return Optional.of(
            new ObjectOutcome(range.toString(), ObjectOutcome.Status.SKIPPED, 0, 0, ""));
      }
      var count = transform.transform(range, outputs.part(range), answered);
      if (count.isEmpty()) {
        return Optional.empty();
      }
      outputs.join(range);
      whole.accept(range.object(), false);
      return Optional.of(
          new ObjectOutcome(
              range.toString(),
              ObjectOutcome.Status.SUCCEEDED,
              count.getAsLong(),
              seconds(start),
              ""));
    } catch (TransformException | StorageException e) {
      return Optional.of(failure(range, start, e.getMessage()));
    } catch (InterruptedException e) {
      return Optional.of(failure(range, start, "interrupted"));
    } catch (RuntimeException | Error e) {
      return Optional.of(failure(range, start, e.toString()));
    }
  }

  private static ObjectOutcome failure(ObjectRange range, long start, String reason) {
    return new ObjectOutcome(
        range.toString(), ObjectOutcome.Status.FAILED, 0, seconds(start), reason);
  }

  private void end(ObjectOutcome outcome, long bytes) {
    lock.lock();
    try {
      found++;
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
