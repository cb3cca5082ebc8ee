package dev.berth.openinference;

import dev.berth.http.connections.ConnectionLimit;
import dev.berth.http.connections.Connections;
import dev.berth.http.connections.OpenConnection;
import dev.berth.http.connections.PeerAwareConnector;
import org.eclipse.jetty.http2.BufferingFlowControlStrategy;
import org.eclipse.jetty.http2.ErrorCode;
import org.eclipse.jetty.http2.HTTP2Session;
import org.eclipse.jetty.http2.api.Session;
import org.eclipse.jetty.http2.api.Stream;
import org.eclipse.jetty.http2.api.server.ServerSessionListener;
import org.eclipse.jetty.http2.frames.HeadersFrame;
import org.eclipse.jetty.http2.frames.ResetFrame;
import org.eclipse.jetty.http2.frames.SettingsFrame;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;

/// HTTP/2, each stream of which takes a place among the connections from the moment when its head
/// has come. What is beyond the limit is refused before any thread has it, and may be sent again.
final class Http2 extends HTTP2CServerConnectionFactory {

    private static final int STREAMS = 128;

    private final Connections connections;

    private Http2(HttpConfiguration http, Connections connections) {
        super(http);
        this.connections = connections;
    }

    static PeerAwareConnector connector(Server server, HttpConfiguration http, Connections connections) {
        var http2 = new Http2(http, connections);
        http2.setInitialSessionRecvWindow(ConnectionLimit.HEAP_PER_CONNECTION);
        http2.setInitialStreamRecvWindow(ConnectionLimit.HEAP_PER_CONNECTION);
        http2.setMaxConcurrentStreams(STREAMS);
        http2.setFlowControlStrategyFactory(Unread::new);
        http2.setUseInputDirectByteBuffers(false);
        http2.setUseOutputDirectByteBuffers(false);
        return new PeerAwareConnector(server, connections, connections.tls(http2, "h2"), http2);
    }

    @Override
    protected ServerSessionListener newSessionListener(Connector connector, EndPoint endPoint) {
        var peer = OpenConnection.of(endPoint);
        return new HTTPServerSessionListener(endPoint) {
            @Override
            public void onSettings(Session session, SettingsFrame frame) {
                // Without them, the preface is not whole (RFC 9113, 3.4).
                peer.agree();
                super.onSettings(session, frame);
            }

            @Override
            public Stream.Listener onNewStream(Stream stream, HeadersFrame frame) {
                peer.beginRequest();
                if (connections.openStream(peer)) {
                    return super.onNewStream(stream, frame);
                }
                stream.reset(new ResetFrame(stream.getId(), ErrorCode.REFUSED_STREAM_ERROR.code), Callback.NOOP);
                return null;
            }

            @Override
            public void onClosed(Stream stream) {
                connections.closeStream();
                super.onClosed(stream);
            }
        };
    }

    /// Has the connection know of data that no request has read yet.
    private static final class Unread extends BufferingFlowControlStrategy {

        /// As Jetty's own.
        private static final float UPDATED_AT = 0.5f;

        private Unread() {
            super(UPDATED_AT);
        }

        @Override
        public void onDataReceived(Session session, Stream stream, int length) {
            super.onDataReceived(session, stream, length);
            connection(session).arrived(length);
        }

        @Override
        public void onDataConsumed(Session session, Stream stream, int length) {
            super.onDataConsumed(session, stream, length);
            connection(session).taken(length);
        }

        private static OpenConnection connection(Session session) {
            return OpenConnection.of(((HTTP2Session) session).getEndPoint());
        }
    }
}
