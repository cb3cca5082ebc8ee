package dev.berth.http;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.memory.ProcessMemory;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.ServedModel;
import dev.berth.serving.StreamLimits;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.sessions.SessionStore;
import io.javalin.config.JavalinConfig;
import io.javalin.config.RoutesConfig;
import io.javalin.http.Context;
import jakarta.servlet.http.HttpServletResponse;
import java.io.InputStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.ee10.websocket.server.JettyServerUpgradeResponse;
import org.eclipse.jetty.ee10.websocket.server.JettyWebSocketServletFactory;

/// WebSockets at [#PATH]: accepts or rejects the handshake, and opens the session that the socket
/// has. Runs on the handshake's virtual thread.
///
/// SageMaker's callers may ask for another path. So any path without a route of its own is taken
/// where the hooks answer part by part or have sessions.
///
/// @param models finds out which model a handshake is for. What it returns has that model take a
///   message in
/// @param paths the routes
record Sockets(
    Function<Context, Supplier<ServedModel.Visit>> models,
    boolean hasOneModel,
    ServerConfig config,
    Paths paths,
    Origins origins,
    RequestLog log,
    ServingMetrics metrics,
    LongSupplier clock) {

  static final String PATH = "/invocations-bidirectional-stream";

  /// Of one model among many.
  static final String PATH_OF_MODEL = "/models/{name}" + PATH;

  /// SageMaker asks a socket every 60 s whether it is still there, and gives up after 5 of these
  /// pings.
  private static final Duration IDLE = Duration.ofMinutes(5);

  private static final int INPUT_BUFFER_BYTES = 16 << 10;
  private static final String SOCKET = "berth.socket";

  private static final Pattern KEY = Pattern.compile("[A-Za-z0-9+/]{22}==");

  /// @param path where Javalin has handshakes come here; `*` is anywhere
  void register(RoutesConfig routes, List<String> path) {
    path.forEach(pattern -> routes.ws(pattern, _ -> {}));
    routes.wsBeforeUpgrade(this::accept);
  }

  /// Javalin's own sockets get whole messages, whose memory nobody has counted, and the next one
  /// whether it is wanted or not. So the sockets are Berth's own, on Javalin's routes.
  void configure(JavalinConfig javalin) {
    javalin.jetty.modifyWebSocketServletFactory(this::configure);
    javalin.requestLogger.ws(ws -> ws.onUpgrade((ctx, _) -> ended(ctx)));
  }

  private void configure(JettyWebSocketServletFactory factory) {
    var request = HttpServer.idle(config);
    factory.setIdleTimeout(request.compareTo(IDLE) > 0 ? request : IDLE);
    factory.setInputBufferSize(INPUT_BUFFER_BYTES);
    factory.addMapping(
        "/*",
        (upgrade, response) ->
            upgraded((Socket) upgrade.getHttpServletRequest().getAttribute(SOCKET), response));
  }

  /// Nothing is compressed.
  private static Socket upgraded(Socket socket, JettyServerUpgradeResponse response) {
    response.setExtensions(List.of());
    return socket;
  }

  private void accept(Context ctx) {
    log.begin(ctx);
    requireHandshake(ctx);
    origins.requireOwn(ctx);
    var route = paths.pattern(ctx.path());
    boolean isOurs = route.filter(pattern -> pattern.endsWith(PATH)).isPresent();
    if (!isOurs) {
      requireNoRoute(ctx, route);
    }
    var model = models.apply(ctx);
    try (var visit = model.get()) {
      if (!isOurs && !visit.facts().areConversational()) {
        throw noSocket(
            ctx,
            "the hooks of this model neither stream nor have sessions, and so answer there only");
      }
      ctx.req().setAttribute(SOCKET, socket(ctx, model, visit));
    }
  }

  private void requireNoRoute(Context ctx, Optional<String> route) {
    if (route.isPresent()) {
      throw noSocket(ctx, "that path answers no sockets");
    }
    var advice = paths.advice(ctx.path());
    if (advice.isPresent() || !hasOneModel) {
      throw ErrorType.NOT_FOUND.because(
          "%s: no such path; %s"
              .formatted(
                  Text.quoted(ctx.path()),
                  advice.orElse("sockets of a model are at " + PATH_OF_MODEL)));
    }
  }

  private Socket socket(Context ctx, Supplier<ServedModel.Visit> model, ServedModel.Visit visit) {
    var accept = Invocations.header(ctx, "Accept");
    var type =
        Invocations.header(ctx, "Content-Type")
            .map(text -> Invocations.contentType(Optional.of(text), visit.facts().requestTypes()));
    var id = RequestLog.inferenceId(ctx);
    var headers = Invocations.headers(ctx);
    // What the messages have in common. Its body stands for none.
    var handshake =
        new InvocationRequest(
                InputStream.nullInputStream(),
                type.orElse(MediaType.JSON),
                Accept.choose(accept, visit.facts().responseTypes(), config.http().defaultAccept()),
                Invocations.header(ctx, Invocations.CUSTOM_ATTRIBUTES),
                id,
                false)
            .withTraceParent(RequestLog.traceParent(ctx))
            .withPath(ctx.path(), Optional.ofNullable(ctx.queryString()))
            .withHeaders(headers);
    var connection =
        ServletContextRequest.getServletContextRequest(ctx.req()).getConnectionMetaData();
    return new Socket(
        new Socket.Terms(
            model,
            handshake,
            headers,
            type,
            accept,
            visit::countMemory,
            config.http().defaultAccept(),
            config.http().maxPayloadBytes(),
            config.batching().timeout(),
            new StreamLimits(config.streams().partTimeout(), config.streams().timeout(), true)),
        session(ctx, visit, handshake),
        log,
        metrics,
        ProcessMemory.ofThisProcess(),
        clock,
        connection.getConnector().getScheduler(),
        Invocations.endPoint(ctx).place);
  }

  /// The session of all messages of a socket: the one that the handshake names or opens, or one
  /// that ends with the socket.
  private Optional<Socket.OpenSession> session(
      Context ctx, ServedModel.Visit visit, InvocationRequest handshake) {
    var named =
        Invocations.header(ctx, SessionProtocol.SESSION_ID)
            .map(id -> SessionProtocol.checked(id, visit));
    if (!visit.facts().sessions()) {
      return Optional.empty();
    }
    var deadline = Deadline.in(config.batching().timeout(), clock);
    boolean isNew = named.filter(SessionProtocol::isNew).isPresent();
    if (named.isPresent() && !isNew) {
      visit.sessions().enter(named.get(), deadline).close();
      return Optional.of(new Socket.OpenSession(named.get(), () -> {}));
    }
    SessionStore.Turn turn =
        visit.sessions().open(handshake, isNew, deadline, Invocations.logContext());
    turn.close();
    if (isNew) {
      SessionProtocol.name(ctx, turn);
      return Optional.of(new Socket.OpenSession(turn.id(), () -> {}));
    }
    return Optional.of(new Socket.OpenSession(turn.id(), turn::end));
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
    log.end(ctx);
  }

  private ServingException noSocket(Context ctx, String why) {
    return ErrorType.NOT_FOUND.because(
        "%s: found a WebSocket handshake, expected %s; %s"
            .formatted(Text.quoted(ctx.path()), PATH, why));
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
              .formatted(Text.quoted(ctx.path())));
    }
    var version = ctx.header("Sec-WebSocket-Version");
    if (!"13".equals(version)) {
      ctx.header("Sec-WebSocket-Version", "13");
      throw ErrorType.UPGRADE_REQUIRED.because(
          "Sec-WebSocket-Version: found %s, expected 13".formatted(Text.found(version)));
    }
    var key = ctx.header("Sec-WebSocket-Key");
    if (key == null || !KEY.matcher(key).matches()) {
      throw ErrorType.BAD_INPUT.because(
          "Sec-WebSocket-Key: found %s, expected 16 bytes in Base64".formatted(Text.found(key)));
    }
  }
}
