package dev.berth.columnar;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Collectors;

/// A container that answers each line of JSON with the length of its text. It rejects requests with
/// a text `bad`, and forgets to answer the text `lost`, and answers `twice` with two values.
final class EchoContainer implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final HttpServer server;
    private final List<String> requests = new CopyOnWriteArrayList<>();
    private volatile boolean forgets = true;

    EchoContainer() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/ping", exchange -> answer(exchange, 200, ""));
        server.createContext("/execution-parameters", exchange -> answer(exchange, 404, ""));
        server.createContext("/invocations", this::invoke);
        server.start();
    }

    URI endpoint() {
        return URI.create("http://127.0.0.1:%d".formatted(server.getAddress().getPort()));
    }

    /// Has it answer `lost` from now on.
    void remember() {
        forgets = false;
    }

    /// The types and bodies that were sent.
    List<String> requests() {
        return requests;
    }

    private void invoke(HttpExchange exchange) throws IOException {
        var body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
        requests.add(exchange.getRequestHeaders().getFirst("Content-Type") + " " + body);
        if (body.contains("\"bad\"")) {
            answer(exchange, 400, "found bad");
            return;
        }
        answer(
                exchange,
                200,
                body.lines()
                        .filter(line -> !forgets || !line.contains("\"lost\""))
                        .map(EchoContainer::answer)
                        .collect(Collectors.joining("\n")));
    }

    private static String answer(String line) {
        try {
            var text = JSON.readTree(line).path("text").asText();
            var answer = "{\"length\":%d}".formatted(text.length());
            return text.equals("twice") ? answer + answer : answer;
        } catch (IOException _) {
            return "{\"length\":null}";
        }
    }

    private static void answer(HttpExchange exchange, int status, String body) throws IOException {
        var bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "application/jsonlines");
        exchange.sendResponseHeaders(status, bytes.length == 0 ? -1 : bytes.length);
        exchange.getResponseBody().write(bytes);
        exchange.close();
    }

    @Override
    public void close() {
        server.stop(0);
    }
}
