package dev.berth.http.connections;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.DetectorConnectionFactory;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/// A connector whose connections are counted.
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

    @Override
    protected SocketChannelEndPoint newEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key) {
        var connection = new OpenConnection(channel, selector, key, getScheduler(), getExecutor(), connections.pace);
        connection.setIdleTimeout(getIdleTimeout());
        connections.opened(connection);
        return connection;
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
}
