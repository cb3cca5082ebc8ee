package dev.berth.http.connections;

import dev.berth.http.connections.PeerAwareConnector.PeerAwareEndPoint;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLHandshakeException;

/// Whose turn it is to have a handshake of TLS computed, which takes milliseconds of a core: few
/// have it at a time, so that requests and health checks always find a core. The oldest goes first
/// until one has waited for long; then the newest does. So all of a burst are answered, and where
/// more come than can be computed, a check that has only just come still is.
///
/// A handshake whose client has gone is dropped before it costs anything. One that has waited for
/// long makes way for other connections. A fair semaphore in its place missed the bar of the attack
/// `flood-tls-hellos`. Runs on the virtual threads that read.
final class Handshakes {

    private static final long LONG_NANOS = TimeUnit.SECONDS.toNanos(3);

    private final int most;

    // Guarded by this.
    /// The oldest first.
    private final Deque<Waiting> waiting = new ArrayDeque<>();

    private int running;

    static final class Waiting {
        private final PeerAwareEndPoint endPoint;
        private final long since = System.nanoTime();
        private final CountDownLatch end = new CountDownLatch(1);
        private boolean hasTurn;

        private Waiting(PeerAwareEndPoint endPoint) {
            this.endPoint = endPoint;
        }

        /// @param now in `System.nanoTime()`
        boolean isLong(long now) {
            return now - since > LONG_NANOS;
        }
    }

    /// @param most that are computed at the same time
    Handshakes(int most) {
        this.most = most;
    }

    /// Computes what a client's message asks for.
    ///
    /// @throws SSLHandshakeException where the connection has ended before
    void run(PeerAwareEndPoint endPoint, Runnable work) throws SSLHandshakeException {
        requirePeer(endPoint);
        awaitTurn(endPoint);
        try {
            requirePeer(endPoint);
            work.run();
        } finally {
            endPoint.beginTurn();
            endPoint.place.goOn();
            // Threads that wait for a core come first. The next handshake would begin before them, because
            // a virtual thread that wakes another leaves it its core.
            LockSupport.parkNanos(1);
            giveTurn();
        }
    }

    private static void requirePeer(PeerAwareEndPoint endPoint) throws SSLHandshakeException {
        if (endPoint.lookAhead() < 0) {
            throw new SSLHandshakeException("the client has gone");
        }
    }

    private void awaitTurn(PeerAwareEndPoint endPoint) throws SSLHandshakeException {
        var own = new Waiting(endPoint);
        synchronized (this) {
            if (running < most) {
                running++;
                return;
            }
            waiting.add(own);
        }
        endPoint.handshake = own;
        endPoint.place.onEnd(own.end::countDown);
        try {
            own.end.await();
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
        endPoint.handshake = null;
        synchronized (this) {
            if (!own.hasTurn) {
                waiting.remove(own);
                throw new SSLHandshakeException("the connection ended before its turn");
            }
        }
    }

    private synchronized void giveTurn() {
        while (!waiting.isEmpty()) {
            boolean isLong = waiting.getFirst().isLong(System.nanoTime());
            var next = isLong ? waiting.removeLast() : waiting.removeFirst();
            next.hasTurn = next.endPoint.lookAhead() >= 0;
            next.end.countDown();
            if (next.hasTurn) {
                return;
            }
        }
        running--;
    }
}
