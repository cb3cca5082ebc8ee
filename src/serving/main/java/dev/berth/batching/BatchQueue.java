package dev.berth.batching;

import dev.berth.batching.Submission.Ending;
import dev.berth.batching.Submission.Pending;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.error.Unsaid;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Where the requests of a model and the workers meet: a bounded queue of requests, whose records
/// wait in pieces. What records hold is bounded by the memory of requests, and how long they take
/// by the expected wait.
///
/// [#submit] takes a request in, and whoever waits for its end may [#ask]; workers [#take] a batch
/// and say what became of it; [#close] ends it. The lock is that of the [WorkerPool]. No foreign
/// code runs under it.
final class BatchQueue<I, O> implements WorkerPool.Queue {

    private static final Logger log = LoggerFactory.getLogger(BatchQueue.class);

    /// How many callers a worker asks at a time whether they have gone, besides those of its batch.
    /// An answer takes about a microsecond.
    private static final int ASKED = 64;

    /// Who has less time is let in only where the wait is less than half of it. So short a wait is
    /// one that clients put up with, in order of arrival.
    private static final Duration SHORT_DEADLINE = Duration.ofSeconds(4);

    /// How long a prediction may keep a thread that other models wait for.
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    // What its runners need of it too.
    final String name;
    final BatchLimits limits;
    final LongSupplier clock;
    final ModelMetrics metrics;

    private final WorkerPool pool;
    private final ReentrantLock lock;
    private final Condition workerHasLeft;

    /// For its runners, with the lock held.
    final Submissions<I, O> requests;

    private final Supplier<Duration> expectedWait = this::expectedWait;
    private volatile boolean closed;

    /// What each worker predicts with, by its number.
    private final Map<Integer, Runner<I, O>> runners = new ConcurrentHashMap<>();

    /// The workers that are inside [#serve].
    private final BitSet serving = new BitSet();

    /// Those of them that are inside a prediction that does not end.
    private final BitSet stuck = new BitSet();

    /// Those whose threads were replaced for other models, the stuck ones included.
    private final BitSet replaced = new BitSet();

    /// Written under the lock; read without it, because `/ping` asks.
    private volatile int liveWorkers;

    BatchQueue(String name, WorkerPool pool, BatchLimits limits, LongSupplier clock, ModelMetrics metrics) {
        this.name = name;
        this.pool = pool;
        this.lock = pool.lock;
        this.workerHasLeft = lock.newCondition();
        this.limits = limits;
        this.clock = clock;
        this.metrics = metrics;
        this.requests = new Submissions<>(new BatchPolicy(limits), clock, metrics);
        metrics.queueOpened(limits.queueCapacity(), expectedWait);
    }

    /// Queues all the records of a request, or none.
    ///
    /// @throws ServingException when it can't be queued
    void submit(Submission<I, O> submission) {
        withRoom(submission.pending.size(), submission.deadline(), () -> {
            requests.add(submission);
            wakeWorker();
        });
    }

    /// Asks why a request has no answer yet: a batch that takes too long is taken apart, a request
    /// whose time is over ends.
    void ask(Submission<I, O> submission) {
        locked(() -> {
            long now = clock.getAsLong();
            if (submission.isExpired(now)) {
                requests.end(submission, new Ending.Expired());
            } else if (submission.isImpatient(now)) {
                requests.takeApart(submission);
                wakeWorker();
            }
        });
    }

    void abandon(Submission<I, O> submission) {
        locked(() -> requests.end(submission, new Ending.Abandoned()));
    }

    /// @throws ServingException when not even one record can be queued
    void requireRoom(long deadline) {
        withRoom(1, deadline, () -> {});
    }

    /// Does under the lock what needs room. Where the queue is full, requests whose callers have gone
    /// leave it first.
    private void withRoom(int pieces, long deadline, Runnable action) {
        boolean done = locked(() -> {
            if (isFull()) {
                return false;
            }
            requireRoom(pieces, deadline);
            action.run();
            return true;
        });
        if (!done) {
            endAbandoned(locked(() -> requests.toAsk(ASKED)));
            locked(() -> {
                requireRoom(pieces, deadline);
                action.run();
            });
        }
    }

    private boolean isFull() {
        return requests.waiting() >= limits.queueCapacity();
    }

    /// Ends those requests whose callers have gone. They are asked without the lock.
    private void endAbandoned(List<Submission<I, O>> asked) {
        var gone = asked.stream().filter(Submission::isAbandoned).toList();
        if (!gone.isEmpty()) {
            locked(() -> requests.endAll(gone, new Ending.Abandoned()));
        }
    }

    private void requireRoom(int pieces, long deadline) {
        if (closed) {
            throw ErrorType.NOT_READY.because("%s has stopped".formatted(name));
        }
        if (liveWorkers == 0) {
            throw ErrorType.NOT_READY.because(noWorkers());
        }
        if (requests.waiting() == 0) {
            return;
        }
        var left = Duration.ofNanos(deadline - clock.getAsLong());
        if (isFull()) {
            throw overloaded(
                    left,
                    "found %d requests waiting, expected fewer than %d"
                            .formatted(requests.waiting(), limits.queueCapacity()));
        }
        var wait = requests.expectedWait(pieces, liveWorkers, pool.queuesInTurn());
        if (wait.compareTo(left.dividedBy(2)) > 0) {
            throw overloaded(
                    left,
                    "its records would wait %.1f s, and the request's time is over in %.1f s"
                            .formatted(wait.toMillis() / 1e3, left.toMillis() / 1e3));
        }
    }

    /// How long a record that came now would wait.
    private Duration expectedWait() {
        return locked(() -> requests.waiting() == 0 || liveWorkers == 0
                ? Duration.ZERO
                : requests.expectedWait(1, liveWorkers, pool.queuesInTurn()));
    }

    private String noWorkers() {
        return stuck.isEmpty()
                ? "%s has no worker that can predict".formatted(name)
                : "%s has no worker that can predict: predictFn does not end on %d of them"
                        .formatted(name, stuck.cardinality());
    }

    private ServingException overloaded(Duration left, String why) {
        metrics.overloaded.increment();
        if (left.compareTo(SHORT_DEADLINE) > 0) {
            requests.turnedAway();
        }
        return ErrorType.OVERLOADED.because("%s is overloaded: %s; try again later".formatted(name, why));
    }

    /// Lets a worker predict for this model from now on.
    void join(Runner<I, O> runner) {
        int worker = runner.worker;
        locked(() -> {
            runners.put(worker, runner);
            metrics.workers.incrementAndGet();
            count();
            pool.start(worker);
        });
    }

    /// Counts a worker out whose predictor is of no use any more. With the last one, every open
    /// request fails.
    private void leave(int worker) {
        locked(() -> {
            if (runners.remove(worker) != null && !stuck.get(worker)) {
                metrics.workers.decrementAndGet();
            }
            count();
            if (liveWorkers == 0) {
                requests.endAll(new Ending.Refused("%s has lost its last worker".formatted(name)));
            }
        });
    }

    @Override
    public boolean hasWorker(int worker) {
        var runner = runners.get(worker);
        return runner != null
                && !serving.get(worker)
                && ((hasLine() && runner.hasRoom()) || runner.ripeInNanos() < Long.MAX_VALUE);
    }

    @Override
    public boolean hasWork() {
        return hasLine() || runners.values().stream().anyMatch(runner -> runner.ripeInNanos() < Long.MAX_VALUE);
    }

    private boolean hasLine() {
        return requests.hasApart() || requests.waiting() > 0;
    }

    @Override
    public long ripeInNanos(int worker) {
        var runner = runners.get(worker);
        if (runner == null) {
            return Long.MAX_VALUE;
        }
        long line = runner.hasRoom() ? ripeInNanos() : Long.MAX_VALUE;
        return Math.min(line, runner.ripeInNanos());
    }

    /// In how long a batch should be made of what waits; zero or less: now.
    private long ripeInNanos() {
        requests.endExpired();
        if (requests.hasApart()) {
            return 0;
        }
        return requests.waiting() == 0 ? Long.MAX_VALUE : requests.delayNanos();
    }

    @Override
    public void enter(int worker) {
        serving.set(worker);
    }

    @Override
    public void serve(int worker) {
        try {
            var runner = runners.get(worker);
            if (runner != null) {
                serve(runner);
            }
        } finally {
            locked(() -> comeBack(worker));
        }
    }

    private void serve(Runner<I, O> runner) {
        MDC.setContextMap(runner.logContext());
        try {
            runner.predictWhatWaits();
            if (closed) {
                runner.close();
            }
        } catch (Throwable e) {
            metrics.caught(e);
            log.error("{}: worker {} can't predict any more", name, runner.worker, Unsaid.of(e));
            runner.failWhatIsHeld(e);
            leave(runner.worker);
            runner.close();
        } finally {
            MDC.clear();
        }
    }

    private void comeBack(int worker) {
        serving.clear(worker);
        var runner = runners.get(worker);
        if (runner != null && runner.ripeInNanos() < Long.MAX_VALUE) {
            // It has taken all that there was, and others may have given the queue up for that.
            pool.keepTurn(this);
        }
        if (replaced.get(worker)) {
            replaced.clear(worker);
            pool.giveBack();
        }
        if (stuck.get(worker)) {
            stuck.clear(worker);
            metrics.stuckHooks.decrementAndGet();
            if (runners.containsKey(worker)) {
                metrics.workers.incrementAndGet();
            }
        }
        count();
        workerHasLeft.signalAll();
    }

    private void count() {
        liveWorkers = (int)
                runners.keySet().stream().filter(worker -> !stuck.get(worker)).count();
    }

    /// Starts a batch that somebody waits for on the calling worker. Where records are left, the next
    /// worker is woken for them.
    ///
    /// Whether a caller has gone away is asked without the lock; the room that such callers leave is
    /// filled up again. Where the newest request is served first, some of those that wait are asked
    /// too, or they would keep their places.
    ///
    /// @param worker the calling worker's number
    /// @return nothing: no batch should be made now
    Optional<Batch<I, O>> take(int worker) {
        return take(worker, Integer.MAX_VALUE, Batch.Kind.FIRST);
    }

    /// Starts one record that somebody waits for on the calling worker, to be predicted in steps from
    /// now on.
    Optional<Batch<I, O>> takeOne(int worker) {
        return take(worker, 1, Batch.Kind.STEP);
    }

    private Optional<Batch<I, O>> take(int worker, int most, Batch.Kind kind) {
        var chosen = new ArrayList<Pending<I, O>>();
        var asked = new HashSet<Submission<I, O>>();
        while (true) {
            List<Submission<I, O>> toAsk;
            lock.lock();
            try {
                requests.dropEnded(chosen);
                do {
                    if (chosen.isEmpty() && ripeInNanos() > 0) {
                        return Optional.empty();
                    }
                    if (chosen.isEmpty() && requests.hasApart()) {
                        var alone = requests.startApart(worker);
                        wakeWorker();
                        return Optional.of(alone);
                    }
                    requests.fill(chosen, most);
                } while (chosen.isEmpty());
                if (requests.waiting() > 0) {
                    wakeWorker();
                }
                if (asked.containsAll(Submission.of(chosen))) {
                    return Optional.of(requests.start(chosen, worker, kind));
                }
                toAsk = new ArrayList<>(Submission.of(chosen));
                if (asked.isEmpty() && requests.isNewestFirst()) {
                    toAsk.addAll(requests.toAsk(ASKED));
                }
                toAsk.removeAll(asked);
            } finally {
                unlockAndTell();
            }
            asked.addAll(toAsk);
            endAbandoned(toAsk);
        }
    }

    /// Has a worker look for what it can do, such as records whose reader has caught up.
    void wakeWorker() {
        locked(() -> pool.wake(this));
    }

    /// Starts one piece of a failed batch by itself; nothing: no caller waits for it.
    Optional<Batch<I, O>> retry(Pending<I, O> pending, int worker) {
        return locked(() -> pending.submission().hasEnded()
                ? Optional.empty()
                : Optional.of(requests.run(List.of(pending), worker, Batch.Kind.FIRST)));
    }

    /// Ends a batch whose pieces are to be tried again. Called, as everything that ends a batch, by
    /// its worker.
    ///
    /// @return false: nobody waits for it, or it was taken apart, and that is seen to
    boolean release(Batch<I, O> batch) {
        return locked(() -> {
            requests.stop(batch);
            return !batch.isTakenApart() && !batch.isUnwanted();
        });
    }

    /// Starts a step of the calling worker, so that it is interrupted when nobody waits for it any
    /// more.
    Batch<I, O> startStep(List<Pending<I, O>> records, int worker) {
        return locked(() -> requests.run(records, worker, Batch.Kind.STEP));
    }

    void end(Submission<I, O> submission, Ending how) {
        locked(() -> requests.end(submission, how));
    }

    void answer(Batch<I, O> batch, List<O> values) {
        locked(() -> {
            requests.answer(batch, values);
            requests.stop(batch);
        });
    }

    /// Ends a batch and fails those of its requests that are open, unless their pieces are tried
    /// again.
    void fail(Batch<I, O> batch, Throwable cause) {
        locked(() -> {
            requests.stop(batch);
            if (!batch.isTakenApart()) {
                requests.endAll(Submission.of(batch.pending), new Ending.Failed(cause));
            }
        });
    }

    /// Finds batches that have run for `grace` longer than any of their requests may take. Their
    /// workers are lost for this model until they come back; with the last one, every open request
    /// fails.
    ///
    /// Those that have run for [#PATIENCE] while other models wait for their workers are not lost,
    /// but their threads are replaced for those models.
    ///
    /// @return the threads of those that were not known before
    List<Thread> findStuck(Duration grace) {
        return locked(() -> {
            var found = requests.overdue(grace.toNanos()).stream()
                    .filter(batch -> !stuck.get(batch.worker))
                    .toList();
            found.forEach(batch -> giveUp(batch.worker));
            if (!found.isEmpty() && liveWorkers == 0) {
                requests.endAll(new Ending.Refused(noWorkers()));
            }
            requests.runningFor(PATIENCE.toNanos()).stream()
                    .map(batch -> batch.worker)
                    .filter(worker -> !replaced.get(worker) && pool.mayReplace(worker))
                    .forEach(this::replace);
            return found.stream().map(batch -> batch.thread).toList();
        });
    }

    /// A worker is inside a predictor that does not end: its thread is replaced for the other models.
    private void giveUp(int worker) {
        stuck.set(worker);
        metrics.stuckHooks.incrementAndGet();
        if (runners.containsKey(worker)) {
            metrics.workers.decrementAndGet();
        }
        count();
        if (!replaced.get(worker)) {
            replace(worker);
        }
    }

    private void replace(int worker) {
        replaced.set(worker);
        pool.hold(worker);
    }

    int liveWorkers() {
        return liveWorkers;
    }

    int size() {
        return locked(requests::waiting);
    }

    boolean isClosed() {
        return closed;
    }

    /// Refuses new requests, fails the open ones and takes no worker any more.
    void close() {
        metrics.queueClosed(expectedWait);
        locked(() -> {
            closed = true;
            runners.keySet().stream()
                    .filter(worker -> !stuck.get(worker))
                    .forEach(_ -> metrics.workers.decrementAndGet());
            runners.clear();
            count();
            requests.endAll(new Ending.Refused("%s has stopped".formatted(name)));
        });
    }

    /// The workers that are inside a predictor of this model.
    BitSet serving() {
        return locked(() -> (BitSet) serving.clone());
    }

    /// Waits until no worker is inside a predictor of this model. The threads of those that are after
    /// that time are given up.
    ///
    /// @return the numbers of those
    BitSet awaitWorkers(Duration time) throws InterruptedException {
        lock.lock();
        try {
            long left = time.toNanos();
            while (!serving.isEmpty() && left > 0) {
                left = workerHasLeft.awaitNanos(left);
            }
            serving.stream().filter(worker -> !stuck.get(worker)).forEach(this::giveUp);
            return (BitSet) serving.clone();
        } finally {
            lock.unlock();
        }
    }

    /// For what only the lock makes visible.
    void locked(Runnable action) {
        locked(() -> {
            action.run();
            return null;
        });
    }

    <T> T locked(Supplier<T> action) {
        lock.lock();
        try {
            return action.get();
        } finally {
            unlockAndTell();
        }
    }

    /// Those that have ended are told without the lock. One that expires while a worker waits for
    /// records is told late, and its caller knows by itself that its time is over.
    private void unlockAndTell() {
        if (lock.getHoldCount() > 1) {
            lock.unlock();
            return;
        }
        var ended = requests.takeEnded();
        if (ended.stream().anyMatch(Submission::isOnWorkers)) {
            // What it holds there is to be freed.
            wakeWorker();
        }
        lock.unlock();
        ended.forEach(Submission::tell);
    }
}
