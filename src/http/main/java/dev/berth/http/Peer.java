package dev.berth.http;

import dev.berth.http.connections.PeerAwareConnector;
import dev.berth.http.connections.PeerAwareConnector.PeerAwareEndPoint;
import io.javalin.http.Context;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;

/// Who is at the other end of a request's connection.
public final class Peer {

    /// The attribute of a request that is a stream: whether its client has given up.
    private static final String GONE = "berth.gone";

    private Peer() {}

    /// Whether the client has given up; to be asked now and then.
    public static BooleanSupplier hasGone(Context ctx) {
        if (!ctx.req().getProtocol().startsWith("HTTP/1.")) {
            // A client says so when it gives up a stream. The messages of a call have one listener.
            AtomicBoolean known = ctx.attribute(GONE);
            var gone = known == null ? new AtomicBoolean() : known;
            if (known == null) {
                ctx.attribute(GONE, gone);
                ServletContextRequest.getServletContextRequest(ctx.req()).addFailureListener(_ -> gone.set(true));
            }
            return gone::get;
        }
        return endPoint(ctx)::peerHasClosed;
    }

    public static PeerAwareEndPoint endPoint(Context ctx) {
        return PeerAwareConnector.endPoint(ServletContextRequest.getServletContextRequest(ctx.req())
                .getConnectionMetaData()
                .getConnection()
                .getEndPoint());
    }
}
