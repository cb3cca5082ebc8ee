package dev.berth.http.connections;

import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLHandshakeException;

/// Computes handshakes of TLS, which take milliseconds of a core. They have platform threads of their
/// own, so the system shares the cores between them and all that requests need.
///
/// The oldest goes first until one has waited for long; then the newest does. So all of a burst are
/// answered, and where more come than can be computed, a check that has only just come still is. One
/// whose client has gone is dropped before it costs anything. One that has waited for long makes way
/// for other connections. A fair semaphore in its place missed the bar of the attack
/// `flood-tls-hellos`.
final class Handshakes {

    private static final int IDLE_SECONDS = 10;

    private final ThreadPoolExecutor threads;

    /// @param most that are computed at the same time
    Handshakes(int most) {
        threads = new ThreadPoolExecutor(most, most, IDLE_SECONDS, TimeUnit.SECONDS, new Waiting());
        threads.setThreadFactory(
                Thread.ofPlatform().name("berth-handshake-", 1).daemon().factory());
        threads.allowCoreThreadTimeOut(true);
    }

    /// The message of one client, from when it waits.
    private static final class Handshake extends FutureTask<Void> {
        private final long since = System.nanoTime();

        private Handshake(OpenConnection connection, Runnable work) {
            super(() -> {
                connection.handshakeSince = null;
                if (connection.lookAhead() < 0) {
                    throw new SSLHandshakeException("the client has gone");
                }
                work.run();
                return null;
            });
            connection.handshakeSince = since;
        }
    }

    /// Those that have no thread yet, the oldest first.
    private static final class Waiting extends LinkedBlockingDeque<Runnable> {
        @Override
        public Runnable poll(long timeout, TimeUnit unit) throws InterruptedException {
            return peekFirst() instanceof Handshake oldest
                            && System.nanoTime() - oldest.since > OpenConnection.LONG_HANDSHAKE_NANOS
                    ? pollLast(timeout, unit)
                    : pollFirst(timeout, unit);
        }
    }

    /// Computes what a client's message asks for. Runs on the virtual thread that reads.
    ///
    /// @throws SSLHandshakeException where the connection has ended before
    void run(OpenConnection connection, Runnable work) throws SSLHandshakeException {
        var own = new Handshake(connection, work);
        threads.execute(own);
        connection.onEnd(() -> {
            if (threads.remove(own)) {
                own.cancel(false);
            }
        });
        try {
            own.get();
        } catch (ExecutionException | CancellationException | InterruptedException e) {
            throw (SSLHandshakeException) new SSLHandshakeException("the connection has ended").initCause(e);
        } finally {
            connection.goOn();
        }
    }
}
