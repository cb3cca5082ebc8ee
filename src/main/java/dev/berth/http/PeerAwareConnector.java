package dev.berth.http;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.thread.Scheduler;

/// A connector whose connections can be asked whether the client has gone away.
///
/// Jetty does not look at a connection while its request is handled, so a caller who hung up is only noticed when the
/// answer is written, after the model has worked for nobody.
final class PeerAwareConnector extends ServerConnector {

  PeerAwareConnector(Server server, HttpConfiguration http) {
    super(server, 1, -1, new HttpConnectionFactory(http));
  }

  @Override
  protected SocketChannelEndPoint newEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key) {
    var endPoint = new PeerAwareEndPoint(channel, selector, key, getScheduler());
    endPoint.setIdleTimeout(getIdleTimeout());
    return endPoint;
  }

  /// A connection that can look one byte ahead. Jetty reads on one thread at a time; a worker may look at the same
  /// moment, which is what the lock is for.
  static final class PeerAwareEndPoint extends SocketChannelEndPoint {

    private final ReentrantLock lock = new ReentrantLock();
    private final ByteBuffer ahead = ByteBuffer.allocate(1).limit(0);

    PeerAwareEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler) {
      super(channel, selector, key, scheduler);
    }

    /// Whether the client has closed its side, be it only for writing: no HTTP client that waits for an answer does
    /// that. Never blocks. A byte that it finds, the beginning of a next request, is kept for [#fill].
    boolean peerHasGone() {
      lock.lock();
      try {
        if (ahead.hasRemaining()) {
          return false;
        }
        ahead.clear();
        int count = getChannel().read(ahead);
        ahead.flip();
        return count < 0;
      } catch (IOException e) {
        ahead.limit(0);
        return true;
      } finally {
        lock.unlock();
      }
    }

    @Override
    public int fill(ByteBuffer buffer) throws IOException {
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
  }
}
