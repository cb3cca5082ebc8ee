package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import dev.berth.error.Unsaid;
import dev.berth.metrics.StreamMetrics;
import dev.berth.telemetry.Step;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
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
    private final BatchLimits limits;
    private final StreamMetrics metrics;

    /// The one whose turn it is first. Guarded by the lock of the [WorkerPool].
    private final SequencedSet<Stream> streams = new LinkedHashSet<>();

    /// A record that was begun. Its times are guarded by the lock.
    private final class Stream {

        private final Pending<I, O> pending;
        private final Q sequence;
        private final Step trace;
        private long resumesAt = queue.now();

        private Stream(Pending<I, O> pending, Q sequence, Step trace) {
            this.pending = pending;
            this.sequence = sequence;
            this.trace = trace;
        }

        private Submission<I, O> request() {
            return pending.submission();
        }

        private boolean canMove() {
            return !request().hasEnded() && request().sink.hasRoom() && resumesAt - queue.now() <= 0;
        }

        private long ripeInNanos() {
            if (request().hasEnded()) {
                return 0;
            }
            long now = queue.now();
            long over = Math.max(0, request().deadline() - now);
            return request().sink.hasRoom() ? Math.min(over, resumesAt - now) : over;
        }
    }

    StreamRunner(Batcher<I, O> model, int worker, StepPredictor<I, O, Q> predictor) {
        super(model, worker, predictor);
        this.predictor = predictor;
        this.limits = queue.limits;
        this.metrics = queue.metrics.streams();
    }

    @Override
    boolean predictsInSteps() {
        return true;
    }

    @Override
    boolean hasRoom() {
        return streams.size() < limits.queueCapacity() && moving().size() < limits.maxBatchSize();
    }

    /// Those that take part in the next step.
    private List<Stream> moving() {
        return streams.stream()
                .filter(Stream::canMove)
                .limit(limits.maxBatchSize())
                .toList();
    }

    @Override
    long ripeInNanos() {
        return streams.stream().mapToLong(Stream::ripeInNanos).min().orElse(Long.MAX_VALUE);
    }

    @Override
    List<Pending<I, O>> held() {
        return streams.stream().map(stream -> stream.pending).toList();
    }

    @Override
    void predictWhatWaits() {
        queue.locked(this::endExpired).forEach(this::close);
        while (queue.locked(this::hasRoom) && begin()) {
            // As many as there is room for.
        }
        var moving = queue.locked(this::moving);
        if (!moving.isEmpty()) {
            step(moving);
        }
    }

    /// Ends those whose time is over while nothing moves them.
    ///
    /// @return those that no caller waits for
    private List<Stream> endExpired() {
        long now = queue.now();
        streams.stream()
                .map(Stream::request)
                .filter(request -> request.isExpired(now))
                .forEach(queue::expire);
        var ended =
                streams.stream().filter(stream -> stream.request().hasEnded()).toList();
        ended.forEach(streams::remove);
        return ended;
    }

    /// Begins one record that waits; false: none does.
    private boolean begin() {
        var taken = queue.take(this);
        taken.ifPresent(batch -> {
            var pending = batch.pending.getFirst();
            var trace = batch.trace("stream");
            try {
                MDC.setContextMap(batch.logContext());
                var sequence = predictor.begin(pending.value());
                sequence.belongsTo(pending);
                add(batch, new Stream(pending, sequence, trace));
            } catch (Throwable e) {
                trace.failed(e);
                trace.close();
                if (e instanceof WorkerLostException lost) {
                    throw lost;
                }
                queue.metrics.caught(e);
                queue.stop(batch);
                queue.locked(() -> queue.end(pending.submission(), late(batch, e)));
            } finally {
                MDC.setContextMap(logContext());
            }
        });
        return taken.isPresent();
    }

    private void add(Batch<I, O> batch, Stream stream) {
        queue.locked(() -> {
            queue.stop(batch);
            streams.addLast(stream);
            stream.request().streams();
            stream.request().countInside(1);
        });
        metrics.streams.incrementAndGet();
    }

    private void step(List<Stream> moving) {
        var batch = queue.run(moving.stream().map(stream -> stream.pending).toList(), this);
        moving.forEach(stream -> stream.sequence.beginStep());
        Throwable failure = null;
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
            queue.stop(batch);
            metrics.stepped(moving.size(), Duration.ofNanos(queue.now() - batch.startedAt));
        }
        if (failure == null) {
            settle(moving);
        } else {
            failed(batch, moving, failure);
        }
    }

    /// Those that were given something keep it. The others are tried by themselves, so that only the
    /// culprit fails.
    private void failed(Batch<I, O> batch, List<Stream> moving, Throwable cause) {
        if (moving.size() == 1 && !moving.getFirst().sequence.hasEnded()) {
            var culprit = moving.getFirst();
            culprit.trace.failed(cause);
            queue.locked(() -> queue.end(culprit.request(), late(batch, cause)));
            settle(moving);
            return;
        }
        var still =
                moving.stream().filter(stream -> !stream.sequence.hasMoved()).toList();
        settle(moving.stream().filter(stream -> stream.sequence.hasMoved()).toList());
        sayRetried("step", moving, cause);
        for (var stream : still) {
            if (queue.locked(stream::canMove)) {
                step(List.of(stream));
            }
        }
    }

    /// Says what became of streams in a step. Their turn comes again after that of the others.
    private void settle(List<Stream> moved) {
        var over = queue.locked(() -> {
            long now = queue.now();
            for (var stream : moved) {
                if (stream.sequence.failure() != null) {
                    stream.trace.failed(stream.sequence.failure());
                    queue.end(stream.request(), stream.sequence.failure());
                } else if (stream.sequence.hasEnded()) {
                    queue.answer(stream.pending, null);
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
