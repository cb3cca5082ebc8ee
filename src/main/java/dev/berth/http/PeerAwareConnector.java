package dev.berth.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.http.HttpGenerator;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;

/// A connector whose connections are counted, and can be asked whether the client has gone away.
///
/// Jetty does not look at a connection while its request is handled. So without the question, a
/// client that hung up is only noticed when the answer is written, after the model has worked for
/// nobody.
///
/// No buffer is used twice. With the pool of Jetty 12.1.12, one of some 200,000 fuzzed requests was
/// handled twice, and its second response was taken for the one of the next request. Without the
/// pool, none of 690,000 was. Presumably a connection that its client resets gives its buffer back
/// while it is still in use.
final class PeerAwareConnector extends ServerConnector {

  /// How long nothing is accepted after the system could not give a descriptor.
  private static final long PAUSE_AFTER_FAILURE_MILLIS = 10;

  private final Connections connections;
  private final Pace pace;

  /// @param protocol of its connections
  PeerAwareConnector(
      Server server, ConnectionFactory protocol, Connections connections, Pace pace) {
    super(server, null, null, new ByteBufferPool.NonPooling(), 1, -1, protocol);
    this.connections = connections;
    this.pace = pace;
    addBean(connections);
  }

  @Override
  protected SocketChannelEndPoint newEndPoint(
      SocketChannel channel, ManagedSelector selector, SelectionKey key) {
    var endPoint = new PeerAwareEndPoint(channel, selector, key, getScheduler(), pace);
    endPoint.setIdleTimeout(getIdleTimeout());
    connections.attach(channel, endPoint);
    return endPoint;
  }

  @Override
  protected void doStart() throws Exception {
    super.doStart();
    connections.watch(getScheduler());
  }

  @Override
  protected void doStop() throws Exception {
    connections.stopWatching();
    super.doStop();
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

  /// A connection that can look one byte ahead, and that can find out whether a client that has
  /// closed its side still waits for the answer. Jetty reads and writes on its own threads; a
  /// worker may ask at the same moment, which is what the lock is for.
  static final class PeerAwareEndPoint extends SocketChannelEndPoint {

    /// Every HTTP/1.1 client must skip these (RFC 9110 §15.2). Python's skips no other interim
    /// response.
    private static final byte[] CONTINUE =
        "HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    /// Go's client takes at most 5 in one answer.
    private static final int MOST_QUESTIONS = 3;

    /// On one machine the reset is there before the second question, and over a network a round
    /// trip later.
    private static final int AT_ONCE = 2;

    private static final long ROUND_TRIP_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final int UNREAD_BYTES = 2 << 10;
    private static final int MOST_UNREAD = 64;

    /// What a turn may take. What is read at a time takes up to 8 ms: 2,000 frames or chunks.
    private static final long TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /// A turn that seems to have taken longer has waited for something.
    private static final long LONGEST_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /// About what a request costs that asks for nothing.
    private static final long REQUEST_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    /// Half of the cores is for those who always have something to be read.
    private static final int SHARE = 2;

    private final Pace pace;
    private final ReentrantLock lock = new ReentrantLock();

    // All of it is guarded by the lock. Requests of a connection are numbered.
    private final ByteBuffer ahead = ByteBuffer.allocate(1).limit(0);
    private boolean sideClosed;
    private long answered;
    private long asked;
    private int questions;
    private long lastQuestion;

    private volatile OpenConnection place;

    // Used by the thread that reads.
    private boolean inTurn;
    private boolean hasFilled;
    private long turnBegan;

    PeerAwareEndPoint(
        SocketChannel channel,
        ManagedSelector selector,
        SelectionKey key,
        Scheduler scheduler,
        Pace pace) {
      super(channel, selector, key, scheduler);
      this.pace = pace;
    }

    void take(OpenConnection place) {
      this.place = place;
    }

    OpenConnection place() {
      return place;
    }

    /// Whether the client has gone away. Never blocks, and costs a system call at most, but for the
    /// few questions that follow when the client has closed its side. A byte that it finds, the
    /// beginning of a next request, is kept for [#fill].
    ///
    /// A client that closes its side may still wait for the answer, and the kernel doesn't tell
    /// this from a client that has left. It tells once something was sent: who has left answers
    /// with a reset, and then a write fails. So an interim response is sent, up to three times for
    /// a request. HTTP/1.0 has none: there, a client that has closed its side counts as one that
    /// waits.
    boolean peerHasGone() {
      if (!(getConnection() instanceof HttpConnection)) {
        return !isOpen();
      }
      lock.lock();
      try {
        return !lookAhead() && sideClosed && !waitsForAnswer();
      } catch (IOException _) {
        return true;
      } finally {
        lock.unlock();
      }
    }

    /// Whether the client has closed its side, or gone away altogether. Never blocks. While an
    /// answer is on its way, the two can't be told apart, and hardly any client of a stream closes
    /// its side and still reads.
    boolean peerHasClosed() {
      if (!(getConnection() instanceof HttpConnection)) {
        return !isOpen();
      }
      lock.lock();
      try {
        return !lookAhead() && sideClosed;
      } catch (IOException _) {
        return true;
      } finally {
        lock.unlock();
      }
    }

    /// Whether the client has sent something that Jetty has not read. To be asked between requests
    /// only, and [#readUnread] has to follow where it has: what Jetty waits for may be a single
    /// byte, and the selector would not see it any more.
    boolean hasUnread() {
      lock.lock();
      try {
        return lookAhead();
      } catch (IOException _) {
        return false;
      } finally {
        lock.unlock();
      }
    }

    /// Has Jetty read what [#hasUnread] found, which the selector may not see any more. Does
    /// nothing where Jetty reads already.
    void readUnread() {
      Thread.ofVirtual().name("berth-request").start(getFillInterest()::fillable);
    }

    private boolean lookAhead() throws IOException {
      if (!ahead.hasRemaining() && !sideClosed) {
        ahead.clear();
        try {
          sideClosed = getChannel().read(ahead) < 0;
        } finally {
          ahead.flip();
        }
      }
      return ahead.hasRemaining();
    }

    private boolean waitsForAnswer() throws IOException {
      if (!(getConnection() instanceof HttpConnection http)) {
        return false;
      }
      if (http.getHttpVersion() != HttpVersion.HTTP_1_1) {
        return true;
      }
      long request = http.getMessagesIn();
      if (asked != request) {
        asked = request;
        questions = 0;
      }
      while (answered != request && mayAsk()) {
        int count = getChannel().write(ByteBuffer.wrap(CONTINUE));
        if (count == 0) {
          return true;
        }
        if (count < CONTINUE.length) {
          // The answer can't follow half a line.
          close();
          return false;
        }
        questions++;
        lastQuestion = System.nanoTime();
      }
      return true;
    }

    private boolean mayAsk() {
      return questions < AT_ONCE
          || (questions < MOST_QUESTIONS && System.nanoTime() - lastQuestion >= ROUND_TRIP_NANOS);
    }

    /// Answers a request whose head is not whole yet, unless it has become so in the meantime, and
    /// closes.
    void closeWithin(byte[] response) {
      lock.lock();
      try {
        if (getConnection() instanceof HttpConnection http && OpenConnection.isInHead(http)) {
          getChannel().write(ByteBuffer.wrap(response));
        }
      } catch (IOException _) {
        // The client has gone, and gets no answer.
      } finally {
        close();
        lock.unlock();
      }
    }

    /// A thread that reads what always has more bytes would keep its core from all others: a
    /// virtual one is not preempted, and when it yields, the pool may take it again before others
    /// that wait. So one that has read for longer than a turn sleeps for a while.
    @Override
    public int fill(ByteBuffer buffer) throws IOException {
      long now = System.nanoTime();
      if (!inTurn) {
        turnBegan = now;
      } else if (now - turnBegan > TURN_NANOS) {
        endTurn(Math.min(now - turnBegan, LONGEST_TURN_NANOS));
      }
      int count = fillAtOnce(buffer);
      inTurn = count > 0;
      hasFilled = true;
      return count;
    }

    /// A request begins. One that came together with that before it, as no other can, has its cost
    /// counted.
    void beginRequest() {
      if (!hasFilled) {
        endTurn(REQUEST_NANOS);
      }
      hasFilled = false;
    }

    /// A request was answered, which may have taken long without taking a core.
    void endRequest() {
      turnBegan = System.nanoTime();
    }

    /// The system itself is fair to platform threads.
    private void endTurn(long nanos) {
      if (Thread.currentThread().isVirtual()) {
        pace.pause(SHARE * nanos);
      }
      turnBegan = System.nanoTime();
    }

    private int fillAtOnce(ByteBuffer buffer) throws IOException {
      lock.lock();
      try {
        if (ahead.hasRemaining()) {
          int position = BufferUtil.flipToFill(buffer);
          buffer.put(ahead);
          BufferUtil.flipToFlush(buffer, position);
          return 1;
        }
        return super.fill(buffer);
      } finally {
        lock.unlock();
      }
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

    /// After the first byte of an answer nothing of [#peerHasGone] may come in between. Jetty's own
    /// interim responses don't count as an answer.
    @Override
    public boolean flush(ByteBuffer... buffers) throws IOException {
      if (getConnection() instanceof HttpConnection http
          && !http.getGenerator().isState(HttpGenerator.State.COMPLETING_1XX)) {
        lock.lock();
        try {
          answered = http.getMessagesIn();
        } finally {
          lock.unlock();
        }
      }
      return super.flush(buffers);
    }
  }
}
