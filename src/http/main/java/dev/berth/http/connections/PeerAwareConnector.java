package dev.berth.http.connections;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.DetectorConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;

/// A connector whose connections are counted, and can be asked whether the client has gone away.
///
/// Jetty does not look at a connection while its request is handled. So without the question, a
/// client that hung up is only noticed when the answer is written, after the model has worked for
/// nobody.
///
/// No buffer is used twice. With the pool of Jetty 12.1.12, one of some 200,000 fuzzed requests was
/// handled twice, and its second response was taken for the one of the next request. Without the
/// pool, none of 690,000 was.
public final class PeerAwareConnector extends ServerConnector {

    /// How long nothing is accepted after the system could not give a descriptor.
    private static final long PAUSE_AFTER_FAILURE_MILLIS = 10;

    private final Connections connections;

    /// @param tls what its connections begin with, where that is not the protocol itself
    public PeerAwareConnector(
            Server server,
            Connections connections,
            Optional<? extends ConnectionFactory> tls,
            ConnectionFactory protocol) {
        super(server, null, null, new ByteBufferPool.NonPooling(), 1, -1, protocol);
        tls.ifPresent(this::addFirstConnectionFactory);
        this.connections = connections;
        addBean(connections);
    }

    /// Listens for HTTP/1.1. With TLS, connections without it come in for health checks: those of a
    /// platform, and the server's own.
    public static PeerAwareConnector of(Server server, HttpConfiguration http, Connections connections) {
        var plain = new HttpConnectionFactory(http);
        var either = connections.tls(plain, "http/1.1").map(DetectorConnectionFactory::new);
        return new PeerAwareConnector(server, connections, either, plain);
    }

    /// The end point of a connection, which is below TLS where there is any.
    public static PeerAwareEndPoint endPoint(EndPoint ofConnection) {
        return (PeerAwareEndPoint) (ofConnection instanceof EndPoint.Wrapper tls ? tls.unwrap() : ofConnection);
    }

    @Override
    protected SocketChannelEndPoint newEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key) {
        var endPoint = new PeerAwareEndPoint(channel, selector, key);
        endPoint.setIdleTimeout(getIdleTimeout());
        connections.opened.incrementAndGet();
        return endPoint;
    }

    /// Without a free descriptor, the connection that waits longest makes way. Jetty would log a
    /// stack and accept nothing for a second.
    @Override
    protected boolean handleAcceptFailure(Throwable failure) {
        if (!isRunning()
                || !isOpen()
                || !(failure instanceof IOException)
                || failure instanceof ClosedChannelException) {
            return super.handleAcceptFailure(failure);
        }
        connections.acceptFailed(failure);
        try {
            Thread.sleep(PAUSE_AFTER_FAILURE_MILLIS);
        } catch (InterruptedException _) {
            // The acceptor asks itself whether it is to stop.
        }
        return true;
    }

    /// A connection that can look one byte ahead, reads in turns, and reads no more while nobody
    /// takes what came. Jetty reads on its own threads; a worker may ask at the same moment, so what
    /// they share is guarded by the monitor.
    public final class PeerAwareEndPoint extends SocketChannelEndPoint {

        /// The first byte of a connection with TLS (RFC 8446, 5.1).
        private static final byte TLS_HANDSHAKE = 0x16;

        private static final int UNREAD_BYTES = 2 << 10;
        private static final int MOST_UNREAD = 64;

        /// What a turn may take. What is read at a time takes up to 8 ms: 2,000 frames or chunks.
        private static final long TURN_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

        /// What seems to have taken longer has waited for something.
        private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

        /// So has a request that may wait, for a model.
        private static final long LONGEST_WAITER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

        /// As many as a window has of full length.
        private static final int MOST_UNREAD_FRAMES = ConnectionLimit.HEAP_PER_CONNECTION >> 14;

        /// Half of the cores is for those who always have something to be read.
        private static final int SHARE = 2;

        public final OpenConnection place;
        private final ByteBuffer ahead = ByteBuffer.allocate(1).limit(0);

        /// Whether it is not read for a while, because there is always more.
        volatile boolean isPausing;

        /// Its handshake that waits for its turn, or null.
        volatile Handshakes.Handshake handshake;

        // Used by the thread that reads.
        private boolean inTurn;
        private boolean hasFilled;
        private boolean hasBegun;

        /// What its turn has taken that is counted already, and since when nothing is.
        private long counted;

        private long countedUntil;

        // Guarded by this.
        /// Frames of data that no request has read yet, and their bytes.
        private int unreadFrames;

        private int unreadBytes;

        /// Who wants to read on once there are fewer.
        private Callback reader;

        PeerAwareEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key) {
            super(channel, selector, key, PeerAwareConnector.this.getScheduler());
            place = connections.of(channel);
            place.endPoint = this;
        }

        /// What speaks HTTP on it, inside TLS where there is any.
        Connection protocol() {
            return getConnection() instanceof SslConnection tls
                    ? tls.getSslEndPoint().getConnection()
                    : getConnection();
        }

        /// Whether the client has closed its side, or gone away altogether, which the kernel does not
        /// tell apart. Never blocks, and costs a system call at most. With TLS a client that says
        /// goodbye has sent something, and so seems to be there.
        public boolean peerHasClosed() {
            return protocol() instanceof HttpConnection ? lookAhead() < 0 : !isOpen();
        }

        /// Reads a byte, the beginning of a next request, and keeps it for [#fill].
        ///
        /// @return how many there are; -1 where the client has closed
        synchronized int lookAhead() {
            if (ahead.hasRemaining()) {
                return 1;
            }
            ahead.clear();
            try {
                return getChannel().read(ahead);
            } catch (IOException _) {
                return -1;
            } finally {
                ahead.flip();
            }
        }

        /// Has what has arrived read, without waiting for the selector.
        void readAtOnce() {
            VirtualThreads.execute(PeerAwareConnector.this.getExecutor(), getFillInterest()::fillable);
        }

        @Override
        public void fillInterested(Callback callback) {
            synchronized (this) {
                if (isFull()) {
                    reader = callback;
                    return;
                }
            }
            super.fillInterested(onVirtualThread(callback));
        }

        @Override
        public boolean tryFillInterested(Callback callback) {
            return super.tryFillInterested(onVirtualThread(callback));
        }

        /// Jetty would read some protocols on the selector's thread, which one connection that always
        /// has more would keep from all others.
        private static Callback onVirtualThread(Callback callback) {
            return callback.getInvocationType() == InvocationType.BLOCKING
                    ? callback
                    : Callback.from(InvocationType.BLOCKING, callback::succeeded, callback::failed);
        }

        /// A thread that reads what always has more bytes would keep its core from all others: a
        /// virtual one is not preempted, and when it yields, the pool may take it again before others
        /// that wait. So one that has read for longer than a turn sleeps for a while.
        @Override
        public int fill(ByteBuffer buffer) throws IOException {
            if (!Thread.currentThread().isVirtual() && !(protocol() instanceof HttpConnection)) {
                // As some protocols do where they open. Few threads accept, and nobody else could come in.
                return 0;
            }
            if (isFull()) {
                return 0;
            }
            if (inTurn) {
                count(LONGEST_NANOS);
                endTurn();
            } else {
                counted = 0;
                countedUntil = System.nanoTime();
            }
            int count = fillAtOnce(buffer);
            if (count > 0 && !hasBegun) {
                hasBegun = true;
                if (buffer.get(buffer.position()) == TLS_HANDSHAKE && lookAhead() < 0) {
                    // The client has gone, and an engine of TLS is dear.
                    buffer.clear().flip();
                    close();
                    return -1;
                }
            }
            inTurn = count > 0;
            hasFilled = true;
            return count;
        }

        public synchronized void arrived(int bytes) {
            unreadFrames++;
            unreadBytes += bytes;
        }

        /// @param bytes of one frame, or of all frames of a stream that ends
        public void taken(int bytes) {
            Callback waiting = null;
            synchronized (this) {
                unreadBytes -= bytes;
                unreadFrames = unreadBytes == 0 ? 0 : Math.max(1, unreadFrames - 1);
                if (!isFull()) {
                    waiting = reader;
                    reader = null;
                }
            }
            if (waiting != null) {
                fillInterested(waiting);
            }
        }

        /// Nothing is read while there are many frames: whatever its length, Jetty keeps each in
        /// objects of 200 bytes, and may keep all that was read together with it.
        private synchronized boolean isFull() {
            return unreadFrames > MOST_UNREAD_FRAMES;
        }

        /// A request begins. If it came together with that before it, they share a turn: hundreds of
        /// connections may have thousands of requests each.
        public void beginRequest() {
            count(LONGEST_NANOS);
            if (!hasFilled) {
                endTurn();
            }
            hasFilled = false;
        }

        /// A request was answered. Until something is read next, others may have had the core.
        public void endRequest(boolean mayWait) {
            count(mayWait ? LONGEST_WAITER_NANOS : LONGEST_NANOS);
            beginTurn();
        }

        /// What a turn takes includes the time in which other processes have the core, or the pool
        /// would fill with threads that want to read, and would take none that is new.
        private void count(long mostNanos) {
            long now = System.nanoTime();
            counted += Math.min(now - countedUntil, mostNanos);
            countedUntil = now;
        }

        /// What is read next begins a turn of its own.
        void beginTurn() {
            inTurn = false;
        }

        /// The system itself is fair to platform threads.
        private void endTurn() {
            if (counted > TURN_NANOS && Thread.currentThread().isVirtual()) {
                isPausing = true;
                connections.pace.pause(SHARE * counted);
                isPausing = false;
                counted = 0;
                countedUntil = System.nanoTime();
            }
        }

        private synchronized int fillAtOnce(ByteBuffer buffer) throws IOException {
            if (!ahead.hasRemaining()) {
                return super.fill(buffer);
            }
            int position = BufferUtil.flipToFill(buffer);
            buffer.put(ahead);
            BufferUtil.flipToFlush(buffer, position);
            // Else the rest would be a second fill, which the time of other threads lets look like a long
            // turn.
            return 1 + Math.max(0, super.fill(buffer));
        }

        @Override
        public void onClose(Throwable cause) {
            super.onClose(cause);
            place.ended.run();
        }

        /// Takes what has arrived and nobody will read, such as the rest of a head that is too large.
        /// Otherwise the kernel sends a reset, and a client may lose the answer with it.
        @Override
        public void doClose() {
            var buffer = ByteBuffer.allocate(UNREAD_BYTES);
            try {
                for (int i = 0; i < MOST_UNREAD && getChannel().read(buffer.clear()) > 0; i++) {
                    // Read again.
                }
            } catch (IOException _) {
                // The client has gone, or the channel is closed already.
            }
            super.doClose();
        }
    }
}
