package dev.berth.testing;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import javax.net.ServerSocketFactory;

/// An HTTP/1.1 server of a few lines, as careless as a test wants it: what it answers, and how it
/// treats connections, is the test's.
public final class SmallServer implements AutoCloseable {

    /// A request.
    ///
    /// @param headers by their names as they were spelled
    public record Asked(String method, String path, Map<String, String> headers, String body) {

        /// A header in any case; empty where there is none.
        public String header(String name) {
            return headers.entrySet().stream()
                    .filter(header -> header.getKey().equalsIgnoreCase(name))
                    .map(Map.Entry::getValue)
                    .findFirst()
                    .orElse("");
        }
    }

    /// An answer.
    public record Reply(int status, String type, byte[] body) {

        public Reply(int status, String type, String body) {
            this(status, type, body.getBytes(StandardCharsets.UTF_8));
        }

        public static Reply json(int status, String body) {
            return new Reply(status, "application/json", body);
        }
    }

    /// What it answers.
    @FunctionalInterface
    public interface Handler {
        Reply answer(Asked asked) throws Exception;
    }

    /// How it treats connections.
    public enum Manner {
        KEEPS_CONNECTIONS,
        /// And says so.
        CLOSES_EACH,
        /// Behind an answer that says nothing of it.
        CLOSES_SILENTLY,
        SPEAKS_HTTP_1_0,
        /// Whoever wants to be told to send the body is not.
        NEVER_SAYS_100,
        /// Refuses a body by its length and waits for the next request.
        STAYS_OPEN_BEHIND_413,
        REFUSES_LARGE_BODIES,
        /// Lets others wait that connect.
        TAKES_20_CONNECTIONS
    }

    private static final long LARGEST = 100_000_000;

    private final Handler handler;
    private final Manner manner;
    private final ServerSocket listener;
    private final Set<Socket> open = ConcurrentHashMap.newKeySet();
    private final Semaphore room;

    public SmallServer(Manner manner, Handler handler) throws IOException {
        this(manner, ServerSocketFactory.getDefault(), handler);
    }

    public SmallServer(Manner manner, ServerSocketFactory factory, Handler handler) throws IOException {
        this.manner = manner;
        this.handler = handler;
        this.room = new Semaphore(manner == Manner.TAKES_20_CONNECTIONS ? 20 : Integer.MAX_VALUE);
        listener = factory.createServerSocket(0, 500, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::accept);
    }

    public int port() {
        return listener.getLocalPort();
    }

    public String url() {
        return "http://127.0.0.1:" + port();
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                room.acquire();
                var socket = listener.accept();
                open.add(socket);
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException | InterruptedException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            var in = new BufferedInputStream(socket.getInputStream());
            var out = socket.getOutputStream();
            while (serveOne(in, out)) {
                out.flush();
            }
        } catch (Exception e) {
            // The client left, or the test is over.
        } finally {
            open.remove(socket);
            room.release();
        }
    }

    /// @return whether another request may follow
    private boolean serveOne(InputStream in, OutputStream out) throws Exception {
        var request = line(in);
        if (request == null) {
            return false;
        }
        var words = request.split(" ");
        var headers = new LinkedHashMap<String, String>();
        for (var line = line(in); line != null && !line.isEmpty(); line = line(in)) {
            headers.put(line.split(":", 2)[0], line.split(":", 2)[1].strip());
        }
        var asked = new Asked(words[0], words[1], headers, "");
        var length = asked.header("Content-Length");
        boolean isRefused = (manner == Manner.STAYS_OPEN_BEHIND_413 || manner == Manner.REFUSES_LARGE_BODIES)
                && !length.isEmpty()
                && Long.parseLong(length) > LARGEST;
        if (isRefused) {
            boolean stays = manner == Manner.STAYS_OPEN_BEHIND_413;
            write(out, Reply.json(413, "{}"), !stays);
            return stays;
        }
        if (!asked.header("Expect").isEmpty() && manner != Manner.NEVER_SAYS_100) {
            out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        var body = body(in, asked);
        var reply = handler.answer(new Asked(words[0], words[1], headers, body));
        boolean closes =
                manner == Manner.CLOSES_EACH || asked.header("Connection").equalsIgnoreCase("close");
        write(out, reply, closes);
        return !closes && manner != Manner.CLOSES_SILENTLY && manner != Manner.SPEAKS_HTTP_1_0;
    }

    private void write(OutputStream out, Reply reply, boolean closes) throws IOException {
        var version = manner == Manner.SPEAKS_HTTP_1_0 ? "HTTP/1.0" : "HTTP/1.1";
        var head = version
                + " %d X\r\n".formatted(reply.status)
                + (reply.type.isEmpty() ? "" : "Content-Type: " + reply.type + "\r\n")
                // In HTTP/1.0 the end of the connection is that of the body.
                + (manner == Manner.SPEAKS_HTTP_1_0 ? "" : "Content-Length: " + reply.body.length + "\r\n")
                + (closes ? "Connection: close\r\n\r\n" : "\r\n");
        var all = new ByteArrayOutputStream();
        all.writeBytes(head.getBytes(StandardCharsets.UTF_8));
        all.writeBytes(reply.body);
        all.writeTo(out);
        out.flush();
    }

    private static String body(InputStream in, Asked asked) throws IOException {
        var length = asked.header("Content-Length");
        if (!length.isEmpty()) {
            return new String(
                    in.readNBytes((int) Math.min(Long.parseLong(length), Integer.MAX_VALUE)), StandardCharsets.UTF_8);
        }
        var body = new ByteArrayOutputStream();
        if (asked.header("Transfer-Encoding").equals("chunked")) {
            for (var size = line(in); size != null && !size.equals("0"); size = line(in)) {
                body.writeBytes(in.readNBytes(Integer.parseInt(size, 16)));
                line(in);
            }
            line(in);
        }
        return body.toString(StandardCharsets.UTF_8);
    }

    private static String line(InputStream in) throws IOException {
        var line = new ByteArrayOutputStream();
        int b;
        while ((b = in.read()) >= 0 && b != '\n') {
            line.write(b);
        }
        return b < 0 ? null : line.toString(StandardCharsets.UTF_8).stripTrailing();
    }

    @Override
    public void close() throws IOException {
        listener.close();
        for (var socket : open) {
            socket.close();
        }
    }
}
