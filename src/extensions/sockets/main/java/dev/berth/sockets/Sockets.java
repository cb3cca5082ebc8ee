package dev.berth.sockets;

import dev.berth.config.HttpConfig;
import dev.berth.config.ServingConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.http.Accept;
import dev.berth.http.CallerText;
import dev.berth.http.Headers;
import dev.berth.http.Invocations;
import dev.berth.http.OpenRequests;
import dev.berth.http.RequestLog;
import dev.berth.http.ServerParts;
import dev.berth.http.SessionProtocol;
import dev.berth.memory.RequestMemory;
import dev.berth.memory.RequestMemory.ProcessMemory;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import io.javalin.config.JavalinConfig;
import io.javalin.http.Context;
import jakarta.servlet.http.HttpServletResponse;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.ee10.websocket.server.JettyWebSocketServletFactory;

/// WebSockets at [Socket#PATH]: accepts or rejects the handshake, and opens the session that the
/// socket has. Runs on the handshake's virtual thread.
///
/// SageMaker's callers may ask for another path. So any path without a route of its own is taken
/// where the hooks answer part by part or have sessions.
record Sockets(ServerParts parts) {

    /// Of one model among many.
    static final String PATH_OF_MODEL = "/models/{name}" + Socket.PATH;

    /// SageMaker asks a socket every 60 s whether it is still there, and gives up after 5 of these
    /// pings.
    private static final Duration IDLE = Duration.ofMinutes(5);

    private static final int INPUT_BUFFER_BYTES = 16 << 10;
    private static final String SOCKET = "berth.socket";

    private static final Pattern KEY = Pattern.compile("[A-Za-z0-9+/]{22}==");

    /// Javalin's own sockets get whole messages, whose memory nobody has counted, and the next one
    /// whether it is wanted or not. So the sockets are Berth's own, on Javalin's routes.
    void configure(JavalinConfig javalin) {
        javalin.jetty.modifyWebSocketServletFactory(this::configure);
        javalin.requestLogger.ws(ws -> ws.onUpgrade((ctx, _) -> ended(ctx)));
        List.of(PATH_OF_MODEL, "*").forEach(pattern -> javalin.routes.ws(pattern, _ -> {}));
        javalin.routes.wsBeforeUpgrade(this::accept);
    }

    private void configure(JettyWebSocketServletFactory factory) {
        var request = Invocations.idle(parts.config());
        factory.setIdleTimeout(request.compareTo(IDLE) > 0 ? request : IDLE);
        factory.setInputBufferSize(INPUT_BUFFER_BYTES);
        factory.addMapping("/*", (upgrade, response) -> {
            // Nothing is compressed.
            response.setExtensions(List.of());
            return upgrade.getHttpServletRequest().getAttribute(SOCKET);
        });
    }

    private void accept(Context ctx) {
        parts.log().begin(ctx);
        requireHandshake(ctx);
        parts.origins().requireOwn(ctx);
        var route = parts.paths().patternOfRequests(ctx.path());
        boolean isOurs = route.filter(pattern -> pattern.endsWith(Socket.PATH)).isPresent();
        boolean isTaken = route.or(() -> parts.paths().advice(ctx.path())).isPresent();
        if (!isOurs && (isTaken || parts.models().hasMany())) {
            throw noSocket(ctx, "that path answers no sockets");
        }
        var models = parts.models();
        Supplier<ServedModel.Visit> model = () -> models.enter(models.target(ctx), deadline());
        try (var visit = model.get()) {
            if (!isOurs && !visit.facts().areConversational()) {
                throw noSocket(
                        ctx, "the hooks of this model neither stream nor have sessions, and so answer there only");
            }
            ctx.req().setAttribute(SOCKET, socket(ctx, model, visit));
        }
    }

    private Deadline deadline() {
        return Deadline.in(parts.config().get(ServingConfig.TIMEOUT), System::nanoTime);
    }

    private Socket socket(Context ctx, Supplier<ServedModel.Visit> model, ServedModel.Visit visit) {
        // What the messages have in common. Its body stands for none.
        var handshake = Invocations.request(
                ctx,
                InputStream.nullInputStream(),
                Headers.contentType(ctx, visit.facts().requestTypes()),
                Accept.choose(
                        Headers.of(ctx, "Accept"),
                        visit.facts().responseTypes(),
                        parts.config().get(HttpConfig.DEFAULT_ACCEPT)),
                false);
        var timeout = parts.config().get(ServingConfig.TIMEOUT);
        Supplier<RequestMemory> memory = () -> {
            var ofMessage = new RequestMemory(
                    ProcessMemory.ofThisProcess(), System.nanoTime() + 2 * timeout.toNanos(), () -> {});
            visit.countMemory(ofMessage);
            return ofMessage;
        };
        var connection =
                ServletContextRequest.getServletContextRequest(ctx.req()).getConnectionMetaData();
        return new Socket(
                parts,
                new Socket.Terms(model, memory, handshake, Headers.letThrough(ctx), session(ctx, visit, handshake)),
                System::nanoTime,
                connection.getConnector().getScheduler(),
                OpenRequests.connection(ctx));
    }

    /// The session of all messages of a socket: the one that the handshake names or opens, or one
    /// that ends with the socket.
    private Optional<Socket.OpenSession> session(Context ctx, ServedModel.Visit visit, InvocationRequest handshake) {
        var named = Headers.of(ctx, SessionProtocol.SESSION_ID).map(id -> SessionProtocol.checked(id, visit));
        if (!visit.facts().sessions()) {
            return Optional.empty();
        }
        boolean isNew = named.filter(SessionProtocol::isNew).isPresent();
        boolean isKept = named.isPresent();
        var turn = isKept && !isNew
                ? visit.sessions().enter(named.get(), deadline())
                : visit.sessions().open(handshake, isNew, deadline(), RequestLog.context());
        turn.close();
        if (isNew) {
            SessionProtocol.name(ctx, turn);
        }
        return Optional.of(new Socket.OpenSession(turn.id(), isKept ? () -> {} : turn::end));
    }

    /// The handshake has its answer. Jetty opens the socket after that, unless the answer is an
    /// error.
    private void ended(Context ctx) {
        if (ctx.req().getAttribute(SOCKET) instanceof Socket socket) {
            if (ctx.statusCode() == HttpServletResponse.SC_SWITCHING_PROTOCOLS) {
                socket.expectOpen();
            } else {
                socket.end();
            }
        }
        parts.log().end(ctx);
    }

    private ServingException noSocket(Context ctx, String why) {
        return ErrorType.NOT_FOUND.because("%s: found a WebSocket handshake, expected %s; %s"
                .formatted(CallerText.quoted(ctx.path()), parts.models().hasMany() ? PATH_OF_MODEL : Socket.PATH, why));
    }

    /// What RFC 6455 §4.2.1 asks for. To what lacks it, Jetty would say 405 or 500. Upgrades without
    /// `Connection: Upgrade` are refused by it before.
    static void requireHandshake(Context ctx) {
        var request = ctx.req();
        if (!"websocket".equalsIgnoreCase(ctx.header("Upgrade"))
                || !request.getMethod().equals("GET")
                || !request.getProtocol().equals("HTTP/1.1")) {
            throw ErrorType.BAD_INPUT.because(
                    "%s: found no WebSocket handshake, expected GET of HTTP/1.1 with Upgrade: websocket (RFC 6455)"
                            .formatted(CallerText.quoted(ctx.path())));
        }
        var version = ctx.header("Sec-WebSocket-Version");
        if (!"13".equals(version)) {
            ctx.header("Sec-WebSocket-Version", "13");
            throw ErrorType.UPGRADE_REQUIRED.found("Sec-WebSocket-Version", CallerText.found(version), "13");
        }
        var key = ctx.header("Sec-WebSocket-Key");
        if (key == null || !KEY.matcher(key).matches()) {
            throw ErrorType.BAD_INPUT.found("Sec-WebSocket-Key", CallerText.found(key), "16 bytes in Base64");
        }
    }
}
