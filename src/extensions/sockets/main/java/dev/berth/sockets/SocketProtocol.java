package dev.berth.sockets;

import dev.berth.error.ErrorType;
import dev.berth.http.ErrorForm;
import dev.berth.http.Operation;
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
                Route.get(Socket.PATH, SocketProtocol::said, _ -> Sockets::requireHandshake)
                        .ofOne(),
                Route.get(Sockets.PATH_OF_MODEL, SocketProtocol::said, _ -> Sockets::requireHandshake)
                        .ofMany());
    }

    @Override
    public void configure(JavalinConfig javalin, ServerParts parts) {
        new Sockets(parts, System::nanoTime).configure(javalin);
    }

    private static Operation said(Operation operation) {
        return operation
                .model("A WebSocket: each message is a request, each part of an answer a frame", ErrorForm.PLAIN)
                .fails(ErrorType.BAD_INPUT, ErrorType.FORBIDDEN, ErrorType.UPGRADE_REQUIRED, ErrorType.NOT_READY)
                .responds(101, "The socket is open");
    }
}
