package dev.berth.http.connections;

import dev.berth.http.connections.PeerAwareConnector.PeerAwareEndPoint;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLHandshakeException;

/// Whose turn it is to have a handshake of TLS computed, which takes milliseconds of a core: few
/// have it at a time, so that requests and health checks always find a core. The newest handshake
/// goes first. Where more come than can be computed, those at the end wait until they are slow, and
/// a check that has only just come is answered.
///
/// A handshake whose client has gone is dropped before it costs anything. While it waits for its
/// turn, its connection counts as awaited: it makes way for others, and has a deadline. Runs on the
/// virtual threads that read.
final class Handshakes {

  private final int most;

  // Guarded by this.
  private final Deque<CountDownLatch> waiting = new ArrayDeque<>();
  private int running;

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
      // Whoever waits for a core comes first. The next handshake would begin before them, because
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
    var turn = new CountDownLatch(1);
    synchronized (this) {
      if (running < most) {
        running++;
        return;
      }
      waiting.push(turn);
    }
    endPoint.isPausing = true;
    endPoint.place.onEnd(turn::countDown);
    try {
      turn.await();
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
    endPoint.isPausing = false;
    synchronized (this) {
      if (waiting.remove(turn)) {
        throw new SSLHandshakeException("the connection was closed before its turn");
      }
    }
  }

  private synchronized void giveTurn() {
    var next = waiting.poll();
    if (next == null) {
      running--;
    } else {
      next.countDown();
    }
  }
}
