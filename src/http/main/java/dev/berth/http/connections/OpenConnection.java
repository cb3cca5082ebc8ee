package dev.berth.http.connections;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;
import org.eclipse.jetty.util.thread.Scheduler;

/// One connection, whatever it speaks: what it asks for, and since when the server waits for its
/// client. It can look one byte ahead, reads in turns, and reads no more while nobody takes what came.
///
/// Jetty does not look at a connection while its request is handled. So without the byte ahead, a
/// client that hung up is only noticed when the answer is written, after the model has worked for
/// nobody.
///
/// Jetty reads on its own threads; a worker may ask at the same moment, so what they share is guarded
/// by the monitor.
public final class OpenConnection extends SocketChannelEndPoint {

    /// After which a handshake that waits for its turn counts as idle.
    static final long LONG_HANDSHAKE_NANOS = TimeUnit.SECONDS.toNanos(3);

    /// The first byte of a connection with TLS (RFC 8446, 5.1).
    private static final byte TLS_HANDSHAKE = 0x16;

    private static final int UNREAD_BYTES = 2 << 10;
    private static final int MOST_UNREAD = 64;

    /// What seems to have taken longer has waited for something.
    private static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /// So has a request that may wait, for a model.
    private static final long LONGEST_WAITER_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /// As many as a window has of full length.
    private static final int MOST_UNREAD_FRAMES = ConnectionLimit.HEAP_PER_CONNECTION >> 14;

    private final Executor executor;
    private final ByteBuffer ahead = ByteBuffer.allocate(1).limit(0);

    volatile boolean isReserved;

    /// Since when its handshake waits for its turn, or null.
    volatile Long handshakeSince;

    /// Closes it for others. A WebSocket says why.
    volatile Runnable makeWay = this::close;

    /// Runs once it is closed, perhaps before its handshake has become a socket.
    private volatile Runnable ended = () -> {};

    // Used by the thread that reads.
    private final Pace.Turn turn;
    private boolean inTurn;
    private boolean hasFilled;
    private boolean isRead;

    // Guarded by this.
    private int requests;
    private int waiting;

    /// Whether there was a request, or what may stand before the first one.
    private boolean hasBegun;

    /// When it was opened, its last request ended, or one last began to wait for the client.
    private long since = System.nanoTime();

    /// Frames of data that no request has read yet, and their bytes.
    private int unreadFrames;

    private int unreadBytes;

    /// Who wants to read on once there are fewer.
    private Callback reader;

    /// @param executor whose virtual threads read
    /// @param pace of all that read without end
    public OpenConnection(
            SocketChannel channel,
            ManagedSelector selector,
            SelectionKey key,
            Scheduler scheduler,
            Executor executor,
            Pace pace) {
        super(channel, selector, key, scheduler);
        this.executor = executor;
        this.turn = pace.turn();
    }

    /// That of what Jetty speaks with, which may be inside of TLS.
    public static OpenConnection of(EndPoint endPoint) {
        return (OpenConnection) (endPoint instanceof EndPoint.Wrapper tls ? tls.unwrap() : endPoint);
    }

    /// Whether it is beyond the limit.
    public boolean isReserved() {
        return isReserved;
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

    /// How long the server has waited for the client, or since when it has answered nothing of one
    /// that always sends more; negative where it has something to do.
    ///
    /// @param now in `System.nanoTime()`
    synchronized long awaitedNanos(long now) {
        return (requests == 0 ? isIdle(now) : waiting == requests) ? now - since : -1;
    }

    private boolean isIdle(long now) {
        var handshake = handshakeSince;
        return handshake == null ? isFillInterested() || turn.isPausing() : now - handshake > LONG_HANDSHAKE_NANOS;
    }

    /// Whether a head has begun and not ended, or a connection has sent nothing yet or was not closed
    /// after its last answer, for so long.
    synchronized boolean isSlow(long nanos) {
        long now = System.nanoTime();
        if (requests > 0 || awaitedNanos(now) < 0) {
            return false;
        }
        if (!(protocol() instanceof HttpConnection http)) {
            // It may not have said yet whether it speaks TLS, or has not begun.
            return !hasBegun && now - since > nanos;
        }
        boolean isIdle = http.getMessagesIn() > 0 && http.getParser().isStart() && !isOutputShutdown();
        return !isIdle && now - (isInHead() ? http.getParser().getBeginNanoTime() : since) > nanos;
    }

    boolean isInHead() {
        return protocol() instanceof HttpConnection http
                && http.getParser().inHeaderState()
                && !http.getParser().isStart();
    }

    /// Whether its next request has arrived and nobody has read it yet. It is read now: the selector
    /// may come to it late where others take the cores. One that always has more does not count.
    boolean hasUnread() {
        var connection = protocol();
        // A byte in the middle of a head or of a frame is no sign of a request.
        boolean isAtStart = connection instanceof HttpConnection http
                ? http.getParser().isStart()
                : connection != null && connection.getBytesIn() <= 0;
        if (!isAtStart || turn.isPausing() || handshakeSince != null || lookAhead() <= 0) {
            return false;
        }
        VirtualThreads.execute(executor, getFillInterest()::fillable);
        goOn();
        return true;
    }

    /// Its client is waited for from now on, and what is read next begins a turn of its own.
    synchronized void goOn() {
        since = System.nanoTime();
        inTurn = false;
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
        if (!isOpen()) {
            ended.run();
        }
    }

    @Override
    public void onClose(Throwable cause) {
        super.onClose(cause);
        ended.run();
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
            turn.count(LONGEST_NANOS);
            turn.end();
        } else {
            turn.begin();
        }
        int count = fillAtOnce(buffer);
        if (count > 0 && !isRead) {
            isRead = true;
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

    /// A request begins. If it came together with that before it, they share a turn: hundreds of
    /// connections may have thousands of requests each.
    public void beginRequest() {
        turn.count(LONGEST_NANOS);
        if (!hasFilled) {
            turn.end();
        }
        hasFilled = false;
    }

    /// A request was answered. Until something is read next, which begins a turn of its own, others may
    /// have had the core.
    public void endRequest(boolean mayWait) {
        turn.count(mayWait ? LONGEST_WAITER_NANOS : LONGEST_NANOS);
        inTurn = false;
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
