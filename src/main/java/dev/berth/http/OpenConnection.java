package dev.berth.http;

import dev.berth.http.PeerAwareConnector.PeerAwareEndPoint;
import java.net.InetAddress;
import java.nio.channels.SocketChannel;
import java.util.OptionalLong;
import org.eclipse.jetty.http.HttpParser;
import org.eclipse.jetty.server.internal.HttpConnection;

/// One connection from the moment when it is accepted, of HTTP/1.1, HTTP/2 or WebSocket: what it
/// asks for, and since when the server waits for its client.
final class OpenConnection {

  final SocketChannel channel;
  final InetAddress address;
  private final long opened = System.nanoTime();

  /// Null until Jetty has made it.
  volatile PeerAwareEndPoint endPoint;

  /// Whether it is beyond the limit.
  volatile boolean reserved;

  /// Null where it is no WebSocket.
  private volatile Socket socket;

  // Guarded by this.
  private int requests;
  private int waiting;

  /// The end of the last request, or when it was last seen to have sent what was not read yet.
  private volatile long since = opened;

  OpenConnection(SocketChannel channel) {
    this.channel = channel;
    this.address = channel.socket().getInetAddress();
  }

  void becomes(Socket socket) {
    this.socket = socket;
  }

  /// A request of the connection, or a message, from its beginning until it is answered.
  final class Call {
    // Guarded by the connection.
    private int waits;
    private boolean ended;

    private Call() {}

    /// The server waits for the client, to send more or to take more, until [#goOn].
    void await() {
      synchronized (OpenConnection.this) {
        if (!ended && waits++ == 0) {
          waiting++;
          since = System.nanoTime();
        }
      }
    }

    void goOn() {
      synchronized (OpenConnection.this) {
        if (!ended && --waits == 0) {
          waiting--;
        }
      }
    }

    void end() {
      synchronized (OpenConnection.this) {
        if (!ended) {
          ended = true;
          requests--;
          waiting -= waits > 0 ? 1 : 0;
          since = System.nanoTime();
        }
      }
    }
  }

  Call begin() {
    synchronized (this) {
      requests++;
    }
    return new Call();
  }

  synchronized boolean hasRequests() {
    return requests > 0;
  }

  /// Since when the server waits for the client, in `System.nanoTime()`; empty where it has
  /// something to do, or has not begun to read.
  OptionalLong awaitedSince() {
    if (endPoint == null) {
      return OptionalLong.empty();
    }
    synchronized (this) {
      boolean awaited = requests == 0 ? endPoint.isFillInterested() : waiting == requests;
      return awaited ? OptionalLong.of(since) : OptionalLong.empty();
    }
  }

  /// Whether a head has begun and not ended, or a connection has sent nothing yet or was not closed
  /// after its last answer, for so long.
  boolean isSlow(long nanos) {
    if (awaitedSince().isEmpty()
        || hasRequests()
        || !(endPoint.getConnection() instanceof HttpConnection http)) {
      return false;
    }
    long begin = isInHead(http) ? http.getParser().getBeginNanoTime() : since;
    boolean isOwed =
        isInHead(http)
            || http.getMessagesIn() == 0
            || endPoint.isOutputShutdown()
            || http.getParser().isTerminated();
    return isOwed && System.nanoTime() - begin > nanos;
  }

  /// Whether it may be closed. A client whose request is there but not read yet is spared, and its
  /// request is read.
  boolean mayGo() {
    if (!hasRequests() && !isInHead() && endPoint.hasUnread()) {
      since = System.nanoTime();
      endPoint.readUnread();
      return false;
    }
    return awaitedSince().isPresent();
  }

  void close() {
    var open = socket;
    if (open == null) {
      endPoint.close();
    } else {
      open.makeWay();
    }
  }

  private boolean isInHead() {
    return endPoint.getConnection() instanceof HttpConnection http && isInHead(http);
  }

  static boolean isInHead(HttpConnection http) {
    return http.getParser().inHeaderState() && !http.getParser().isState(HttpParser.State.START);
  }
}
