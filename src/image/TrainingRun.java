import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/// Lets a server answer what servers are asked, so that the JVM can keep its classes, loaded and
/// linked, in a cache.
///
/// `java TrainingRun.java SERVE CACHE`, where SERVE is the launcher and CACHE the file to write.
/// Ends with an exception when the server answers anything in another way than it should, or leaves
/// no cache.
final class TrainingRun {

    private static final Duration BETWEEN_PINGS = Duration.ofMillis(100);

    /// Without what it knows of hot methods: they would be compiled while the model loads, for which
    /// both cores are needed, and it would take 4 MB of the server's memory.
    private static final String OPTIONS = "-XX:+UnlockDiagnosticVMOptions -XX:-AOTRecordTraining -XX:AOTCacheOutput=";

    private static final String QUESTION = """
      {"question": "Who came?", "context": "%s"}""";
    private static final String SHORT = QUESTION.formatted("Bob came. Ada stayed at home. ".repeat(4));

    /// Read through several windows.
    private static final String LONG = QUESTION.formatted("Bob came. Ada stayed at home. ".repeat(100));

    private static final String JSON = "application/json";
    private static final String JSON_LINES = "application/jsonlines";
    private static final String CSV = "text/csv";

    private record Request(String path, String contentType, String accept, String body, int status) {}

    private static final List<Request> REQUESTS = List.of(
            new Request("/invocations", JSON, JSON, SHORT, 200),
            new Request("/invocations", JSON, JSON, LONG, 200),
            new Request("/invocations", JSON, JSON, """
          {"inputs": [%s, %s], "parameters": {"top_k": 3}}""".formatted(SHORT, SHORT), 200),
            new Request("/invocations", JSON_LINES, JSON_LINES, SHORT + "\n" + SHORT + "\n", 200),
            new Request("/invocations", CSV, CSV, "question,context\nWho came?,\"Bob came, and left.\"\n", 200),
            new Request("/invocations", JSON, JSON, "{\"question\": ", 400),
            new Request("/invocations", "image/png", JSON, "x", 415),
            new Request("/invocations", JSON, "image/png", SHORT, 406),
            new Request("/execution-parameters", JSON, JSON, null, 200),
            new Request("/metrics", JSON, "*/*", null, 200),
            new Request("/ping", JSON, "*/*", null, 200));

    public static void main(String[] arguments) throws Exception {
        var launcher = arguments[0];
        var cache = Path.of(arguments[1]);
        // The launcher would use an old one.
        Files.deleteIfExists(cache);
        var builder = new ProcessBuilder(launcher, "serve").inheritIO();
        int port = freePort();
        var uri = URI.create("http://127.0.0.1:" + port);
        builder.environment().put("SAGEMAKER_BIND_TO_PORT", String.valueOf(port));
        builder.environment().put("JAVA_OPTS", OPTIONS + cache);
        var server = builder.start();
        try (var client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build()) {
            awaitReady(client, uri, server);
            for (var request : REQUESTS) {
                send(client, uri, request);
            }
        } finally {
            server.destroy();
        }
        int code = server.waitFor();
        if (code != 0 || !Files.isRegularFile(cache)) {
            throw new IllegalStateException("the server ended with %d; %s was to be there".formatted(code, cache));
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static void awaitReady(HttpClient client, URI uri, Process server) throws InterruptedException {
        var ping = HttpRequest.newBuilder(uri.resolve("/ping")).build();
        while (true) {
            try {
                if (client.send(ping, BodyHandlers.discarding()).statusCode() == 200) {
                    return;
                }
            } catch (IOException e) {
                // It does not listen yet.
            }
            if (!server.isAlive()) {
                throw new IllegalStateException(
                        "the server ended with %d before it was ready".formatted(server.exitValue()));
            }
            Thread.sleep(BETWEEN_PINGS);
        }
    }

    private static void send(HttpClient client, URI uri, Request request) throws IOException, InterruptedException {
        var builder = HttpRequest.newBuilder(uri.resolve(request.path)).header("Accept", request.accept);
        if (request.body != null) {
            builder.header("Content-Type", request.contentType).POST(BodyPublishers.ofString(request.body));
        }
        var response = client.send(builder.build(), BodyHandlers.ofString());
        if (response.statusCode() != request.status) {
            throw new IllegalStateException(
                    "%s was answered with %d: %s".formatted(request, response.statusCode(), response.body()));
        }
    }
}
