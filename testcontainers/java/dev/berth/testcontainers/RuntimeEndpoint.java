package dev.berth.testcontainers;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;

/// SageMaker Runtime's `InvokeEndpoint` in front of a container that has `/invocations` alone: a
/// server of this process on a free port of the loopback interface.
///
/// An error of the container is a `ModelError`, as on the platform. Nothing is streamed.
record RuntimeEndpoint(URI uri, Optional<HttpServer> server) implements AutoCloseable {

  private static final Pattern PATH = Pattern.compile("/endpoints/[^/]+/invocations");

  /// What is passed on in both directions.
  private static final Pattern HEADERS =
      Pattern.compile("(?i)content-type|accept|x-amzn-sagemaker-.*");

  private static final String ERROR_TYPE = "x-amzn-ErrorType";

  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  /// The container itself where it answers endpoints.
  static RuntimeEndpoint of(URI container) {
    try {
      // Refused without asking the model where there are endpoints.
      var request = post(container, "/endpoints/any/async-invocations", new byte[0]).build();
      if (send(request).headers().firstValue(ERROR_TYPE).isPresent()) {
        return new RuntimeEndpoint(container, Optional.empty());
      }
      var server =
          HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
      server.setExecutor(Executors.newCachedThreadPool(RuntimeEndpoint::daemon));
      server.createContext("/", exchange -> answer(exchange, container));
      server.start();
      return new RuntimeEndpoint(
          URI.create("http://localhost:" + server.getAddress().getPort()), Optional.of(server));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Thread daemon(Runnable task) {
    var thread = new Thread(task, "berth-runtime-endpoint");
    thread.setDaemon(true);
    return thread;
  }

  private static void answer(HttpExchange exchange, URI container) throws IOException {
    try (exchange) {
      if (!PATH.matcher(exchange.getRequestURI().getPath()).matches()) {
        answer(exchange, 404, "UnknownOperationException", "{}");
        return;
      }
      var request = post(container, "/invocations", exchange.getRequestBody().readAllBytes());
      exchange
          .getRequestHeaders()
          .forEach(
              (name, values) -> {
                if (HEADERS.matcher(name).matches()) {
                  values.forEach(value -> request.header(name, value));
                }
              });
      var response = send(request.build());
      if (response.statusCode() != 200) {
        answer(exchange, 424, "ModelError", error(response.statusCode(), response.body()));
        return;
      }
      response
          .headers()
          .map()
          .forEach(
              (name, values) -> {
                if (HEADERS.matcher(name).matches()) {
                  exchange.getResponseHeaders().put(name, values);
                }
              });
      exchange.getResponseHeaders().set("x-Amzn-Invoked-Production-Variant", "AllTraffic");
      send(exchange, 200, response.body());
    }
  }

  private static String error(int status, byte[] body) {
    var text = quoted(new String(body, StandardCharsets.UTF_8));
    return "{\"Message\":%1$s,\"OriginalMessage\":%1$s,\"OriginalStatusCode\":%2$d}"
        .formatted(text, status);
  }

  private static String quoted(String text) {
    var quoted = new StringBuilder("\"");
    for (char each : text.toCharArray()) {
      quoted.append(
          each == '"' || each == '\\'
              ? "\\" + each
              : each < ' ' ? "\\u%04x".formatted((int) each) : String.valueOf(each));
    }
    return quoted.append('"').toString();
  }

  private static void answer(HttpExchange exchange, int status, String type, String body)
      throws IOException {
    exchange.getResponseHeaders().set(ERROR_TYPE, type);
    exchange.getResponseHeaders().set("Content-Type", "application/json");
    send(exchange, status, body.getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int status, byte[] body) throws IOException {
    // For the server, 0 is a body of unknown length.
    exchange.sendResponseHeaders(status, body.length == 0 ? -1 : body.length);
    exchange.getResponseBody().write(body);
  }

  private static HttpRequest.Builder post(URI container, String path, byte[] body) {
    return HttpRequest.newBuilder(container.resolve(path)).POST(BodyPublishers.ofByteArray(body));
  }

  private static java.net.http.HttpResponse<byte[]> send(HttpRequest request) throws IOException {
    try {
      return CLIENT.send(request, BodyHandlers.ofByteArray());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }

  @Override
  public void close() {
    server.ifPresent(running -> running.stop(0));
  }
}
