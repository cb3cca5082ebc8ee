package dev.berth.batching;

import dev.berth.batching.Submission.Ending;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.metrics.ModelMetrics;
import java.time.Duration;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Predicts the records of many requests for one model in batches, on workers that it may share
/// with other models.
///
/// Nothing here waits for predictions: whoever has submitted records is told, and decides how long
/// to wait. Predictors run on the workers' threads.
public final class Batcher<I, O> implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(Batcher.class);

    private final String name;
    private final String predictor;
    private final LongSupplier clock;
    private final WorkerPool pool;
    private final PredictorFactory<I, O> factory;
    private final BatchQueue<I, O> queue;

    /// Written by [#start], which is over before anything else is called but [#close].
    private final List<Runner<I, O>> runners = new CopyOnWriteArrayList<>();

    /// @param name the model's name, for messages and the log
    /// @param predictor what records run through, for messages
    /// @param pool the workers, each of which gets a predictor
    /// @param clock in nanoseconds, such as [System#nanoTime()]
    public Batcher(
            String name,
            String predictor,
            WorkerPool pool,
            BatchLimits limits,
            PredictorFactory<I, O> factory,
            LongSupplier clock,
            ModelMetrics metrics) {
        this.name = name;
        this.predictor = predictor;
        this.pool = pool;
        this.factory = factory;
        this.clock = clock;
        this.queue = new BatchQueue<>(name, pool, limits, clock, metrics);
    }

    /// Opens a predictor for each worker, one after another on the calling thread, and serves as soon
    /// as all are open. Call once.
    ///
    /// @throws Exception what the factory threw; the predictors that were open are closed then
    public void start() throws Exception {
        try {
            for (int worker = 0; worker < pool.size(); worker++) {
                if (queue.isClosed()) {
                    throw new IllegalStateException("%s was closed while it started".formatted(name));
                }
                runners.add(runner(worker, factory.open(worker)));
            }
            runners.forEach(queue::join);
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    private Runner<I, O> runner(int worker, Predictor<I, O> opened) {
        return opened instanceof StepPredictor<I, O, ?> steps
                ? new StreamRunner<>(queue, predictor, worker, steps)
                : new BatchRunner<>(queue, worker, opened);
    }

    /// Refuses what [#submit] would refuse however few records there were, before anything is spent
    /// on reading them.
    ///
    /// @param deadlineNanos when the request's time is over, as the clock counts
    /// @throws ServingException `OVERLOADED` or `NOT_READY`
    public void requireRoom(long deadlineNanos) {
        queue.requireRoom(deadlineNanos);
    }

    /// Queues the records. All of them are queued or none.
    ///
    /// @param deadlineNanos when the request's time is over, as the clock counts
    /// @param whenEnded run once, when [Ticket#predictions] has them or says why not. It must neither
    ///   block nor throw
    /// @throws ServingException `OVERLOADED` or `NOT_READY`
    public Ticket submit(Pieces<I> pieces, long deadlineNanos, Caller caller, Consumer<Ticket> whenEnded) {
        return submit(pieces, new PartSink.None<>(deadlineNanos), caller, whenEnded);
    }

    /// Queues records whose predictions come in parts, from a [StepPredictor].
    ///
    /// @param whenEnded told when the sink has had all parts, or [Ticket#predictions] says why not
    /// @throws ServingException `OVERLOADED` or `NOT_READY`
    public Ticket submit(Pieces<I> pieces, PartSink<O> parts, Caller caller, Consumer<Ticket> whenEnded) {
        var ticket = new Ticket(pieces, parts, caller, whenEnded);
        queue.submit(ticket.submission);
        return ticket;
    }

    /// The records of one request, queued or running. May be used by any thread.
    public final class Ticket {

        private final Submission<I, O> submission;

        private Ticket(Pieces<I> pieces, PartSink<O> parts, Caller caller, Consumer<Ticket> whenEnded) {
            this.submission = new Submission<>(pieces, clock.getAsLong(), parts, caller, () -> whenEnded.accept(this));
        }

        /// How long to wait before [#ask].
        public long patienceNanos() {
            return queue.locked(() -> submission.patience(clock.getAsLong()));
        }

        /// Asks why there is no answer yet: a batch that takes too long for this request is taken
        /// apart, and a request whose time is over ends.
        public void ask() {
            queue.ask(submission);
        }

        /// Says that the sink of its parts has room again.
        public void resume() {
            queue.wakeWorker();
        }

        /// Whether a predictor still has something of it. It may, for a while, after the request has
        /// ended.
        public boolean isInside() {
            return queue.locked(submission::isInside);
        }

        public void abandon() {
            queue.abandon(submission);
        }

        /// The predictions, in the order of the pieces; nulls where they came in parts. Only when it
        /// has ended.
        ///
        /// @throws ServingException `DEADLINE_EXCEEDED`, `NOT_READY` or `CALLER_GONE`
        /// @throws ExecutionException with what the predictor threw for one of the pieces
        public Predictions<O> predictions() throws ExecutionException {
            return switch (queue.locked(submission::ending).orElseThrow()) {
                case Ending.Answered() -> submission.predictions();
                case Ending.Failed(var cause) -> throw new ExecutionException(cause);
                case Ending.Expired() ->
                    throw ErrorType.DEADLINE_EXCEEDED.because(
                            submission.hasStarted()
                                    ? "the request's time ran out while %s ran".formatted(predictor)
                                    : "the request's time ran out while it was queued");
                case Ending.Abandoned() -> throw ErrorType.CALLER_GONE.because("the caller has gone away");
                case Ending.Refused(var why) -> throw ErrorType.NOT_READY.because(why);
            };
        }
    }

    public int liveWorkers() {
        return queue.liveWorkers();
    }

    /// Looks for workers whose prediction has not ended `grace` after the deadline of all its
    /// requests. They count as lost for this model until it ends. Other models get another thread in
    /// their place.
    ///
    /// @return the threads of those that were not known before
    public List<Thread> findStuck(Duration grace) {
        return queue.findStuck(grace);
    }

    public boolean hasEnded() {
        return runners.stream().allMatch(Runner::isClosed);
    }

    public int queueDepth() {
        return queue.size();
    }

    /// Refuses new requests, fails those that are there and closes the predictors. An interrupt ends
    /// the waiting for workers, not the closing. Afterwards [#hasEnded] says whether native code has
    /// let all of them go.
    @Override
    public void close() {
        queue.close();
        // A worker that is inside closes its predictor when it comes out.
        var inside = awaitWorkers();
        runners.stream().filter(runner -> !inside.get(runner.worker)).forEach(Runner::close);
    }

    /// Waits until no worker is inside any more, however long that takes. Only after [#close].
    public void awaitEnd() throws InterruptedException {
        queue.awaitWorkers(Duration.ofNanos(Long.MAX_VALUE));
    }

    private BitSet awaitWorkers() {
        try {
            var left = queue.awaitWorkers(WorkerPool.JOIN);
            left.stream()
                    .forEach(worker -> log.warn(
                            "{}: worker {} still runs {} s after it was told to end; it is left behind",
                            name,
                            worker,
                            WorkerPool.JOIN.toSeconds()));
            return left;
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            return queue.serving();
        }
    }
}
