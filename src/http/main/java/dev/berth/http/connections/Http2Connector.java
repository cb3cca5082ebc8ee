package dev.berth.http.connections;

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

/// Listens for HTTP/2, with TLS or without, as clients of gRPC speak it inside of a network.
public final class Http2Connector {

    public static final String NAME = "http2";

    private static final int STREAMS = 128;

    private Http2Connector() {}

    public static PeerAwareConnector of(Server server, HttpConfiguration http, Connections connections) {
        var http2 = new Protocol(http, connections);
        http2.setInitialSessionRecvWindow(ConnectionLimit.HEAP_PER_CONNECTION);
        http2.setInitialStreamRecvWindow(ConnectionLimit.HEAP_PER_CONNECTION);
        http2.setMaxConcurrentStreams(STREAMS);
        http2.setFlowControlStrategyFactory(Unread::new);
        http2.setUseInputDirectByteBuffers(false);
        http2.setUseOutputDirectByteBuffers(false);
        var connector = connections
                .tls
                .map(pem -> new PeerAwareConnector(server, connections, pem.around(http2, "h2"), http2))
                .orElseGet(() -> new PeerAwareConnector(server, connections, http2));
        connector.setName(NAME);
        return connector;
    }

    /// Has the end point know of data that no request has read yet.
    private static final class Unread extends BufferingFlowControlStrategy {

        /// As Jetty's own.
        private static final float UPDATED_AT = 0.5f;

        private Unread() {
            super(UPDATED_AT);
        }

        @Override
        public void onDataReceived(Session session, Stream stream, int length) {
            super.onDataReceived(session, stream, length);
            endPoint(session).arrived(length);
        }

        @Override
        public void onDataConsumed(Session session, Stream stream, int length) {
            super.onDataConsumed(session, stream, length);
            endPoint(session).taken(length);
        }

        private static PeerAwareConnector.PeerAwareEndPoint endPoint(Session session) {
            return PeerAwareConnector.endPoint(((HTTP2Session) session).getEndPoint());
        }
    }

    /// Each stream takes a place among the connections from the moment when its head has come. What
    /// is beyond the limit is refused before any thread has it, and may be sent again.
    private static final class Protocol extends HTTP2CServerConnectionFactory {
        private final Connections connections;

        private Protocol(HttpConfiguration http, Connections connections) {
            super(http);
            this.connections = connections;
        }

        @Override
        protected ServerSessionListener newSessionListener(Connector connector, EndPoint endPoint) {
            var peer = PeerAwareConnector.endPoint(endPoint);
            return new HTTPServerSessionListener(endPoint) {
                @Override
                public void onSettings(Session session, SettingsFrame frame) {
                    // Without them, the preface is not whole (RFC 9113, 3.4).
                    peer.place.agree();
                    super.onSettings(session, frame);
                }

                @Override
                public Stream.Listener onNewStream(Stream stream, HeadersFrame frame) {
                    peer.beginRequest();
                    if (connections.openStream(peer.place, stream)) {
                        return super.onNewStream(stream, frame);
                    }
                    stream.reset(new ResetFrame(stream.getId(), ErrorCode.REFUSED_STREAM_ERROR.code), Callback.NOOP);
                    return null;
                }

                @Override
                public void onClosed(Stream stream) {
                    connections.closeStream(peer.place, stream);
                    super.onClosed(stream);
                }
            };
        }
    }
}
