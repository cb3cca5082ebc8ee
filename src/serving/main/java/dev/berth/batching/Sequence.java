package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
import java.time.Duration;

/// The prediction of one record between two steps. Used on its worker's thread alone, but for
/// [#isWanted].
///
/// @param <O> a part of the prediction
@SuppressWarnings("try") // close() may throw InterruptedException; the worker takes it like any other.
public abstract class Sequence<O> implements AutoCloseable {

    private Pending<?, O> pending;
    private boolean moved;
    private boolean ended;
    private Throwable failure;
    private Duration pause = Duration.ZERO;

    /// Hands a part on.
    ///
    /// @throws IllegalStateException when it has ended
    public final void emit(O part) {
        if (failure != null) {
            return;
        }
        requireOpen("part");
        moved = true;
        try {
            pending.submission().sink.take(pending.index(), part);
        } catch (Throwable e) {
            failure = e;
        }
    }

    /// Says that the record has all its parts.
    public final void end() {
        if (failure == null) {
            requireOpen("end");
            moved = true;
            ended = true;
        }
    }

    /// Fails the request of this record alone.
    public void fail(Exception cause) {
        if (failure == null) {
            requireOpen("failure");
            moved = true;
            failure = cause;
        }
    }

    /// Leaves the record out of the steps of the time that comes.
    public final void pause(Duration time) {
        moved = true;
        pause = time;
    }

    /// Whether somebody still waits for the record. May be called by any thread.
    public final boolean isWanted() {
        return !pending.submission().hasEnded();
    }

    /// Frees what it holds. Runs once, while no step does.
    @Override
    public abstract void close() throws Exception;

    private void requireOpen(String found) {
        if (ended) {
            throw new IllegalStateException("found a %s after the end of its stream".formatted(found));
        }
    }

    void belongsTo(Pending<?, O> record) {
        pending = record;
    }

    void beginStep() {
        moved = false;
        pause = Duration.ZERO;
    }

    boolean hasMoved() {
        return moved;
    }

    boolean hasEnded() {
        return ended;
    }

    /// Why its request fails; null where it does not.
    Throwable failure() {
        return failure;
    }

    Duration pause() {
        return pause;
    }
}
