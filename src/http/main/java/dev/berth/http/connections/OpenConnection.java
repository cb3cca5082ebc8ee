package dev.berth.http.connections;

import dev.berth.http.connections.PeerAwareConnector.PeerAwareEndPoint;
import java.net.InetAddress;
import java.nio.channels.SocketChannel;
import java.util.HashMap;
import java.util.Map;
import org.eclipse.jetty.server.internal.HttpConnection;

/// One connection from the moment when it is accepted, whatever it speaks: what it asks for, and
/// since when the server waits for its client.
public final class OpenConnection {

    final SocketChannel channel;
    final InetAddress address;

    /// Null until Jetty has made it.
    volatile PeerAwareEndPoint endPoint;

    /// Whether it is beyond the limit.
    volatile boolean reserved;

    /// Closes it for others. A WebSocket says why.
    volatile Runnable makeWay = this::close;

    /// Runs once it is closed, perhaps before its handshake has become a socket.
    volatile Runnable ended = () -> {};

    // Guarded by this.
    /// Open streams by their number.
    private final Map<String, Call> streams = new HashMap<>();

    private int requests;
    private int waiting;

    /// Whether there was a request, or what may stand before the first one.
    private boolean hasBegun;

    /// When it was opened, its last request ended, or one last began to wait for the client.
    private long since = System.nanoTime();

    public OpenConnection(SocketChannel channel) {
        this.channel = channel;
        this.address = channel.socket().getInetAddress();
    }

    /// A request of the connection, or a message, from its beginning until it is answered.
    public final class Call {
        // Guarded by the connection.
        private int waits;
        private boolean ended;

        private Call() {}

        /// The server waits for the client, to send more or to take more, until [#goOn].
        public void await() {
            synchronized (OpenConnection.this) {
                if (!ended && waits++ == 0) {
                    waiting++;
                    since = System.nanoTime();
                }
            }
        }

        public void goOn() {
            synchronized (OpenConnection.this) {
                if (!ended && --waits == 0) {
                    waiting--;
                }
            }
        }

        public void end() {
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

    public synchronized Call begin() {
        hasBegun = true;
        requests++;
        return new Call();
    }

    /// Its first request may take its time. The client is waited for no less than before.
    public synchronized void agree() {
        hasBegun = true;
    }

    /// @param id of an open stream, or of any other request
    public synchronized Call begin(String id) {
        var ofStream = streams.get(id);
        return ofStream == null ? begin() : ofStream;
    }

    synchronized void openStream(String id) {
        streams.put(id, begin());
    }

    /// @return whether it was open
    synchronized boolean closeStream(String id) {
        var call = streams.remove(id);
        if (call != null) {
            call.end();
        }
        return call != null;
    }

    /// How long the server has waited for the client, or since when it has answered nothing of one
    /// that always sends more; negative where it has something to do, or has not begun to read.
    ///
    /// @param now in `System.nanoTime()`
    synchronized long awaitedNanos(long now) {
        boolean isAwaited = endPoint != null && (requests == 0 ? isIdle(now) : waiting == requests);
        return isAwaited ? now - since : -1;
    }

    private boolean isIdle(long now) {
        var handshake = endPoint.handshake;
        return handshake == null ? endPoint.isFillInterested() || endPoint.isPausing : handshake.isLong(now);
    }

    /// Whether a head has begun and not ended, or a connection has sent nothing yet or was not closed
    /// after its last answer, for so long.
    synchronized boolean isSlow(long nanos) {
        long now = System.nanoTime();
        if (requests > 0 || awaitedNanos(now) < 0) {
            return false;
        }
        if (!(endPoint.protocol() instanceof HttpConnection http)) {
            // It may not have said yet whether it speaks TLS, or has not begun.
            return !hasBegun && now - since > nanos;
        }
        boolean isIdle = http.getMessagesIn() > 0 && http.getParser().isStart() && !endPoint.isOutputShutdown();
        return !isIdle && now - (isInHead() ? http.getParser().getBeginNanoTime() : since) > nanos;
    }

    /// Whether its next request has arrived and nobody has read it yet. It is read now: the selector
    /// may come to it late where others take the cores. One that always has more does not count.
    boolean hasUnread() {
        var connection = endPoint.protocol();
        // A byte in the middle of a head or of a frame is no sign of a request.
        boolean isAtStart = connection instanceof HttpConnection http
                ? http.getParser().isStart()
                : connection != null && connection.getBytesIn() <= 0;
        if (!isAtStart || endPoint.isPausing || endPoint.handshake != null || endPoint.lookAhead() <= 0) {
            return false;
        }
        endPoint.readAtOnce();
        goOn();
        return true;
    }

    /// Its client is waited for from now on.
    synchronized void goOn() {
        since = System.nanoTime();
    }

    boolean isInHead() {
        return endPoint.protocol() instanceof HttpConnection http
                && http.getParser().inHeaderState()
                && !http.getParser().isStart();
    }

    /// A handshake was accepted.
    ///
    /// @param makeWay closes the WebSocket for others
    /// @param ended as in [#onEnd]
    public void becomeSocket(Runnable makeWay, Runnable ended) {
        this.makeWay = makeWay;
        onEnd(ended);
    }

    /// @param ended runs once the connection is closed, which it may be already
    void onEnd(Runnable ended) {
        this.ended = ended;
        if (!endPoint.isOpen()) {
            ended.run();
        }
    }

    public void close() {
        endPoint.close();
    }
}
