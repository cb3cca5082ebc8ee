package dev.berth.batching;

import dev.berth.batching.Submission.Ending;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ServingMetrics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/// Where requests and workers meet: a bounded queue of records in pieces, and the one lock of this package.
///
/// [#submit] takes a request in, and whoever waits for its end may [#ask]; workers [#take] a batch and say what became of
/// it; [#close] ends it. No foreign code runs under the lock.
final class BatchQueue<I, O> {

  /// How many callers a worker asks at a time whether they have gone, besides those of its batch. An answer takes about
  /// a microsecond.
  private static final int ASKED = 64;

  private final String name;
  private final int capacity;
  private final LongSupplier clock;
  private final ServingMetrics metrics;

  private final ReentrantLock lock = new ReentrantLock();
  /// The workers that wait for records, for the batch delay, or for the end, by their number. The first one is woken:
  /// requests that come one at a time are all the same worker's, whose data is in the caches.
  private final NavigableMap<Integer, Condition> idle = new TreeMap<>();

  private final OpenRequests<I, O> requests;
  private boolean closed;
  /// Written under the lock; read without it, because `/ping` asks.
  private volatile int workers;
  /// Those of them that are inside a prediction that does not end.
  private volatile int stuck;

  BatchQueue(String name, BatchLimits limits, LongSupplier clock, ServingMetrics metrics) {
    this.name = name;
    this.capacity = limits.queueCapacity();
    this.clock = clock;
    this.metrics = metrics;
    this.requests = new OpenRequests<>(new BatchPolicy(limits), clock, metrics);
  }

  /// Queues all the records of a request, or none.
  ///
  /// @throws ServingException when it can't be queued
  void submit(Submission<I, O> submission) {
    withRoom(submission.records(), submission.pending().size(), submission.deadline(), () -> {
      requests.add(submission);
      wakeWorker();
    });
  }

  /// Asks why a request has no answer yet: a batch that takes too long is taken apart, a request whose time is over ends.
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

  /// Ends a request that nobody waits for any more.
  void abandon(Submission<I, O> submission) {
    locked(() -> requests.end(submission, new Ending.Abandoned()));
  }

  /// Reads what only the lock makes visible.
  <T> T read(Supplier<T> state) {
    return locked(state);
  }

  /// @throws ServingException when not even one record can be queued
  void requireRoom(long deadline) {
    withRoom(1, 1, deadline, () -> {});
  }

  /// Does under the lock what needs room. Where the queue is full, requests whose callers have gone leave it first.
  private void withRoom(int records, int pieces, long deadline, Runnable action) {
    boolean done = locked(() -> {
      if (isFull(records)) {
        return false;
      }
      requireRoom(records, pieces, deadline);
      action.run();
      return true;
    });
    if (!done) {
      endAbandoned(locked(() -> requests.toAsk(ASKED)));
      locked(() -> {
        requireRoom(records, pieces, deadline);
        action.run();
      });
    }
  }

  private boolean isFull(int more) {
    return requests.waiting() > 0 && more > capacity - requests.load();
  }

  /// Ends those requests whose callers have gone. They are asked without the lock.
  private void endAbandoned(List<Submission<I, O>> asked) {
    var gone = asked.stream().filter(Submission::isAbandoned).toList();
    if (!gone.isEmpty()) {
      locked(() -> requests.endAll(gone, new Ending.Abandoned()));
    }
  }

  private void requireRoom(int records, int pieces, long deadline) {
    if (closed) {
      throw new ServingException(ErrorType.NOT_READY, "%s has stopped".formatted(name));
    }
    if (liveWorkers() == 0) {
      throw new ServingException(ErrorType.NOT_READY, noWorkers());
    }
    if (requests.waiting() == 0) {
      return;
    }
    if (isFull(records)) {
      throw overloaded("found %d records waiting and %d more, expected at most %d".formatted(
          requests.waiting(), records, capacity));
    }
    var wait = requests.expectedWait(pieces, liveWorkers());
    var left = Duration.ofNanos(deadline - clock.getAsLong());
    if (wait.compareTo(left.dividedBy(2)) > 0) {
      throw overloaded("its records would wait %.1f s, and the request's time is over in %.1f s".formatted(
          wait.toMillis() / 1e3, left.toMillis() / 1e3));
    }
  }

  private String noWorkers() {
    return stuck == 0
        ? "%s has no worker that can predict".formatted(name)
        : "%s has no worker that can predict: predictFn does not end on %d of them".formatted(name, stuck);
  }

  private ServingException overloaded(String why) {
    metrics.requestOverloaded();
    return new ServingException(ErrorType.OVERLOADED, "%s is overloaded: %s; try again later".formatted(name, why));
  }

  /// Waits for a batch that somebody waits for, and starts it on the calling worker. Where records are left, the next
  /// worker is woken for them.
  ///
  /// Whether a caller has gone away is asked without the lock; the room that such callers leave is filled up again. Where
  /// the newest request is served first, some of those that wait are asked too, or they would keep their places.
  ///
  /// @param worker the calling worker's number
  /// @return nothing: closed
  Optional<Batch<I, O>> take(int worker) throws InterruptedException {
    var chosen = new ArrayList<Pending<I, O>>();
    var asked = new HashSet<Submission<I, O>>();
    while (true) {
      List<Submission<I, O>> toAsk;
      lock.lock();
      try {
        requests.dropEnded(chosen);
        do {
          if (chosen.isEmpty() && !awaitRipe(worker)) {
            return Optional.empty();
          }
          if (chosen.isEmpty() && requests.hasApart()) {
            var alone = requests.startApart();
            wakeWorker();
            return Optional.of(alone);
          }
          requests.fill(chosen);
        } while (chosen.isEmpty());
        if (requests.waiting() > 0) {
          wakeWorker();
        }
        if (asked.containsAll(Submission.of(chosen))) {
          return Optional.of(requests.start(chosen));
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

  /// Waits until a batch should be made; false: closed.
  private boolean awaitRipe(int worker) throws InterruptedException {
    while (!closed) {
      requests.endExpired();
      if (requests.hasApart()) {
        return true;
      }
      long delay = requests.waiting() == 0 ? Long.MAX_VALUE : requests.delayNanos();
      if (delay <= 0) {
        return true;
      }
      var woken = lock.newCondition();
      idle.put(worker, woken);
      try {
        woken.awaitNanos(delay);
      } finally {
        idle.remove(worker);
      }
    }
    return false;
  }

  /// Wakes the first worker that waits. One that has been woken waits no more, so that the next call wakes another.
  private void wakeWorker() {
    var first = idle.pollFirstEntry();
    if (first != null) {
      first.getValue().signal();
    }
  }

  /// Starts one piece of a failed batch by itself; nothing: nobody waits for it any more.
  Optional<Batch<I, O>> retry(Pending<I, O> pending) {
    return locked(() ->
        pending.submission().hasEnded() ? Optional.empty() : Optional.of(requests.run(List.of(pending), false)));
  }

  /// Ends a batch whose pieces are to be tried again. Called, as everything that ends a batch, by its worker.
  ///
  /// @return false: it was taken apart, and that is seen to
  boolean release(Batch<I, O> batch) {
    return locked(() -> {
      stop(batch);
      return !batch.isTakenApart();
    });
  }

  /// Ends a batch with its predictions, one for each piece.
  void answer(Batch<I, O> batch, List<O> values) {
    locked(() -> {
      requests.answer(batch, values);
      stop(batch);
    });
  }

  /// Ends a batch and fails those of its requests that are open, unless their pieces are tried again.
  void fail(Batch<I, O> batch, Throwable cause) {
    locked(() -> {
      stop(batch);
      if (!batch.isTakenApart()) {
        requests.endAll(Submission.of(batch.pending()), new Ending.Failed(cause));
      }
    });
  }

  private void stop(Batch<I, O> batch) {
    requests.stop(batch);
    if (batch.isStuck()) {
      stuck--;
      metrics.hookUnstuck();
      metrics.workerStarted();
    }
  }

  /// Finds batches that have run for `grace` longer than any of their requests may take. Their workers are lost until
  /// they come back; with the last one, every open request fails.
  ///
  /// @return the threads of those that were not known before
  List<Thread> findStuck(Duration grace) {
    return locked(() -> {
      var found = requests.findStuck(grace.toNanos());
      found.forEach(_ -> {
        metrics.hookStuck();
        metrics.workerStopped();
      });
      stuck += found.size();
      if (!found.isEmpty() && liveWorkers() == 0) {
        requests.endAll(new Ending.Refused(noWorkers()));
      }
      return found.stream().map(Batch::worker).toList();
    });
  }

  void workerJoins() {
    locked(() -> {
      workers = workers + 1;
      metrics.workerStarted();
    });
  }

  /// Counts a worker out. With the last one, every open request fails.
  void workerLeaves() {
    locked(() -> {
      workers = workers - 1;
      metrics.workerStopped();
      if (liveWorkers() == 0) {
        requests.endAll(new Ending.Refused("%s has lost its last worker".formatted(name)));
      }
    });
  }

  /// The workers that have not ended, stuck ones included.
  int workers() {
    return workers;
  }

  /// The workers that can predict.
  int liveWorkers() {
    return workers - stuck;
  }

  /// The number of records that wait.
  int size() {
    return locked(requests::waiting);
  }

  boolean isClosed() {
    return locked(() -> closed);
  }

  /// Refuses new requests, fails the open ones and lets the workers go.
  void close() {
    locked(() -> {
      closed = true;
      requests.endAll(new Ending.Refused("%s has stopped".formatted(name)));
      idle.values().forEach(Condition::signal);
    });
  }

  private void locked(Runnable action) {
    locked(() -> {
      action.run();
      return null;
    });
  }

  private <T> T locked(Supplier<T> action) {
    lock.lock();
    try {
      return action.get();
    } finally {
      unlockAndTell();
    }
  }

  /// Those that have ended are told without the lock. One that expires while a worker waits for records is told late,
  /// and its caller knows by itself that its time is over.
  private void unlockAndTell() {
    var ended = requests.takeEnded();
    lock.unlock();
    ended.forEach(Submission::tell);
  }
}
