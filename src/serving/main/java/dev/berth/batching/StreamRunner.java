package dev.berth.batching;

import dev.berth.artifact.code.ThrownByHook;
import dev.berth.batching.Submission.Pending;
import dev.berth.error.Unsaid;
import dev.berth.hooks.PartStream;
import dev.berth.metrics.StreamMetrics;
import dev.berth.telemetry.Step;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Runs the records that one worker takes step by step: each turn begins as many as there is room
/// for, and makes one step for those that can move (continuous batching).
///
/// A stream whose reader does not keep up, or that pauses, leaves its place in the batch to others
/// and keeps its state.
final class StreamRunner<I, O, S> extends Runner<I, O> {

    private static final Logger log = LoggerFactory.getLogger(StreamRunner.class);

    private final StepPredictor<I, O, S> predictor;
    private final BatchLimits limits;
    private final StreamMetrics metrics;

    /// The one whose turn it is first. Guarded by the lock of the [WorkerPool].
    private final SequencedSet<Stream> streams = new LinkedHashSet<>();

    /// A record that was begun. Used on the worker's thread alone, but for [#isWanted] and what the
    /// lock guards.
    private final class Stream implements PartStream<S, O> {

        private final Pending<I, O> piece;
        private final S state;
        private final Step trace;

        /// Guarded by the lock.
        private long resumesAt = queue.now();

        // What the last step has made of it.
        private boolean moved;
        private boolean ended;
        private Throwable failure;
        private Duration pause;

        private Stream(Pending<I, O> piece, S state, Step trace) {
            this.piece = piece;
            this.state = state;
            this.trace = trace;
        }

        @Override
        public S state() {
            return state;
        }

        @Override
        public void emit(O part) {
            if (moves("part")) {
                try {
                    request().sink.take(piece.index(), part);
                } catch (Throwable e) {
                    failure = e;
                }
            }
        }

        @Override
        public void end() {
            ended |= moves("end");
        }

        @Override
        public void fail(Exception cause) {
            if (moves("failure")) {
                failure = ThrownByHook.ask(cause);
            }
        }

        @Override
        public void pause(Duration time) {
            moved = true;
            pause = time;
        }

        @Override
        public boolean isWanted() {
            return !request().hasEnded();
        }

        /// Nothing has an effect after a failure.
        private boolean moves(String found) {
            if (failure != null) {
                return false;
            }
            if (ended) {
                throw new IllegalStateException("found a %s after the end of its stream".formatted(found));
            }
            moved = true;
            return true;
        }

        private void beginStep() {
            moved = false;
            pause = Duration.ZERO;
        }

        private Submission<I, O> request() {
            return piece.submission();
        }

        private boolean canMove() {
            return isWanted() && request().sink.hasRoom() && resumesAt - queue.now() <= 0;
        }

        private long ripeInNanos() {
            if (!isWanted()) {
                return 0;
            }
            long now = queue.now();
            long over = Math.max(0, request().sink.deadlineNanos() - now);
            return request().sink.hasRoom() ? Math.min(over, resumesAt - now) : over;
        }
    }

    StreamRunner(Batcher<I, O> model, int worker, StepPredictor<I, O, S> predictor) {
        super(model, worker, predictor);
        this.predictor = predictor;
        this.limits = queue.limits;
        this.metrics = queue.metrics.streams();
    }

    @Override
    int room() {
        return streams.size() < limits.queueCapacity() && moving().size() < limits.maxBatchSize() ? 1 : 0;
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
    void predictWhatWaits() {
        closeOver();
        while (begin()) {
            // As many as there is room for.
        }
        var moving = queue.locked(this::moving);
        if (!moving.isEmpty()) {
            step(moving);
            closeOver();
        }
    }

    /// Closes those that have ended, and those whose time is over while nothing moves them.
    private void closeOver() {
        queue.locked(() -> {
            long now = queue.now();
            streams.stream()
                    .map(Stream::request)
                    .filter(request -> request.isExpired(now))
                    .forEach(queue::expire);
        });
        close(stream -> stream.ended || !stream.isWanted());
    }

    /// Begins one record that waits; false: none does, or there is no room.
    private boolean begin() {
        var next = queue.take(this);
        next.ifPresent(batch -> {
            var piece = batch.pieces.getFirst();
            var trace = batch.trace("stream", worker);
            var failure = run("record", batch, () -> {
                try {
                    add(new Stream(piece, predictor.begin(piece.value()), trace));
                } catch (Throwable e) {
                    trace.failed(e);
                    trace.close();
                    throw e;
                }
            });
            if (failure != null) {
                fail(batch, failure);
                letGo(piece);
            }
        });
        return next.isPresent();
    }

    private void add(Stream stream) {
        queue.locked(() -> streams.addLast(stream));
        metrics.streams.incrementAndGet();
    }

    private void step(List<Stream> moving) {
        var batch = begin(moving.stream().map(stream -> stream.piece).toList());
        moving.forEach(Stream::beginStep);
        var failure = run("step", batch, () -> predictor.step(List.copyOf(moving)));
        metrics.stepped(moving.size(), Duration.ofNanos(queue.now() - batch.startedAt));
        if (failure == null) {
            settle(moving);
        } else {
            failed(batch, moving, failure);
        }
    }

    /// Those that were given something keep it. The others are tried by themselves, so that only the
    /// culprit fails.
    private void failed(Batch<I, O> batch, List<Stream> moving, Throwable cause) {
        if (moving.size() == 1 && !moving.getFirst().ended) {
            moving.getFirst().trace.failed(cause);
            fail(batch, cause);
            settle(moving);
            return;
        }
        var still = moving.stream().filter(stream -> !stream.moved).toList();
        settle(moving.stream().filter(stream -> stream.moved).toList());
        for (var stream : still) {
            if (queue.locked(stream::canMove)) {
                step(List.of(stream));
            }
        }
    }

    /// Says what became of streams in a step. Their turn comes again after that of the others.
    private void settle(List<Stream> moved) {
        queue.locked(() -> {
            long now = queue.now();
            for (var stream : moved) {
                if (stream.failure != null) {
                    stream.trace.failed(stream.failure);
                    queue.end(stream.request(), stream.failure);
                } else if (stream.ended) {
                    queue.answer(stream.piece, null);
                }
                stream.resumesAt = now + stream.pause.toNanos();
                streams.remove(stream);
                streams.addLast(stream);
            }
        });
    }

    private void close(Predicate<Stream> over) {
        queue.locked(() -> {
                    var found = streams.stream().filter(over).toList();
                    found.forEach(streams::remove);
                    return found;
                })
                .forEach(this::close);
    }

    private void close(Stream stream) {
        metrics.streams.decrementAndGet();
        stream.trace.close();
        try {
            predictor.end(stream.state);
        } catch (Throwable e) {
            queue.metrics.caught(e);
            log.warn("{}: the state of a record could not be closed", name, Unsaid.of(e));
        } finally {
            letGo(stream.piece);
        }
    }

    @Override
    void closeWhatIsHeld() {
        close(_ -> true);
    }
}
