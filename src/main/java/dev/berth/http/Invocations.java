package dev.berth.http;

import dev.berth.config.HttpConfig;
import dev.berth.config.TransformConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.serving.ServedModel;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.BooleanSupplier;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// `POST /invocations`: negotiates the types, asks the model and writes its answer. Runs on the request's virtual
/// thread.
final class Invocations implements Handler {

  static final String CUSTOM_ATTRIBUTES = "X-Amzn-SageMaker-Custom-Attributes";

  private static final Logger log = LoggerFactory.getLogger(Invocations.class);
  private static final List<MediaType> LINES = List.of(MediaType.JSON_LINES, MediaType.CSV);

  private final ServedModel model;
  private final HttpConfig http;
  private final TransformConfig transform;
  private final Duration timeout;

  Invocations(ServedModel model, HttpConfig http, TransformConfig transform, Duration timeout) {
    this.model = model;
    this.http = http;
    this.transform = transform;
    this.timeout = timeout;
  }

  @Override
  public void handle(Context ctx) {
    long deadline = System.nanoTime() + timeout.toNanos();
    var body = new LimitedBody(ctx.req()::getInputStream, http.maxPayloadBytes(), deadline);
    try {
      invoke(ctx, body, deadline);
    } catch (ServingException e) {
      // A caller who asked first whether to send the body has not sent it.
      if (ctx.header("Expect") == null) {
        body.discard();
      }
      throw e;
    }
  }

  private void invoke(Context ctx, LimitedBody body, long deadline) {
    var accept = Accept.choose(header(ctx, "Accept"), model.responseTypes(), http.defaultAccept());
    var contentType = contentType(ctx);
    long length = ctx.req().getContentLengthLong();
    body.checkDeclared(length);
    var request = new InvocationRequest(
        body,
        contentType,
        accept,
        header(ctx, CUSTOM_ATTRIBUTES),
        RequestLog.inferenceId(ctx),
        transform.keepBadRecords()).withTraceParent(RequestLog.traceParent(ctx));

    var declared = length < 0 ? OptionalLong.empty() : OptionalLong.of(length);
    var invocation = model.invoke(request, declared, deadline, peerHasGone(ctx));

    write(ctx, invocation.response());
    RequestLog.served(ctx, model.name(), invocation);
  }

  /// A body of lines ends without a newline, because AssembleWith=Line adds one after each response, or with one where
  /// mini-batches are joined as they are.
  private void write(Context ctx, InvocationResponse response) {
    var body = response.body();
    if (LINES.contains(response.contentType().withoutParameters())) {
      int end = body.length;
      while (end > 0 && (body[end - 1] == '\n' || body[end - 1] == '\r')) {
        end--;
      }
      body = Arrays.copyOf(body, transform.trailingNewline() && end > 0 ? end + 1 : end);
      if (body.length > end) {
        body[end] = '\n';
      }
    }
    response.customAttributes().ifPresent(value -> ctx.header(CUSTOM_ATTRIBUTES, value));
    ctx.contentType(response.contentType().toString());
    send(ctx, body);
  }

  /// Javalin's own way copies every body through a stream, piece by piece.
  static void send(Context ctx, byte[] body) {
    try {
      ctx.res().setContentLength(body.length);
      ctx.res().getOutputStream().write(body);
    } catch (IOException e) {
      log.info("the caller has gone before its answer was sent: {}", e.toString());
    }
  }

  /// No content type means JSON, as in AWS's older toolkit.
  private MediaType contentType(Context ctx) {
    header(ctx, "Content-Encoding").filter(encoding -> !encoding.equalsIgnoreCase("identity")).ifPresent(encoding -> {
      throw new ServingException(ErrorType.UNSUPPORTED_MEDIA_TYPE,
          "Content-Encoding: found %s, expected a body that is not encoded".formatted(Text.quoted(encoding)));
    });
    var header = header(ctx, "Content-Type").filter(value -> !value.isBlank());
    if (header.isEmpty()) {
      return MediaType.JSON;
    }
    var readable = model.requestTypes();
    return header.flatMap(MediaType::parse)
        .filter(type -> !type.isRange())
        .filter(type -> readable.isEmpty() || readable.contains(type.withoutParameters()))
        .orElseThrow(() -> new ServingException(
            ErrorType.UNSUPPORTED_MEDIA_TYPE,
            "Content-Type: found %s, expected %s".formatted(
                Text.quoted(header.get()), readable.isEmpty() ? "a media type" : "one of " + readable)));
  }

  private static Optional<String> header(Context ctx, String name) {
    var values = Collections.list(ctx.req().getHeaders(name));
    return values.isEmpty() ? Optional.empty() : Optional.of(String.join(", ", values));
  }

  private static BooleanSupplier peerHasGone(Context ctx) {
    var request = ServletContextRequest.getServletContextRequest(ctx.req());
    return request.getConnectionMetaData().getConnection().getEndPoint() instanceof PeerAwareConnector.PeerAwareEndPoint peer
        ? peer::peerHasGone
        : () -> false;
  }
}
