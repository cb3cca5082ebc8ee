package dev.berth.serving.sessions;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/// The turns of a session: one thread has the turn, and hands it to the one that has waited longest.
/// It is taken when this is made. Another thread may leave it than the one that took it.
///
/// A fair semaphore would do the same, but the scheduler of `src/test/schedules` has no true model of
/// one for which several threads wait.
final class SessionTurns {

    private final ReentrantLock lock = new ReentrantLock();
    private final Deque<Condition> waiting = new ArrayDeque<>();
    private boolean taken = true;

    boolean isFree() {
        lock.lock();
        try {
            return !taken;
        } finally {
            lock.unlock();
        }
    }

    /// Takes the turn where it is free.
    boolean tryTake() {
        lock.lock();
        try {
            boolean isFree = !taken;
            taken = true;
            return isFree;
        } finally {
            lock.unlock();
        }
    }

    /// Waits for the turn.
    ///
    /// @return false: it did not come in so many nanoseconds
    boolean take(long nanos) throws InterruptedException {
        lock.lock();
        try {
            if (!taken) {
                taken = true;
                return true;
            }
            var handed = lock.newCondition();
            waiting.addLast(handed);
            try {
                for (long left = nanos; left > 0 && waiting.contains(handed); ) {
                    left = handed.awaitNanos(left);
                }
            } catch (InterruptedException e) {
                if (!waiting.remove(handed)) {
                    leave();
                }
                throw e;
            }
            return !waiting.remove(handed);
        } finally {
            lock.unlock();
        }
    }

    void leave() {
        lock.lock();
        try {
            taken = !waiting.isEmpty();
            if (taken) {
                waiting.removeFirst().signal();
            }
        } finally {
            lock.unlock();
        }
    }
}
