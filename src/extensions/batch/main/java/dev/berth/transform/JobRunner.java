package dev.berth.transform;

import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import dev.berth.transform.checkpoint.Checkpoints;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;

/// Runs a job against a container that is up: its objects, some at the same time, each to its
/// output.
///
/// The objects that fail do not keep the others from being done. Outcomes are values; only what
/// concerns the whole job, such as a listing that fails, ends it.
public final class JobRunner {

    /// Of an answer: its text, its tree, and the line that is made of it, with what these take while
    /// they grow.
    private static final int COPIES_OF_PARSED = 6;

    private static final int COPIES_OF_BYTES = 2;

    /// Objects without a turn. With 40 ms for each answer of S3, they are enough for some 500
    /// objects/s.
    private static final int OTHERS = 64;

    private final TransformJob job;
    private final Progress progress;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final List<ObjectOutcome> failures = new ArrayList<>();
    private long succeeded;
    private long skipped;
    private long records;
    private long answered;
    private long errors;
    private final JobEnd end;
    private volatile boolean ended;

    public JobRunner(TransformJob job, Progress progress) {
        this.job = job;
        this.progress = progress;
        this.end = new JobEnd(job.invocations().maxFailures(), threads);
    }

    /// Has the job end soon: no further object is begun, and one that is under way has seven seconds.
    /// Returns at once. The report says that the job was stopped.
    public void stop() {
        end.stop();
        progress.status(JobStatus.STOPPING);
    }

    public JobReport run(URI endpoint) throws InterruptedException {
        long start = System.nanoTime();
        try {
            runObjects(endpoint);
        } catch (StorageException | TransformException e) {
            end.because(e.getMessage());
        } catch (OutOfMemoryError e) {
            end.because(TransformException.heapIsFull());
        }
        var report = new JobReport(
                status(),
                job.part(),
                new JobReport.Tally(
                        succeeded + skipped + failures.size(),
                        succeeded,
                        skipped,
                        failures.size(),
                        records,
                        answered,
                        errors),
                seconds(start),
                List.copyOf(failures),
                end.reason().orElse(""));
        progress.status(report.status());
        return report;
    }

    private void runObjects(URI endpoint) throws InterruptedException {
        try (var invoker = new Invoker(endpoint, job, end)) {
            invoker.awaitReady();
            var container = invoker.executionParameters();
            int concurrent = job.invocations().concurrent(container);
            var splitting = job.splitting(container);
            // A disk says here whether it can be written to, and S3 where the lock is written.
            job.output()
                    .resolve(".berth-probe-%d".formatted(job.part().index()))
                    .create()
                    .close();
            try (var _ = JobLock.take(job, end::isOver, end::atOnceBecause)) {
                runObjects(concurrent, splitting, invoker);
            }
        }
    }

    private void runObjects(int concurrent, Splitting splitting, Invoker invoker) throws InterruptedException {
        if (job.kind() instanceof Envelopes lines && job.isBedrock()) {
            progress.status(JobStatus.SUBMITTED);
            progress.status(JobStatus.VALIDATING);
            lines.quotas().check(job.source(), splitting);
            progress.status(JobStatus.SCHEDULED);
        }
        progress.status(JobStatus.IN_PROGRESS);
        try (threads) {
            var shares = Shares.unlisted(job);
            if (Shares.needNoList(job)) {
                // What goes wrong there goes wrong for the job too, which says so.
                var _ = CompletableFuture.runAsync(this::count, threads);
            } else {
                shares = count();
            }
            var transform = transform(concurrent, splitting, invoker);
            transformAll(transform, shares, concurrent + OTHERS);
            answered = transform.exchange().asked();
            errors = transform.exchange().errors();
            if (end.isOver() && !end.isStopped()) {
                return;
            }
            transform.exchange().finish();
            if (failures.isEmpty() && !end.isOver()) {
                shares.agree();
            }
            if (transform.exchange().hasOnlyErrors()) {
                throw new TransformException("each record has an error; --overwrite does them again");
            }
        }
    }

    private ObjectTransform transform(int concurrent, Splitting splitting, Invoker invoker) {
        var exchange = job.kind() instanceof Envelopes lines
                ? new EnvelopeExchange(job, lines, invoker, end)
                : new TransformExchange(job, invoker, end);
        var memory = new JobMemory(
                concurrent,
                job.kind() instanceof Envelopes
                                || job.kind().records().processing().isPresent()
                        ? COPIES_OF_PARSED
                        : COPIES_OF_BYTES);
        return new ObjectTransform(
                job,
                splitting,
                exchange,
                new ObjectTransform.Shared(
                        threads,
                        end,
                        ObjectTransform.turns(concurrent),
                        memory,
                        new Checkpoints(job.output(), job.madeBy() + splitting),
                        job.miniBatchSize(),
                        progress));
    }

    /// Finds out what there is to do, and tells how much it is.
    private Shares count() {
        var found = Shares.of(job, () -> !ended && !end.isOver());
        if (!ended) {
            var mine = found.all().get(job.part().index());
            progress.total(mine.objects(), mine.bytes());
        }
        return found;
    }

    private JobStatus status() {
        if (end.isStopped()) {
            return JobStatus.STOPPED;
        }
        if (failures.isEmpty() && !end.isOver()) {
            return JobStatus.COMPLETED;
        }
        return job.isBedrock() && !end.isOver() && succeeded + skipped > 0
                ? JobStatus.PARTIALLY_COMPLETED
                : JobStatus.FAILED;
    }

    /// @param most how many objects may be open
    private void transformAll(ObjectTransform transform, Shares shares, int most) throws InterruptedException {
        var open = new Semaphore(most);
        var keys = new HashMap<String, Location>();
        boolean isEmpty = true;
        try (var ranges = job.source().objects().flatMap(object -> job.ranges(object).stream())) {
            for (var each = ranges.iterator(); each.hasNext(); ) {
                var range = each.next();
                isEmpty = false;
                var clash = clash(range, keys);
                if (!shares.isMine(range)) {
                    continue;
                }
                open.acquire();
                if (end.isOver()) {
                    open.release();
                    break;
                }
                threads.execute(() -> {
                    try {
                        transform.outcome(range, clash).ifPresent(this::ended);
                    } finally {
                        open.release();
                    }
                });
            }
        } finally {
            open.acquire(most);
            ended = true;
            transform.shared().checkpoints().end();
        }
        if (isEmpty) {
            throw job.source().none();
        }
    }

    private synchronized void ended(ObjectOutcome outcome) {
        records += outcome.records();
        switch (outcome.status()) {
            case SUCCEEDED -> succeeded++;
            case SKIPPED -> skipped++;
            case FAILED -> {
                failures.add(outcome);
                end.failed(outcome.key(), outcome.failure());
            }
        }
    }

    /// Why an object can't have its output: it is that in which an instance counts its records, or
    /// that of an object before it. The ranges of one object have one key too.
    ///
    /// @param keys of those before, with their locations
    private Optional<String> clash(ObjectRange range, Map<String, Location> keys) {
        var object = range.object();
        if (job.isManifest(object)) {
            return Optional.of("%s would be written twice: the job counts its records there. Rename the object"
                    .formatted(job.output(object)));
        }
        var first = job.source().mayShareKeys() ? keys.putIfAbsent(object.key(), object.location()) : null;
        return first != null && (range.isWhole() || !first.equals(object.location()))
                ? Optional.of("%s would be written twice".formatted(job.output(object)))
                : Optional.empty();
    }

    static double seconds(long start) {
        return (System.nanoTime() - start) / 1e9;
    }
}
