package dev.berth.http;

import dev.berth.http.connections.PeerAwareConnector;
import dev.berth.http.connections.PeerAwareConnector.PeerAwareEndPoint;
import io.javalin.http.Context;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;

/// Who is at the other end of a request's connection.
public final class Peer {

    /// The attribute of a request of HTTP/2 that says whether its client has given up.
    private static final String GONE = "berth.gone";

    private Peer() {}

    public static boolean isHttp2(Context ctx) {
        return ctx.req().getProtocol().equals("HTTP/2.0");
    }

    /// Whether the client has given up; to be asked now and then.
    public static BooleanSupplier hasGone(Context ctx) {
        if (isHttp2(ctx)) {
            // A client of HTTP/2 says so when it gives up. The messages of a call have one listener.
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
