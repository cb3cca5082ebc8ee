package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.http.PeerAwareConnector.PeerAwareEndPoint;
import dev.berth.metrics.ServingMetrics;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.http2.api.Stream;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.thread.Scheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The open connections of all connectors, and the streams of HTTP/2, each of which takes a place
/// as well. Beyond the limit, a new one takes the place of the connection whose client the server
/// has been waiting for longest: first of those without a request, then of those that do not send
/// their bodies or do not take their answers. A connection whose request is being answered, or is
/// there to be read, is never closed.
///
/// Jetty's `NetworkConnectionLimit` stops accepting at the limit instead, so that connections that
/// do nothing keep the health check out.
///
/// Runs on the acceptors' threads, and on the threads of requests on [OpenRequests]. Once a second
/// the server's scheduler looks for heads that are not whole in time.
final class Connections implements SelectorManager.AcceptListener {

  private static final Logger log = LoggerFactory.getLogger(Connections.class);

  /// How long a head may take, from the opening of the connection or the first byte of its next
  /// request. Jetty has only a limit on silence, which a byte now and then resets.
  private static final long HEAD_NANOS = TimeUnit.SECONDS.toNanos(10);

  /// How long a connection must have been waited for before it makes way: what its client has sent
  /// may not be read yet.
  private static final long WAITED_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

  /// How long a new one waits for another to make way.
  private static final long PATIENCE_NANOS = 2 * WAITED_NANOS;

  private static final long SHORTEST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final int UNREAD = 16 << 10;
  private static final long WARNING_NANOS = TimeUnit.MINUTES.toNanos(1);

  // Values of the metrics' label.
  private static final String SLOW_HEAD = "slow_head";
  private static final String MADE_WAY = "made_way";
  private static final String REFUSED = "refused";
  private static final String OF_ADDRESS = "address";

  private final ConnectionLimit limit;
  private final OptionalInt mostOfAddress;
  private final ServingMetrics metrics;

  private final ReentrantLock lock = new ReentrantLock();

  /// Signalled when a place is free again.
  private final Condition left = lock.newCondition();

  private final Map<SelectableChannel, OpenConnection> places = new LinkedHashMap<>();
  private final Map<InetAddress, Integer> addresses = new HashMap<>();

  /// How many of the places are beyond the limit.
  private int reserved;

  private final Set<Stream> streams = new HashSet<>();

  /// How many requests on those wait for another place.
  private int admitting;

  private long nextWarning = System.nanoTime();

  private volatile boolean watching;

  /// @param mostOfAddress the most connections of one client address
  Connections(ConnectionLimit limit, OptionalInt mostOfAddress, ServingMetrics metrics) {
    this.limit = limit;
    this.mostOfAddress = mostOfAddress;
    this.metrics = metrics;
  }

  /// Runs on the acceptor's thread, before the channel is registered. A channel that is closed here
  /// never is.
  @Override
  public void onAccepting(SelectableChannel channel) {
    var place = new OpenConnection((SocketChannel) channel);
    lock.lock();
    try {
      if (mostOfAddress.isPresent()
          && addresses.getOrDefault(place.address, 0) >= mostOfAddress.getAsInt()) {
        refuse(
            place,
            OF_ADDRESS,
            "this address has %d connections, and max-connections-per-address allows no more"
                .formatted(mostOfAddress.getAsInt()));
        return;
      }
      place.reserved = !makeWay(false, 0);
      if (place.reserved && !makeWay(true, PATIENCE_NANOS)) {
        refuse(place, REFUSED, full());
        return;
      }
      places.put(channel, place);
      addresses.merge(place.address, 1, Integer::sum);
      reserved += place.reserved ? 1 : 0;
      metrics.connections.incrementAndGet();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void onAcceptFailed(SelectableChannel channel, Throwable cause) {
    onClosed(channel);
  }

  @Override
  public void onClosed(SelectableChannel channel) {
    lock.lock();
    try {
      remove(channel);
    } finally {
      lock.unlock();
    }
  }

  void attach(SocketChannel channel, PeerAwareEndPoint endPoint) {
    lock.lock();
    try {
      var place = places.get(channel);
      if (place != null) {
        place.endPoint = endPoint;
        endPoint.take(place);
      }
    } finally {
      lock.unlock();
    }
  }

  /// Whether a request may be answered. One on a connection beyond the limit waits a moment for
  /// another to make way, but not where many wait: the acceptor would wait for them, and those who
  /// ask `/ping` for the acceptor.
  boolean admit(OpenConnection place) {
    if (!place.reserved) {
      return true;
    }
    lock.lock();
    admitting++;
    try {
      if (makeWay(false, admitting > ConnectionLimit.RESERVE / 2 ? 0 : PATIENCE_NANOS)) {
        place.reserved = false;
        reserved--;
        return true;
      }
      metrics.connectionsDropped.apply(REFUSED).increment();
      return false;
    } finally {
      admitting--;
      lock.unlock();
    }
  }

  /// Whether there is a place for a stream of HTTP/2, now.
  boolean openStream(Stream stream) {
    lock.lock();
    try {
      if (!makeWay(false, 0)) {
        metrics.connectionsDropped.apply(REFUSED).increment();
        return false;
      }
      streams.add(stream);
      return true;
    } finally {
      lock.unlock();
    }
  }

  void closeStream(Stream stream) {
    lock.lock();
    try {
      if (streams.remove(stream)) {
        left.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  /// Why there is no room.
  String full() {
    return "all %d connections are in use, which is the most because %s; try again later"
        .formatted(limit.most(), limit.because());
  }

  /// The system could not give a descriptor for a connection.
  void acceptFailed(Throwable failure) {
    lock.lock();
    try {
      warn("can't accept connections: " + failure);
      longestAwaited(false).or(() -> longestAwaited(true)).ifPresent(this::close);
    } finally {
      lock.unlock();
    }
  }

  /// Looks for slow heads once a second.
  void watch(Scheduler scheduler) {
    watching = true;
    scheduler.schedule(
        () -> {
          try {
            closeSlowHeads();
          } finally {
            if (watching) {
              watch(scheduler);
            }
          }
        },
        1,
        TimeUnit.SECONDS);
  }

  void stopWatching() {
    watching = false;
  }

  private void closeSlowHeads() {
    for (var place : slowHeads()) {
      metrics.connectionsDropped.apply(SLOW_HEAD).increment();
      if (place.endPoint.getConnection() instanceof HttpConnection http
          && OpenConnection.isInHead(http)) {
        var message =
            "the request's headers did not end within "
                + TimeUnit.NANOSECONDS.toSeconds(HEAD_NANOS)
                + " s";
        place.endPoint.closeWithin(
            response(
                408,
                "Request Timeout",
                RequestLog.malformed(408, message),
                Errors.body(408, message)));
      } else {
        place.endPoint.close();
      }
    }
  }

  private List<OpenConnection> slowHeads() {
    lock.lock();
    try {
      return places.values().stream().filter(place -> place.isSlow(HEAD_NANOS)).toList();
    } finally {
      lock.unlock();
    }
  }

  /// Waits until there is a free place, and closes the connection that is waited for longest where
  /// there is none.
  ///
  /// @param beyond whether it is to be one beyond the limit
  /// @return false where all others are busy, or have not been waited for long enough
  private boolean makeWay(boolean beyond, long patienceNanos) {
    long end = System.nanoTime() + patienceNanos;
    while (beyond
        ? reserved >= ConnectionLimit.RESERVE
        : places.size() - reserved + streams.size() >= limit.most()) {
      long now = System.nanoTime();
      var first = longestAwaited(beyond);
      long wait = first.map(place -> since(place) + WAITED_NANOS - now).orElse(patienceNanos);
      if (first.isPresent() && wait <= 0) {
        if (!first.get().mayGo()) {
          continue;
        }
        warn("all connections are taken: " + full());
        metrics.connectionsDropped.apply(MADE_WAY).increment();
        close(first.get());
      } else if (end - now <= 0 || !awaitChange(Math.min(end - now, wait))) {
        return false;
      }
    }
    return true;
  }

  /// By now it may have something to do, which [#makeWay] sees when it asks again.
  private static long since(OpenConnection place) {
    return place.awaitedSince().orElseGet(System::nanoTime);
  }

  private Optional<OpenConnection> longestAwaited(boolean beyond) {
    OpenConnection first = null;
    boolean firstHasRequests = true;
    long firstSince = 0;
    for (var place : places.values()) {
      var since = place.reserved == beyond ? place.awaitedSince() : OptionalLong.empty();
      if (since.isPresent()) {
        boolean hasRequests = place.hasRequests();
        if (first == null
            || (hasRequests == firstHasRequests
                ? since.getAsLong() - firstSince < 0
                : firstHasRequests)) {
          first = place;
          firstHasRequests = hasRequests;
          firstSince = since.getAsLong();
        }
      }
    }
    return Optional.ofNullable(first);
  }

  /// Waits until a connection is closed, or the time is over; false: interrupted. It may return
  /// before: [#makeWay] looks again.
  @SuppressWarnings("WaitNotInLoop")
  private boolean awaitChange(long nanos) {
    try {
      left.awaitNanos(Math.max(nanos, SHORTEST_WAIT_NANOS));
      return true;
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private void close(OpenConnection place) {
    remove(place.channel);
    place.close();
  }

  private void remove(SelectableChannel channel) {
    var place = places.remove(channel);
    if (place != null) {
      addresses.computeIfPresent(place.address, (_, count) -> count == 1 ? null : count - 1);
      reserved -= place.reserved ? 1 : 0;
      metrics.connections.decrementAndGet();
      left.signalAll();
    }
  }

  /// Answers before a request was read, and closes.
  private void refuse(OpenConnection place, String reason, String message) {
    warn("refused a connection: " + message);
    metrics.connectionsDropped.apply(reason).increment();
    try (var channel = place.channel) {
      var body = Errors.body(ErrorType.OVERLOADED, message);
      channel.write(
          ByteBuffer.wrap(
              response(
                  ErrorType.OVERLOADED.status(),
                  "Service Unavailable",
                  UUID.randomUUID().toString(),
                  body)));
      // What is unread when a socket is closed makes the kernel send a reset.
      channel.read(ByteBuffer.allocate(UNREAD));
    } catch (IOException e) {
      log.debug("the client has gone", e);
    }
  }

  /// A response that Jetty knows nothing of.
  private static byte[] response(int status, String reason, String requestId, byte[] body) {
    var head =
        String.join(
                "\r\n",
                "HTTP/1.1 " + status + " " + reason,
                RequestLog.REQUEST_ID_HEADER + ": " + requestId,
                "Content-Type: " + Errors.CONTENT_TYPE,
                "Content-Length: " + body.length,
                "Retry-After: " + ErrorType.OVERLOADED.retryAfter(),
                "Connection: close",
                "",
                "")
            .getBytes(StandardCharsets.US_ASCII);
    return ByteBuffer.allocate(head.length + body.length).put(head).put(body).array();
  }

  private void warn(String message) {
    long now = System.nanoTime();
    if (now - nextWarning >= 0) {
      nextWarning = now + WARNING_NANOS;
      log.warn(message);
    }
  }
}
