package dev.berth.http.connections;

import dev.berth.config.HttpConfig;
import dev.berth.config.ServerConfig;
import dev.berth.metrics.ServingMetrics;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.thread.Scheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The open connections of all connectors, with what these share, and the streams of those that
/// have many requests at a time, each of which takes a place as well. Beyond the limit, a new one
/// takes the place of the connection whose client the server has waited for longest, for a request,
/// the rest of one, or to take its answer. So does one that is paused because it always sends more.
/// A connection whose request is being answered is never closed.
///
/// Jetty's `NetworkConnectionLimit` stops accepting at the limit instead, so that connections that
/// do nothing keep the health check out.
///
/// Runs on the acceptors' threads, and on the threads of requests. Once a second the server's
/// scheduler looks for heads that are not whole in time.
public final class Connections implements SelectorManager.AcceptListener {

    private static final Logger log = LoggerFactory.getLogger(Connections.class);

    /// How long a head may take, from the opening of the connection or the first byte of its next
    /// request. Jetty has only a limit on silence, which a byte now and then resets.
    private static final long HEAD_NANOS = TimeUnit.SECONDS.toNanos(10);

    /// How long a connection must have been waited for before it makes way: what its client has sent
    /// may not be read yet.
    private static final long WAITED_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    /// How long a request waits for another connection to make way.
    private static final long REQUEST_PATIENCE_NANOS = 2 * WAITED_NANOS;

    /// How long a connection waits to be accepted. Those beyond the limit are never busy for long,
    /// and `/ping` had better be late than be refused.
    private static final long ACCEPT_PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LOOK_MILLIS = 20;
    private static final int UNREAD = 16 << 10;
    private static final long WARNING_NANOS = TimeUnit.MINUTES.toNanos(1);

    // Values of the metrics' label.
    private static final String SLOW_HEAD = "slow_head";
    private static final String MADE_WAY = "made_way";
    private static final String REFUSED = "refused";
    private static final String OF_ADDRESS = "address";

    private final int most;
    private final Optional<Integer> mostOfAddress;
    private final ServingMetrics metrics;
    private final Function<String, byte[]> slowHead;
    private final Function<String, byte[]> overloaded;
    private final Optional<PemContext> tls;

    /// How many there have ever been.
    public final AtomicLong opened = new AtomicLong();

    /// Of all that is read without end.
    final Pace pace = new Pace(Long.MAX_VALUE / 2);

    // Guarded by this.
    /// Nothing until Jetty has made the connection of a channel.
    private final Map<SelectableChannel, Optional<OpenConnection>> places = new HashMap<>();

    /// Those of them that are beyond the limit.
    private final Set<SelectableChannel> reserved = new HashSet<>();

    /// How many streams are open.
    private int streams;

    /// How many requests on those wait for another place.
    private int admitting;

    private long nextWarning = System.nanoTime();

    /// @param slowHead makes a message a whole response, for a head that is not whole in time
    /// @param overloaded the same where there is no room
    public Connections(
            ServerConfig config,
            ServingMetrics metrics,
            Function<String, byte[]> slowHead,
            Function<String, byte[]> overloaded) {
        this.most = ConnectionLimit.ofThisJvm(config.find(HttpConfig.MAX_CONNECTIONS));
        this.mostOfAddress = config.find(HttpConfig.MAX_CONNECTIONS_PER_ADDRESS);
        this.tls = HttpConfig.tls(config).map(PemContext::new);
        this.metrics = metrics;
        this.slowHead = slowHead;
        this.overloaded = overloaded;
        log.debug("at most {} connections", most);
    }

    /// TLS around a protocol, where the server has it.
    ///
    /// @param name as ALPN calls it (RFC 7301)
    public Optional<SslConnectionFactory> tls(ConnectionFactory protocol, String name) {
        return tls.map(pem -> pem.around(protocol, name));
    }

    /// Runs on the acceptor's thread, before the channel is registered. A channel that is closed here
    /// never is.
    @Override
    public synchronized void onAccepting(SelectableChannel channel) {
        var address = address(channel);
        if (mostOfAddress.isPresent()
                && places.keySet().stream()
                                .map(Connections::address)
                                .filter(address::equals)
                                .count()
                        >= mostOfAddress.get()) {
            refuse(
                    channel,
                    OF_ADDRESS,
                    "this address has %d connections, and max-connections-per-address allows no more"
                            .formatted(mostOfAddress.get()));
            return;
        }
        boolean isReserved = !makeWay(false, 0);
        if (isReserved && !makeWay(true, ACCEPT_PATIENCE_NANOS)) {
            refuse(channel, REFUSED, full());
            return;
        }
        places.put(channel, Optional.empty());
        if (isReserved) {
            reserved.add(channel);
        }
        metrics.connections.incrementAndGet();
    }

    private static InetAddress address(SelectableChannel channel) {
        return ((SocketChannel) channel).socket().getInetAddress();
    }

    @Override
    public void onAcceptFailed(SelectableChannel channel, Throwable cause) {
        onClosed(channel);
    }

    @Override
    public synchronized void onClosed(SelectableChannel channel) {
        if (places.remove(channel) != null) {
            reserved.remove(channel);
            metrics.connections.decrementAndGet();
        }
    }

    /// Jetty has made the connection of a channel, which may be closed by now.
    synchronized void opened(OpenConnection connection) {
        opened.incrementAndGet();
        connection.isReserved = reserved.contains(connection.getChannel());
        places.computeIfPresent(connection.getChannel(), (_, _) -> Optional.of(connection));
    }

    /// Whether a request on a connection beyond the limit may be answered. It waits a moment for
    /// another to make way, but not where many wait: they would keep out those who ask `/ping`.
    public synchronized boolean admit(OpenConnection connection) {
        admitting++;
        boolean isAdmitted = makeWay(false, admitting > ConnectionLimit.RESERVE / 2 ? 0 : REQUEST_PATIENCE_NANOS);
        admitting--;
        if (isAdmitted) {
            connection.isReserved = false;
            reserved.remove(connection.getChannel());
        }
        return isAdmitted || refused();
    }

    /// Whether there is a place for a stream, which it has until [#closeStream].
    public synchronized boolean openStream(OpenConnection connection) {
        if (!makeWay(false, 0)) {
            return refused();
        }
        streams++;
        connection.goOn();
        return true;
    }

    public synchronized void closeStream() {
        streams--;
    }

    private boolean refused() {
        metrics.connectionsDropped.apply(REFUSED).increment();
        return false;
    }

    /// Why there is no room.
    public String full() {
        return "all %d connections are in use, the most that max-connections, the heap and ulimit -n allow; try again later"
                .formatted(most);
    }

    /// The system could not give a descriptor for a connection.
    synchronized void acceptFailed(Throwable failure) {
        warn(() -> "can't accept connections: " + failure);
        longestAwaited(false).or(() -> longestAwaited(true)).ifPresent(this::close);
    }

    /// Looks for slow heads and other certificates until the scheduler has stopped.
    public void watch(Scheduler scheduler) {
        every(1, scheduler, () -> slowHeads().forEach(this::closeSlowHead));
        tls.ifPresent(pem -> every(PemContext.BETWEEN_LOOKS_SECONDS, scheduler, pem::look));
    }

    private static void every(long seconds, Scheduler scheduler, Runnable task) {
        scheduler.schedule(
                () -> {
                    every(seconds, scheduler, task);
                    task.run();
                },
                seconds,
                TimeUnit.SECONDS);
    }

    private synchronized List<OpenConnection> slowHeads() {
        return open().filter(connection -> connection.isSlow(HEAD_NANOS)).toList();
    }

    private void closeSlowHead(OpenConnection connection) {
        metrics.connectionsDropped.apply(SLOW_HEAD).increment();
        if (connection.isInHead() && !(connection.getConnection() instanceof SslConnection)) {
            var message =
                    "the request's headers did not end within " + TimeUnit.NANOSECONDS.toSeconds(HEAD_NANOS) + " s";
            try {
                connection.getChannel().write(ByteBuffer.wrap(slowHead.apply(message)));
            } catch (IOException e) {
                log.debug("the client has gone", e);
            }
        }
        connection.makeWay.run();
    }

    /// Closes the connection that is waited for longest where there is no free place.
    ///
    /// @param beyond whether it is to be one beyond the limit
    /// @param patienceNanos how long to wait, without the lock, for one that may be closed
    /// @return false where all others are busy, or have not been waited for long enough
    private boolean makeWay(boolean beyond, long patienceNanos) {
        long end = System.nanoTime() + patienceNanos;
        while (beyond
                ? reserved.size() >= ConnectionLimit.RESERVE
                : places.size() - reserved.size() + streams >= most) {
            var first = longestAwaited(beyond);
            if (first.isEmpty()) {
                if (System.nanoTime() - end >= 0) {
                    return false;
                }
                try {
                    wait(LOOK_MILLIS);
                } catch (InterruptedException _) {
                    Thread.currentThread().interrupt();
                    return false;
                }
            } else if (!first.get().hasUnread()) {
                warn(() -> "all connections are taken: " + full());
                metrics.connectionsDropped.apply(MADE_WAY).increment();
                close(first.get());
            }
        }
        return true;
    }

    private Optional<OpenConnection> longestAwaited(boolean beyond) {
        long now = System.nanoTime();
        return open().filter(
                        connection -> connection.isReserved == beyond && connection.awaitedNanos(now) >= WAITED_NANOS)
                .max(Comparator.comparingLong(connection -> connection.awaitedNanos(now)));
    }

    private Stream<OpenConnection> open() {
        return places.values().stream().flatMap(Optional::stream);
    }

    private void close(OpenConnection connection) {
        onClosed(connection.getChannel());
        connection.makeWay.run();
    }

    /// Answers before a request was read, and closes.
    private void refuse(SelectableChannel refused, String reason, String message) {
        warn(() -> "refused a connection: " + message);
        metrics.connectionsDropped.apply(reason).increment();
        try (var channel = (SocketChannel) refused) {
            channel.write(ByteBuffer.wrap(overloaded.apply(message)));
            // What is unread when a socket is closed makes the kernel send a reset.
            channel.read(ByteBuffer.allocate(UNREAD));
        } catch (IOException e) {
            log.debug("the client has gone", e);
        }
    }

    private void warn(Supplier<String> message) {
        long now = System.nanoTime();
        if (now - nextWarning >= 0) {
            nextWarning = now + WARNING_NANOS;
            log.warn(message.get());
        }
    }
}
