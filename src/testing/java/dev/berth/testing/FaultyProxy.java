package dev.berth.testing;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/// A proxy of HTTP/1.1 in front of a server, on real sockets, that fails as a schedule says.
///
/// The schedule sees each request with the number of its attempt, so that what goes wrong does not
/// hang on how threads happen to run: `request -> request.attempt() == 1 ? new SlowDown() : new
/// Pass()`.
public final class FaultyProxy implements AutoCloseable {

    /// @param attempt how often this method and target have come, with this one
    public record Request(String method, String target, int attempt) {}

    /// What to do with a request.
    public sealed interface Fault {

        /// Nothing.
        record Pass() implements Fault {}

        /// The server does not see the request; S3's error comes back. A client that asks whether it
        /// may send the body (`Expect`) is told before it does, and the connection ends.
        record Answer(int status, String code) implements Fault {}

        /// The connection ends when so many bytes of the request's body have come. The server does not
        /// see it.
        record CutRequest(long bytes) implements Fault {}

        /// The server does what it is asked to, and the connection ends without an answer.
        record LoseAnswer() implements Fault {}

        /// The server does what it is asked to, and no answer comes until the client hangs up.
        record Silence() implements Fault {}

        /// The connection ends after so many bytes of the answer's body.
        record CutAnswer(long bytes) implements Fault {}

        /// Nothing comes after so many bytes of the answer's body, until the client hangs up.
        record Stall(long bytes) implements Fault {}

        /// The answer comes byte by byte.
        record Trickle() implements Fault {}

        /// What S3 says when it is asked too much.
        static Fault slowDown() {
            return new Answer(503, "SlowDown");
        }
    }

    private final URI server;
    private final Function<Request, Fault> schedule;
    private final ServerSocket listener = new ServerSocket(0, 100, InetAddress.getLoopbackAddress());
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final List<Request> requests = new CopyOnWriteArrayList<>();
    private final Map<String, Integer> attempts = new HashMap<>();

    public FaultyProxy(URI server, Function<Request, Fault> schedule) throws IOException {
        this.server = server;
        this.schedule = schedule;
        Thread.ofVirtual().start(this::accept);
    }

    public URI endpoint() {
        return URI.create("http://127.0.0.1:" + listener.getLocalPort());
    }

    /// What has come until now.
    public List<Request> requests() {
        return List.copyOf(requests);
    }

    /// The number of requests of a method.
    public long count(String method) {
        return requests.stream()
                .filter(request -> request.method.equals(method))
                .count();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (var socket : open) {
            socket.close();
        }
    }

    private void accept() {
        try {
            while (true) {
                var client = listener.accept();
                Thread.ofVirtual().start(() -> serve(client));
            }
        } catch (IOException e) {
            // Closed.
        }
    }

    private void serve(Socket client) {
        open.add(client);
        try (client;
                var upstream = new Socket(server.getHost(), server.getPort())) {
            open.add(upstream);
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
            new Exchange(client, upstream).run();
            open.remove(upstream);
        } catch (IOException e) {
            // One of them has gone, or was sent away.
        } finally {
            open.remove(client);
        }
    }

    private synchronized Request count(HttpHead head) {
        var request =
                new Request(head.word(0), head.word(1), attempts.merge(head.word(0) + head.word(1), 1, Integer::sum));
        requests.add(request);
        return request;
    }

    /// The requests of one connection, one after another.
    private final class Exchange {
        private final InputStream client;
        private final OutputStream toClient;
        private final InputStream upstream;
        private final OutputStream toUpstream;

        private Exchange(Socket client, Socket upstream) throws IOException {
            this.client = new BufferedInputStream(client.getInputStream());
            this.toClient = client.getOutputStream();
            this.upstream = new BufferedInputStream(upstream.getInputStream());
            this.toUpstream = upstream.getOutputStream();
        }

        private void run() throws IOException {
            for (var head = HttpHead.read(client); head != null && pass(head); ) {
                head = HttpHead.read(client);
            }
        }

        /// False: the connection is to end.
        private boolean pass(HttpHead head) throws IOException {
            var fault = schedule.apply(count(head));
            boolean expects = head.header("Expect").isPresent();
            if (fault instanceof Fault.Answer answer) {
                if (!expects) {
                    client.skipNBytes(head.contentLength());
                }
                answer(answer, head, toClient);
                return !expects;
            }
            if (expects) {
                toClient.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            }
            if (fault instanceof Fault.CutRequest cut) {
                client.skipNBytes(Math.min(cut.bytes, head.contentLength()));
                return false;
            }
            head.without("Expect").write(toUpstream);
            HttpBody.copy(client, toUpstream, head.contentLength());
            var answer = HttpHead.read(upstream);
            return relay(fault, answer, HttpBody.of(head, answer, upstream));
        }

        private boolean relay(Fault fault, HttpHead head, byte[] body) throws IOException {
            if (fault instanceof Fault.LoseAnswer) {
                return false;
            }
            if (fault instanceof Fault.Silence) {
                return client.read() >= 0;
            }
            head.write(toClient);
            switch (fault) {
                case Fault.CutAnswer cut -> {
                    toClient.write(body, 0, (int) Math.min(cut.bytes, body.length));
                    return body.length <= cut.bytes;
                }
                case Fault.Stall stall -> {
                    toClient.write(body, 0, (int) Math.min(stall.bytes, body.length));
                    return body.length <= stall.bytes || client.read() >= 0;
                }
                case Fault.Trickle _ -> {
                    for (byte value : body) {
                        toClient.write(value);
                    }
                }
                case Fault.Pass _, Fault.Answer _, Fault.CutRequest _, Fault.LoseAnswer _, Fault.Silence _ ->
                    toClient.write(body);
            }
            return true;
        }
    }

    private static void answer(Fault.Answer answer, HttpHead request, OutputStream out) throws IOException {
        var body = "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>as scheduled</Message></Error>"
                .formatted(answer.code);
        out.write("HTTP/1.1 %d Fault\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n%s"
                .formatted(answer.status, body.length(), request.word(0).equals("HEAD") ? "" : body)
                .getBytes(StandardCharsets.ISO_8859_1));
    }
}
