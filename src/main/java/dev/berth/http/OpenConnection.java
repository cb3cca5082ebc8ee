package dev.berth.http;

import dev.berth.http.PeerAwareConnector.PeerAwareEndPoint;
import java.net.InetAddress;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http.HttpParser;
import org.eclipse.jetty.server.internal.HttpConnection;

/// One connection from the moment when it is accepted: what the server waits for, and since when.
/// That is read from Jetty's own parser, so requests pay nothing for it.
final class OpenConnection {

  /// How long a new connection may be silent before it counts as one whose head does not come. On a
  /// busy machine a client connects some time before it sends.
  private static final long SILENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

  final SocketChannel channel;
  final InetAddress address;
  private final long opened = System.nanoTime();

  /// Null until Jetty has made it.
  volatile PeerAwareEndPoint endPoint;

  /// Whether it is beyond the limit.
  volatile boolean reserved;

  /// When it was last seen to have sent what was not read yet.
  private volatile long spared = opened;

  OpenConnection(SocketChannel channel) {
    this.channel = channel;
    this.address = channel.socket().getInetAddress();
  }

  /// What the server waits for; empty where it has something to do, or has not begun to read.
  Optional<Awaited> awaited() {
    if (endPoint == null
        || !endPoint.isFillInterested()
        || !(endPoint.getConnection() instanceof HttpConnection http)) {
      return Optional.empty();
    }
    var parser = http.getParser();
    if (endPoint.isOutputShutdown() || parser.isTerminated() || isInHead(http)) {
      return Awaited.OF_HEAD;
    }
    if (parser.isState(HttpParser.State.START)) {
      if (http.getMessagesIn() > 0) {
        return Awaited.OF_REQUEST;
      }
      return System.nanoTime() - opened > SILENCE_NANOS
          ? Awaited.OF_HEAD
          : Awaited.OF_FIRST_REQUEST;
    }
    return parser.inContentState() ? Awaited.OF_BODY : Optional.empty();
  }

  /// Since when it does so, in `System.nanoTime()`.
  long since() {
    long since = silentSince();
    return since - spared > 0 ? since : spared;
  }

  private long silentSince() {
    if (endPoint == null
        || !(endPoint.getConnection() instanceof HttpConnection http)
        || http.getMessagesIn() == 0) {
      return opened;
    }
    return isInHead(http)
        ? http.getParser().getBeginNanoTime()
        : System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(endPoint.getIdleFor());
  }

  /// Whether it may be closed. A client whose request is there but not read yet is spared, and its
  /// request is read.
  boolean mayGo() {
    if (endPoint.getConnection() instanceof HttpConnection http
        && http.getParser().isState(HttpParser.State.START)
        && endPoint.hasUnread()) {
      spared = System.nanoTime();
      endPoint.readUnread();
      return false;
    }
    return awaited().isPresent();
  }

  /// What the server waits for, in the order in which connections make way.
  enum Awaited {
    /// A first head that is late, the rest of a head, or the end of a connection whose last answer
    /// was sent.
    HEAD,
    REQUEST,
    FIRST_REQUEST,
    BODY;

    static final Optional<Awaited> OF_HEAD = Optional.of(HEAD);
    static final Optional<Awaited> OF_REQUEST = Optional.of(REQUEST);
    static final Optional<Awaited> OF_FIRST_REQUEST = Optional.of(FIRST_REQUEST);
    static final Optional<Awaited> OF_BODY = Optional.of(BODY);
  }

  /// Whether a head has begun and is not whole.
  static boolean isInHead(HttpConnection http) {
    return http.getParser().inHeaderState() && !http.getParser().isState(HttpParser.State.START);
  }
}
