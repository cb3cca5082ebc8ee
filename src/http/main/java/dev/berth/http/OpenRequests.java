package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.http.connections.Connections;
import dev.berth.http.connections.OpenConnection;
import io.javalin.http.Context;
import java.nio.ByteBuffer;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.LocalConnector;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.internal.HttpConnection;
import org.eclipse.jetty.util.Callback;

/// Tells each connection of its requests, and when they wait for the client. One for which there is
/// no room is answered by 503, unless it asks for the server's health: a server whose connections
/// are all busy is a healthy one. An answer behind which nobody will read the rest of the request's
/// body says that the connection closes. Runs on the request's thread.
public final class OpenRequests extends Handler.Wrapper {

    private static final String PLAIN =
            "found a request without TLS, expected https; only health checks are answered without";

    private final boolean hasTls;
    private final Connections connections;
    private final Set<String> healthPaths;

    /// @param hasTls whether all other requests need TLS
    /// @param healthPaths those that are always answered
    OpenRequests(boolean hasTls, Connections connections, Set<String> healthPaths) {
        this.hasTls = hasTls;
        this.connections = connections;
        this.healthPaths = Set.copyOf(healthPaths);
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        if (request.getConnectionMetaData().getConnector() instanceof LocalConnector) {
            return super.handle(request, response, callback);
        }
        var protocol = request.getConnectionMetaData().getConnection();
        var connection = OpenConnection.of(protocol.getEndPoint());
        // A stream is read by another thread, and began there.
        boolean isReader = protocol instanceof HttpConnection;
        if (isReader) {
            connection.beginRequest();
        }
        if (!healthPaths.contains(Request.getPathInContext(request))) {
            if (hasTls && protocol.getEndPoint() == connection) {
                MalformedRequests.refuse(response, ErrorType.BAD_INPUT.because(PLAIN), callback);
                return true;
            }
            if (connection.isReserved() && !connections.admit(connection)) {
                var full = ErrorType.TOO_MANY_CONNECTIONS.because(connections.full());
                MalformedRequests.refuse(response, full, callback);
                return true;
            }
        }
        var call = connection.begin();
        var waiting = new Waiting(request, call, connection);
        if (!isReader) {
            // A client says so when it gives up a stream.
            waiting.addFailureListener(_ -> waiting.hasFailed = true);
        }
        boolean isHandled = false;
        try {
            isHandled = super.handle(waiting, new Writing(waiting, response, call), Callback.from(call::end, callback));
            return isHandled;
        } finally {
            if (!isHandled) {
                call.end();
            }
            if (isReader) {
                connection.endRequest(HttpMethod.POST.is(request.getMethod()));
            }
        }
    }

    /// Says that a request waits for its client. Its connection may make way for others then.
    public static void awaitClient(Context ctx) {
        of(ctx).call.await();
    }

    /// Whether the client of a request has given up; to be asked now and then.
    public static BooleanSupplier hasGone(Context ctx) {
        var request = of(ctx);
        return () -> request.hasFailed || request.connection.peerHasClosed();
    }

    /// The connection of a request.
    public static OpenConnection connection(Context ctx) {
        return of(ctx).connection;
    }

    private static Waiting of(Context ctx) {
        return Request.as(ServletContextRequest.getServletContextRequest(ctx.req()), Waiting.class);
    }

    private static final class Waiting extends Request.Wrapper {
        private final OpenConnection.Call call;
        private final OpenConnection connection;
        private volatile boolean hasFailed;

        /// Whether more of the body is awaited.
        private volatile boolean demanded;

        private Waiting(Request request, OpenConnection.Call call, OpenConnection connection) {
            super(request);
            this.call = call;
            this.connection = connection;
        }

        @Override
        public void demand(Runnable arrived) {
            call.await();
            demanded = true;
            super.demand(() -> {
                demanded = false;
                call.goOn();
                arrived.run();
            });
        }

        /// Throws away what has arrived of the body; false: there may come more. Jetty closes the
        /// connection then, as it does where more is awaited.
        private boolean hasEnded() {
            return !demanded && consumeAvailable();
        }
    }

    private static final class Writing extends Response.Wrapper {
        private final Waiting request;
        private final OpenConnection.Call call;

        private Writing(Waiting request, Response response, OpenConnection.Call call) {
            super(request, response);
            this.request = request;
            this.call = call;
        }

        @Override
        public void write(boolean last, ByteBuffer content, Callback callback) {
            // A hook may read its request on while it sends the parts of an answer.
            if (!isCommitted() && (last || HttpStatus.isError(getStatus())) && !request.hasEnded()) {
                // A client that is not told sends its next request into a connection that closes.
                getHeaders().put(HttpHeader.CONNECTION, HttpHeaderValue.CLOSE);
            }
            call.await();
            super.write(last, content, Callback.from(call::goOn, callback));
        }
    }
}
