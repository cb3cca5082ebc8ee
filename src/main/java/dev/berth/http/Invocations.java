package dev.berth.http;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.body.GrpcMessage;
import dev.berth.http.body.Inflated;
import dev.berth.http.body.RequestBody;
import dev.berth.http.body.Upload;
import dev.berth.http.connections.PeerAwareConnector;
import dev.berth.http.connections.PeerAwareConnector.PeerAwareEndPoint;
import dev.berth.http.openinference.InferTarget;
import dev.berth.memory.ProcessMemory;
import dev.berth.serving.Answer;
import dev.berth.serving.Dialect;
import dev.berth.serving.ServedModel;
import dev.berth.serving.StreamLimits;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.sessions.SessionStore;
import io.javalin.http.Context;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

/// `POST /invocations`, and `POST /models/{name}/invoke`: negotiates the types, asks the model and
/// writes its answer. Runs on the request's virtual thread.
final class Invocations {

  static final String CUSTOM_ATTRIBUTES = "X-Amzn-SageMaker-Custom-Attributes";

  /// The attribute of a request of HTTP/2 that says whether its client has given up.
  private static final String GONE = "berth.gone";

  private static final String CONTENT_ENCODING = "Content-Encoding";

  /// No less than the server's timeout.
  static final Duration ANY_TIME = ChronoUnit.FOREVER.getDuration();

  /// How soon a call that waits for a message sees that the server stops.
  private static final long BETWEEN_LOOKS_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private static final Logger log = LoggerFactory.getLogger(Invocations.class);
  private static final Set<String> LET_THROUGH =
      Set.of("accept", "content-type", "traceparent", "x-amzn-trace-id");
  private static final List<MediaType> LINES = List.of(MediaType.JSON_LINES, MediaType.CSV);

  private final ServerConfig config;
  private final NamedModels models;

  /// Nothing in a batch-transform job, where a failed answer must not look like a whole one.
  private final Optional<StreamLimits> streams;

  Invocations(ServerConfig config, NamedModels models) {
    this.config = config;
    this.models = models;
    this.streams =
        config.transform().batch()
            ? Optional.empty()
            : Optional.of(
                new StreamLimits(
                    config.streams().partTimeout(), config.streams().timeout(), false));
  }

  /// Has the model asked that the path names, else the only one.
  void ask(Context ctx, Answering answering) throws Exception {
    ask(ctx, ANY_TIME, _ -> models.target(ctx), answering);
  }

  void ask(Context ctx, Duration limit, Naming naming, Answering answering) throws Exception {
    take(ctx, limit, (body, deadline) -> ask(ctx, body, deadline, naming, answering));
  }

  void ask(Context ctx, RequestBody body, Deadline deadline, Naming naming, Answering answering)
      throws IOException {
    var target = naming.of(body);
    try (var visit = models.enter(target, deadline)) {
      RequestLog.of(ctx).entered(visit.metrics());
      visit.countMemory(body.memory());
      answering.answer(new ModelRequest(ctx, target, visit, body, deadline));
    }
  }

  /// Finds whom a request is for.
  interface Naming {
    InferTarget of(RequestBody body) throws IOException;
  }

  /// How the model is asked for one.
  interface Answering {
    void answer(ModelRequest asked) throws IOException;
  }

  /// How one request is answered.
  interface Exchange {
    void answer(RequestBody body, Deadline deadline) throws Exception;
  }

  /// Has a request answered, and throws away what is left of its body where that fails.
  ///
  /// @param most bytes of its body
  /// @param limit how long it may take, where that is less than the server's timeout
  void take(Context ctx, long most, Duration limit, Exchange exchange) throws Exception {
    var deadline = deadline(limit);
    long length = ctx.req().getContentLengthLong();
    answer(
        new RequestBody(upload(ctx), length, most, deadline, ProcessMemory.ofThisProcess()),
        body -> {
          decode(ctx, body);
          exchange.answer(body, deadline);
        });
  }

  private static Upload upload(Context ctx) {
    var request = ServletContextRequest.getServletContextRequest(ctx.req());
    return new Upload(request, request.getServletContextResponse());
  }

  private interface Reading {
    void read(RequestBody body) throws Exception;
  }

  private static void answer(RequestBody opened, Reading reading) throws Exception {
    try (var body = opened) {
      try {
        reading.read(body);
      } catch (ServingException e) {
        body.discard();
        throw e;
      }
    }
  }

  private Deadline deadline(Duration limit) {
    var timeout = config.batching().timeout();
    return Deadline.in(limit.compareTo(timeout) < 0 ? limit : timeout, System::nanoTime);
  }

  /// Has the messages of a call answered one after another, until the client sends no more. Each
  /// has the time of a request, and the next one may come as late as that of a connection.
  ///
  /// @param stops whether the server stops: no message is awaited then
  void takeEach(Context ctx, BooleanSupplier stops, Exchange exchange) throws Exception {
    var upload = upload(ctx);
    long most = config.http().maxPayloadBytes();
    while (hasNext(upload, stops)) {
      var deadline = deadline(Grpc.timeout(ctx));
      answer(
          new RequestBody(upload, -1, most, deadline, ProcessMemory.ofThisProcess()),
          body -> exchange.answer(body, deadline));
    }
  }

  private boolean hasNext(Upload upload, BooleanSupplier stops) {
    var silent = Deadline.in(HttpServer.idle(config), System::nanoTime);
    upload.expect(silent, () -> false);
    while (!upload.await(BETWEEN_LOOKS_NANOS) && !silent.isOver()) {
      if (stops.getAsBoolean()) {
        throw ErrorType.NOT_READY.because("the server is stopping");
      }
    }
    return upload.hasMore();
  }

  void take(Context ctx, Duration limit, Exchange exchange) throws Exception {
    take(ctx, config.http().maxPayloadBytes(), limit, exchange);
  }

  /// Asks in the hooks' own way.
  void answer(ModelRequest asked) throws IOException {
    var ctx = asked.ctx();
    var visit = asked.visit();
    OpenAi.require(ctx.path(), visit);
    var session =
        header(ctx, SessionProtocol.SESSION_ID).map(id -> SessionProtocol.checked(id, visit));
    var accept =
        Accept.choose(
            header(ctx, "Accept"),
            OpenAi.responseTypes(ctx.path(), visit),
            config.http().defaultAccept());
    // What opens or closes a session is JSON, whatever the hooks read.
    var contentType =
        contentType(
            header(ctx, "Content-Type"),
            session.isPresent() ? List.of() : OpenAi.requestTypes(ctx.path(), visit));
    var request = request(asked, contentType, accept);
    if (session.isPresent()) {
      answerInSession(asked, session.get(), request);
    } else {
      send(ctx, visit.invoke(request, asked.call().streaming(streams)));
    }
  }

  /// Reads the body ahead, once there is room for its records.
  private InvocationRequest request(ModelRequest asked, MediaType contentType, MediaType accept)
      throws IOException {
    var ctx = asked.ctx();
    var body = asked.body();
    body.type(contentType);
    body.checkDeclared();
    asked.visit().requireRoom(asked.deadline());
    body.readAhead();
    return new InvocationRequest(
            body,
            contentType,
            accept,
            header(ctx, CUSTOM_ATTRIBUTES),
            RequestLog.inferenceId(ctx),
            config.transform().keepBadRecords())
        .withTraceParent(RequestLog.traceParent(ctx))
        .withPath(ctx.path(), Optional.ofNullable(ctx.queryString()))
        .withHeaders(headers(ctx))
        .withDeadline(asked.deadline().nanos());
  }

  /// Asks in another way than the hooks', and without parts.
  InvocationResponse askWhole(
      ModelRequest asked, MediaType contentType, MediaType accept, Dialect dialect)
      throws IOException {
    var request = request(asked, contentType, accept);
    return switch (asked.visit().invoke(request, asked.call().in(dialect))) {
      case Answer.Whole(var response, var invocation) -> {
        RequestLog.of(asked.ctx()).served(invocation);
        yield response;
      }
      case Answer.Streamed _ ->
          throw new IllegalStateException("found an answer in parts, expected a whole one");
    };
  }

  private void answerInSession(ModelRequest asked, String id, InvocationRequest request) {
    var ctx = asked.ctx();
    var visit = asked.visit();
    switch (SessionProtocol.command(id, asked.body().small(SessionProtocol.LONGEST_COMMAND))) {
      case OPEN -> {
        try (var turn = open(visit, request, asked.deadline())) {
          SessionProtocol.opened(ctx, turn);
        }
      }
      case CLOSE -> {
        visit.sessions().close(id, asked.deadline(), logContext());
        SessionProtocol.closed(ctx, id);
      }
      case NONE -> {
        contentType(
            Optional.of(request.contentType().toString()), OpenAi.requestTypes(ctx.path(), visit));
        boolean isNew = SessionProtocol.isNew(id);
        try (var turn =
            isNew
                ? open(visit, request, asked.deadline())
                : visit.sessions().enter(id, asked.deadline())) {
          Answer answer;
          try {
            answer = visit.invokeIn(turn, request, asked.call().streaming(streams));
          } catch (ServingException e) {
            if (isNew) {
              turn.fail();
            }
            throw e;
          }
          if (isNew) {
            SessionProtocol.name(ctx, turn);
          }
          send(ctx, answer);
        }
      }
    }
  }

  private static SessionStore.Turn open(
      ServedModel.Visit visit, InvocationRequest request, Deadline deadline) {
    return visit
        .sessions()
        .open(request.withBody(InputStream.nullInputStream()), true, deadline, logContext());
  }

  private void send(Context ctx, Answer answer) {
    switch (answer) {
      case Answer.Whole(var response, var invocation) -> {
        write(ctx, response);
        RequestLog.of(ctx).served(invocation);
      }
      case Answer.Streamed streamed -> new StreamedBody(ctx, endPoint(ctx), streamed).send();
    }
  }

  static Map<String, String> logContext() {
    return Objects.requireNonNullElse(MDC.getCopyOfContextMap(), Map.of());
  }

  /// A body of lines ends without the newline of its last row, because AssembleWith=Line adds one
  /// after each response, or with it where mini-batches are joined as they are. Any other newline
  /// ends a row, be it blank.
  void write(Context ctx, InvocationResponse response) {
    response.customAttributes().ifPresent(value -> ctx.header(CUSTOM_ATTRIBUTES, value));
    ctx.contentType(response.contentType().toString());
    var body = response.body();
    int end = body.length;
    boolean isLines = LINES.contains(response.contentType().withoutParameters());
    if (isLines && end > 0 && body[end - 1] == '\n') {
      end -= end > 1 && body[end - 2] == '\r' ? 2 : 1;
    }
    boolean newline = isLines && config.transform().trailingNewline() && body.length > 0;
    if (config.http().compression() && Gzip.pays(ctx, response.contentType(), end)) {
      sendGzip(ctx, body, end, newline);
    } else {
      send(ctx, body, end, newline);
    }
  }

  static void send(Context ctx, byte[] body) {
    send(ctx, body, body.length, false);
  }

  /// For an answer that has trailers behind it.
  static void sendUnmeasured(Context ctx, byte[] body) {
    try {
      ctx.res().getOutputStream().write(body);
    } catch (IOException e) {
      gone(e);
    }
  }

  private static void gone(IOException e) {
    log.info("the caller has gone before its answer was sent: {}", e.toString());
  }

  /// Javalin's own way copies every body through a stream, piece by piece.
  private static void send(Context ctx, byte[] body, int length, boolean newline) {
    ctx.res().setContentLengthLong(length + (newline ? 1L : 0));
    try {
      write(ctx.res().getOutputStream(), body, length, newline);
    } catch (IOException e) {
      gone(e);
    }
  }

  private static void sendGzip(Context ctx, byte[] body, int length, boolean newline) {
    try (var output = new Gzip(ctx)) {
      write(output, body, length, newline);
    } catch (IOException e) {
      gone(e);
    }
  }

  private static void write(OutputStream output, byte[] body, int length, boolean newline)
      throws IOException {
    output.write(body, 0, length);
    if (newline) {
      output.write('\n');
    }
  }

  /// Has the message of a call read, or a compressed body as it was before.
  private static void decode(Context ctx, RequestBody body) {
    if (Grpc.isCall(ctx)) {
      var _ = body.decode(in -> new GrpcMessage(in, Grpc.coding(ctx), true, body.memory()));
      return;
    }
    if (ctx.header(CONTENT_ENCODING) == null) {
      return;
    }
    var coding = header(ctx, CONTENT_ENCODING).orElseThrow();
    var name = coding.toLowerCase(Locale.ROOT);
    if (name.equals("identity")) {
      return;
    }
    if (!Inflated.CODINGS.contains(name)) {
      var taken = String.join(", ", Inflated.CODINGS);
      ctx.header("Accept-Encoding", taken);
      throw ErrorType.UNSUPPORTED_MEDIA_TYPE.because(
          "Content-Encoding: found %s, expected one of %s, identity"
              .formatted(Text.quoted(coding), taken));
    }
    var _ = body.decode(packed -> new Inflated(packed, name, CONTENT_ENCODING, body.memory()));
  }

  /// No content type means JSON, as in AWS's older toolkit.
  static MediaType contentType(Optional<String> value, List<MediaType> readable) {
    var header = value.filter(text -> !text.isBlank());
    if (header.isEmpty()) {
      return MediaType.JSON;
    }
    return header
        .flatMap(MediaType::parse)
        .filter(type -> !type.isRange())
        .filter(type -> readable.isEmpty() || readable.contains(type.withoutParameters()))
        .orElseThrow(
            () ->
                ErrorType.UNSUPPORTED_MEDIA_TYPE.because(
                    "Content-Type: found %s, expected %s"
                        .formatted(
                            Text.quoted(header.get()),
                            readable.isEmpty() ? "a media type" : "one of " + readable)));
  }

  static Optional<String> header(Context ctx, String name) {
    var values = Collections.list(ctx.req().getHeaders(name));
    return values.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", values));
  }

  /// Those that SageMaker lets through.
  static Map<String, String> headers(Context ctx) {
    var headers = new HashMap<String, String>();
    for (var name : Collections.list(ctx.req().getHeaderNames())) {
      var lowered = name.toLowerCase(Locale.ROOT);
      if (LET_THROUGH.contains(lowered) || lowered.startsWith("x-amzn-sagemaker-")) {
        headers.put(lowered, header(ctx, name).orElse(""));
      }
    }
    return headers;
  }

  static BooleanSupplier peerHasGone(Context ctx) {
    if (Grpc.isHttp2(ctx)) {
      // A client of HTTP/2 says so when it gives up. The messages of a call have one listener.
      AtomicBoolean known = ctx.attribute(GONE);
      var gone = known == null ? new AtomicBoolean() : known;
      if (known == null) {
        ctx.attribute(GONE, gone);
        ServletContextRequest.getServletContextRequest(ctx.req())
            .addFailureListener(_ -> gone.set(true));
      }
      return gone::get;
    }
    return endPoint(ctx)::peerHasClosed;
  }

  static PeerAwareEndPoint endPoint(Context ctx) {
    return PeerAwareConnector.endPoint(
        ServletContextRequest.getServletContextRequest(ctx.req())
            .getConnectionMetaData()
            .getConnection()
            .getEndPoint());
  }
}
