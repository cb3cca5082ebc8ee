package dev.berth.conformance;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLContext;

/// Sends requests below one URL and keeps connections for the next ones. Safe for use by many
/// threads.
final class Client {

    private static final Duration CONNECT = Duration.ofSeconds(10);

    private final URI base;
    private final SSLContext tls;
    private final List<String> headers;
    private final Duration timeout;
    private final Deque<Connection> idle = new ConcurrentLinkedDeque<>();
    private final Executor threads = Executors.newCachedThreadPool(task -> {
        var thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    /// @param base its path stands before that of each request
    /// @param headers of every request: names and values in turn
    /// @param timeout of one request
    Client(URI base, SSLContext tls, List<String> headers, Duration timeout) {
        this.base = base;
        this.tls = tls;
        this.timeout = timeout;
        this.headers = new ArrayList<>();
        if (headers.stream().noneMatch("Host"::equalsIgnoreCase)) {
            this.headers.addAll(List.of("Host", base.getHost() + (base.getPort() < 0 ? "" : ":" + base.getPort())));
        }
        this.headers.addAll(headers);
    }

    /// Asks once more, on a new connection, where the connection breaks: a server may close it behind
    /// an answer, while this request is on its way.
    Answer send(Request request) throws IOException {
        var kept = idle.pollFirst();
        try {
            return send(request, kept == null ? connect() : kept);
        } catch (SocketTimeoutException e) {
            throw e;
        } catch (IOException e) {
            return send(request, connect());
        }
    }

    private Answer send(Request request, Connection connection) throws IOException {
        Answer answer;
        try {
            answer = exchange(connection, request);
        } catch (IOException | RuntimeException e) {
            connection.close();
            throw e;
        }
        if (connection.isReusable()) {
            idle.addFirst(connection);
        } else {
            connection.close();
        }
        return answer;
    }

    CompletableFuture<Answer> sendAsync(Request request) {
        return CompletableFuture.supplyAsync(
                () -> {
                    try {
                        return send(request);
                    } catch (IOException e) {
                        throw new CompletionException(e);
                    }
                },
                threads);
    }

    Connection connect() throws IOException {
        int port = base.getPort() >= 0 ? base.getPort() : tls == null ? 80 : 443;
        return new Connection(base.getHost(), port, tls == null ? null : tls.getSocketFactory(), CONNECT);
    }

    /// Sends a request on a connection, once.
    Answer exchange(Connection connection, Request request) throws IOException {
        long start = System.nanoTime();
        var answer = connection.exchange(request, target(request.path()), headers, timeout);
        return new Answer(
                answer.status(), answer.headers(), answer.body(), Duration.ofNanos(System.nanoTime() - start));
    }

    /// The bytes of a request line and headers, for what is sent in parts.
    byte[] head(Request request) {
        return request.head(target(request.path()), headers);
    }

    private String target(String path) {
        var before = base.getRawPath() == null ? "" : base.getRawPath();
        return (before.endsWith("/") ? before.substring(0, before.length() - 1) : before) + path;
    }
}
