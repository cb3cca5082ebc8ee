package dev.berth.batching;

import dev.berth.artifact.code.ThrownByHook;
import dev.berth.hooks.PartStream;
import dev.berth.telemetry.Step;
import java.time.Duration;

/// One record of a request or a piece of one, from when it waits until it is predicted. Compared by
/// identity, as records of callers are equal in any way that they like.
///
/// It is also what the predictor gives the prediction to, in one part or in several. What a step
/// makes of it is used by the worker that has taken it alone, but for [#isWanted] and the time at
/// which it goes on, which the lock guards.
final class Piece<I, O> implements PartStream<Object, O> {

    /// Lengths up to this one are of the first bucket.
    private static final int SHORTEST_BUCKET = 16;

    final Submission<I, O> request;

    /// Its place in the request.
    final int index;

    /// The place of its record in the request.
    final int record;

    /// Null where the caller's record was.
    final I value;

    /// Its cost in a batch, in tokens.
    final int length;

    /// How many records of a batch it is.
    final int size;

    private long resumesAt;

    // Of one that a [Predictor.InSteps] has begun: what it keeps from step to step, and the trace until it is
    // over.
    boolean hasBegun;
    private Object state;
    Step trace = Step.NONE;

    // What the last step has made of it.
    boolean moved;
    boolean ended;
    Throwable failure;
    private Duration pause;

    Piece(Submission<I, O> request, int index, int record, I value, int length, int size) {
        this.request = request;
        this.index = index;
        this.record = record;
        this.value = value;
        this.length = length;
        this.size = size;
        this.resumesAt = request.arrivedAt;
    }

    /// Records go together in a batch where their lengths round up to the same power of two, so that
    /// padding at most doubles its cost.
    ///
    /// @return the exponent of that power
    static int bucket(int length) {
        return Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(length, SHORTEST_BUCKET) - 1);
    }

    int bucket() {
        return bucket(length);
    }

    long cost() {
        return (long) size * length;
    }

    @Override
    public Object state() {
        return state;
    }

    void begin(Object itsState, Step itsTrace) {
        state = itsState;
        trace = itsTrace;
        hasBegun = true;
    }

    @Override
    public void emit(O part) {
        if (moves("part")) {
            try {
                request.sink.take(index, part);
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
        return !request.hasEnded();
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

    void beginStep() {
        moved = false;
        pause = Duration.ZERO;
    }

    /// The lock is held.
    void endStep(long now) {
        resumesAt = now + pause.toNanos();
    }

    boolean canMove(long now) {
        return isWanted() && request.sink.hasRoom() && resumesAt - now <= 0;
    }

    /// In how long its worker has something to do for it.
    long ripeInNanos(long now) {
        if (!isWanted()) {
            return 0;
        }
        long over = Math.max(0, request.sink.deadlineNanos() - now);
        return request.sink.hasRoom() ? Math.min(over, resumesAt - now) : over;
    }
}
