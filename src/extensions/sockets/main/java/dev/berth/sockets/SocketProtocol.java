package dev.berth.sockets;

import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import io.javalin.config.JavalinConfig;
import java.util.List;

/// SageMaker's bidirectional streams, which are WebSockets.
public final class SocketProtocol implements Protocol {

    @Override
    public List<Route> routes() {
        return List.of(
                Route.get(Socket.PATH, _ -> Sockets::requireHandshake).ofOne(),
                Route.get(Sockets.PATH_OF_MODEL, _ -> Sockets::requireHandshake).ofMany());
    }

    @Override
    public void configure(JavalinConfig javalin, ServerParts parts) {
        new Sockets(parts).configure(javalin);
    }
}
