package dev.berth.batching;

import dev.berth.batching.Submission.Ending;
import dev.berth.batching.Submission.Pending;
import dev.berth.error.ErrorType;
import dev.berth.error.Unsaid;
import dev.berth.metrics.StreamMetrics;
import dev.berth.telemetry.Step;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// Runs the records that one worker takes step by step: each turn begins as many as there is room
/// for, and makes one step for those that can move (continuous batching).
///
/// A stream whose reader does not keep up, or that pauses, leaves its place in the batch to others
/// and keeps its state.
final class StreamRunner<I, O, Q extends Sequence<O>> extends Runner<I, O> {

    private static final Logger log = LoggerFactory.getLogger(StreamRunner.class);

    private final StepPredictor<I, O, Q> predictor;
    private final BatchQueue<I, O> queue;
    private final String hook;
    private final BatchLimits limits;
    private final LongSupplier clock;
    private final StreamMetrics metrics;

    /// The one whose turn it is first. Guarded by the lock of the [WorkerPool].
    private final SequencedSet<Stream> streams = new LinkedHashSet<>();

    /// A record that was begun. Its times are guarded by the lock.
    private final class Stream {

        private final Pending<I, O> pending;
        private final Q sequence;
        private final Step trace;
        private long resumesAt = clock.getAsLong();

        private Stream(Pending<I, O> pending, Q sequence, Step trace) {
            this.pending = pending;
            this.sequence = sequence;
            this.trace = trace;
        }

        private Submission<I, O> request() {
            return pending.submission();
        }

        private boolean canMove() {
            return !request().hasEnded() && request().sink.hasRoom() && resumesAt - clock.getAsLong() <= 0;
        }

        private long ripeInNanos() {
            if (request().hasEnded()) {
                return 0;
            }
            long now = clock.getAsLong();
            long over = Math.max(0, request().deadline() - now);
            return request().sink.hasRoom() ? Math.min(over, resumesAt - now) : over;
        }
    }

    /// @param hook what steps run through, for messages
    StreamRunner(BatchQueue<I, O> queue, String hook, int worker, StepPredictor<I, O, Q> predictor) {
        super(queue.name, worker, predictor);
        this.predictor = predictor;
        this.queue = queue;
        this.hook = hook;
        this.limits = queue.limits;
        this.clock = queue.clock;
        this.metrics = queue.metrics.streams();
    }

    @Override
    boolean hasRoom() {
        return streams.size() < limits.queueCapacity()
                && streams.stream().filter(Stream::canMove).count() < limits.maxBatchSize();
    }

    @Override
    long ripeInNanos() {
        return streams.stream().mapToLong(Stream::ripeInNanos).min().orElse(Long.MAX_VALUE);
    }

    @Override
    void predictWhatWaits() {
        queue.locked(this::endExpired).forEach(this::close);
        while (queue.locked(this::hasRoom) && begin()) {
            // As many as there is room for.
        }
        step();
    }

    @Override
    void failWhatIsHeld(Throwable cause) {
        queue.locked(() -> List.copyOf(streams))
                .forEach(stream -> queue.end(stream.request(), new Ending.Failed(cause)));
    }

    /// Ends those whose time is over while nothing moves them.
    ///
    /// @return those that no caller waits for
    private List<Stream> endExpired() {
        long now = clock.getAsLong();
        streams.stream()
                .filter(stream -> stream.request().isExpired(now))
                .map(Stream::request)
                .toList()
                .forEach(request -> queue.requests.end(request, new Ending.Expired()));
        var ended =
                streams.stream().filter(stream -> stream.request().hasEnded()).toList();
        ended.forEach(streams::remove);
        return ended;
    }

    /// Begins one record that waits; false: none does.
    private boolean begin() {
        var taken = queue.takeOne(worker);
        taken.ifPresent(batch -> {
            var pending = batch.pending.getFirst();
            Q sequence = null;
            Throwable failure = null;
            var trace = batch.trace("stream");
            try {
                MDC.setContextMap(batch.logContext());
                sequence = predictor.begin(pending.value());
                sequence.belongsTo(pending);
            } catch (WorkerLostException e) {
                trace.failed(e);
                trace.close();
                queue.fail(batch, e);
                throw e;
            } catch (Throwable e) {
                queue.metrics.caught(e);
                failure = late(batch, e);
            } finally {
                MDC.setContextMap(logContext());
            }
            if (failure == null) {
                add(batch, new Stream(pending, sequence, trace));
            } else {
                trace.failed(failure);
                trace.close();
                stop(batch);
                queue.end(pending.submission(), new Ending.Failed(failure));
            }
        });
        return taken.isPresent();
    }

    private void add(Batch<I, O> batch, Stream stream) {
        queue.locked(() -> {
            queue.requests.stop(batch);
            streams.addLast(stream);
            stream.request().runsOn(worker);
            stream.request().countInside(1);
        });
        metrics.streams.incrementAndGet();
    }

    private void step() {
        var moving = queue.locked(() -> streams.stream()
                .filter(Stream::canMove)
                .limit(limits.maxBatchSize())
                .toList());
        if (!moving.isEmpty()) {
            step(moving);
        }
    }

    private void step(List<Stream> moving) {
        var batch =
                queue.startStep(moving.stream().map(stream -> stream.pending).toList(), worker);
        moving.forEach(stream -> stream.sequence.beginStep());
        Throwable failure = null;
        long start = clock.getAsLong();
        try {
            MDC.setContextMap(batch.logContext());
            predictor.step(moving.stream().map(stream -> stream.sequence).toList());
        } catch (WorkerLostException e) {
            throw e;
        } catch (Throwable e) {
            queue.metrics.caught(e);
            failure = e;
        } finally {
            MDC.setContextMap(logContext());
            stop(batch);
            metrics.stepped(moving.size(), Duration.ofNanos(clock.getAsLong() - start));
        }
        if (failure != null) {
            failed(batch, moving, failure);
        } else {
            settle(moving);
        }
    }

    private void stop(Batch<I, O> batch) {
        queue.locked(() -> queue.requests.stop(batch));
    }

    /// Those that were given something keep it. The others are tried by themselves, so that only the
    /// culprit fails.
    private void failed(Batch<I, O> batch, List<Stream> moving, Throwable cause) {
        var still =
                moving.stream().filter(stream -> !stream.sequence.hasMoved()).toList();
        settle(moving.stream().filter(stream -> stream.sequence.hasMoved()).toList());
        if (moving.size() == 1) {
            moving.getFirst().trace.failed(cause);
            queue.end(moving.getFirst().request(), new Ending.Failed(late(batch, cause)));
            settle(moving);
            return;
        }
        sayRetried("step", moving, cause);
        for (var stream : still) {
            if (queue.locked(stream::canMove)) {
                step(List.of(stream));
            }
        }
    }

    /// What is wrong with a record that was interrupted because others waited for it.
    private Throwable late(Batch<I, O> batch, Throwable cause) {
        return queue.locked(batch::isTakenApart)
                ? ErrorType.DEADLINE_EXCEEDED.because(
                        "%s took %.1f s for one record while others waited for it"
                                .formatted(hook, (clock.getAsLong() - batch.startedAt) / 1e9),
                        cause)
                : cause;
    }

    /// Says what became of streams in a step. Their turn comes again after that of the others.
    private void settle(List<Stream> moved) {
        var over = queue.locked(() -> {
            long now = clock.getAsLong();
            for (var stream : moved) {
                if (stream.sequence.failure() != null) {
                    stream.trace.failed(stream.sequence.failure());
                    queue.end(stream.request(), new Ending.Failed(stream.sequence.failure()));
                } else if (stream.sequence.hasEnded()) {
                    queue.requests.finish(stream.pending);
                }
                stream.resumesAt = now + stream.sequence.pause().toNanos();
                streams.remove(stream);
            }
            var ended = moved.stream()
                    .filter(stream ->
                            stream.sequence.hasEnded() || stream.request().hasEnded())
                    .toList();
            moved.stream().filter(stream -> !ended.contains(stream)).forEach(streams::addLast);
            return ended;
        });
        over.forEach(this::close);
    }

    private void close(Stream stream) {
        metrics.streams.decrementAndGet();
        stream.trace.close();
        try {
            stream.sequence.close();
        } catch (Throwable e) {
            queue.metrics.caught(e);
            log.warn("{}: the state of a record could not be closed", name, Unsaid.of(e));
        } finally {
            queue.locked(() -> stream.request().countInside(-1));
        }
    }

    @Override
    void closeWhatIsHeld() {
        queue.locked(() -> {
                    var open = List.copyOf(streams);
                    streams.clear();
                    return open;
                })
                .forEach(this::close);
    }
}
