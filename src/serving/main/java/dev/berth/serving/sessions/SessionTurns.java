package dev.berth.serving.sessions;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/// The turns of a session: each begins when the one before it has ended. The first is taken when this
/// is made. Another thread may leave a turn than the one that took it.
///
/// A fair semaphore would do the same, but the scheduler of `src/test/schedules` has no true model of
/// one for which several threads wait.
final class SessionTurns {

    /// The turn that runs. Written by the one who has it.
    private volatile CompletableFuture<Void> current = new CompletableFuture<>();

    /// Ends with the last turn. Guarded by the monitor.
    private CompletableFuture<Void> last = current;

    synchronized boolean isFree() {
        return last.isDone();
    }

    /// Takes the turn where it is free.
    synchronized boolean tryTake() {
        boolean isFree = last.isDone();
        if (isFree) {
            current = new CompletableFuture<>();
            last = current;
        }
        return isFree;
    }

    /// Waits for the turn.
    ///
    /// @return false: it did not come in so many nanoseconds
    boolean take(long nanos) throws InterruptedException {
        var turn = new CompletableFuture<Void>();
        var before = append(turn);
        try {
            before.get(nanos, TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            if (giveUp(turn, before)) {
                return false;
            }
        } catch (InterruptedException e) {
            if (giveUp(turn, before)) {
                throw e;
            }
            Thread.currentThread().interrupt();
        } catch (ExecutionException e) {
            throw new IllegalStateException("turns do not fail", e);
        }
        current = turn;
        return true;
    }

    /// @return the end of the turn before it
    private synchronized CompletableFuture<Void> append(CompletableFuture<Void> turn) {
        var before = last;
        last = before.thenCompose(_ -> turn);
        return before;
    }

    /// @return false: it has come meanwhile, and whoever left the one before relies on that
    private synchronized boolean giveUp(CompletableFuture<Void> turn, CompletableFuture<Void> before) {
        return !before.isDone() && turn.complete(null);
    }

    synchronized void leave() {
        current.complete(null);
    }
}
