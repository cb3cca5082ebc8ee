package dev.berth.reliability;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/// One connection that sends any bytes and reads responses strictly: what is not HTTP/1.1 is an
/// error. `java.net.http` can neither send broken requests nor show what exactly came back. Used by
/// one thread.
final class Wire implements AutoCloseable {

    private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 ([1-5]\\d\\d)( [ -~]*)?");
    private static final Pattern FIELD = Pattern.compile("([!#$%&'*+.^_`|~0-9A-Za-z-]+): ?([ -~\\t]*)");
    private static final int LONGEST_LINE = 64 * 1024;

    /// A response.
    record Answer(int status, Map<String, String> headers, byte[] body) {
        String text() {
            return new String(body, StandardCharsets.UTF_8);
        }

        /// Whether the server asks to come again.
        boolean isRefusal() {
            return status == 503 || status == 429;
        }

        boolean closes() {
            return "close".equalsIgnoreCase(headers.get("connection"));
        }
    }

    /// Something came back that is no HTTP/1.1 response.
    static final class Malformed extends IOException {
        private static final long serialVersionUID = 1;

        Malformed(String message) {
            super(message);
        }
    }

    private final Socket socket;
    private final InputStream in;

    /// @param socket that is connected
    Wire(Socket socket) throws IOException {
        this.socket = socket;
        try {
            socket.setTcpNoDelay(true);
            // Closes with a reset, or the client would run out of ports: 28,000 wait for a minute each.
            socket.setSoLinger(true, 0);
            this.in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /// Sends a request and reads its response.
    Answer ask(byte[] request) throws IOException {
        try {
            send(request);
        } catch (IOException e) {
            // The server may have answered and closed before it has read everything.
            return answer(true);
        }
        return answer(!isHead(request));
    }

    void send(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /// Waits until a response begins or the time is over, for a request that may have no end.
    void awaitAnswer(Duration time) throws IOException {
        int patience = socket.getSoTimeout();
        socket.setSoTimeout((int) time.toMillis());
        in.mark(1);
        try {
            if (in.read() >= 0) {
                in.reset();
            }
        } catch (SocketTimeoutException e) {
            // It has none yet.
        } finally {
            socket.setSoTimeout(patience);
        }
    }

    /// Tells the server that nothing more comes. Responses may still be read.
    void endOutput() throws IOException {
        socket.shutdownOutput();
    }

    /// All responses until the server closes the connection.
    ///
    /// @param isHead whether the request looks like one of HEAD. A broken one is answered with a
    ///   body, so only the head of the first response is read.
    List<Answer> answersUntilClosed(boolean isHead) throws IOException {
        var answers = new ArrayList<Answer>();
        while (!hasEnded()) {
            answers.add(answer(!isHead));
            if (isHead) {
                return answers;
            }
        }
        return answers;
    }

    static boolean isHead(byte[] request) {
        return request.length > 4 && new String(request, 0, 4, StandardCharsets.ISO_8859_1).equalsIgnoreCase("HEAD");
    }

    private boolean hasEnded() throws IOException {
        in.mark(1);
        try {
            if (in.read() < 0) {
                return true;
            }
        } catch (java.net.SocketException e) {
            // A reset, because the server had unread bytes when it closed.
            return true;
        }
        in.reset();
        return false;
    }

    /// The next response that is final; those of 100 and the like are skipped.
    private Answer answer(boolean hasBody) throws IOException {
        while (true) {
            var statusLine = line();
            var matcher = STATUS.matcher(statusLine);
            if (!matcher.matches()) {
                throw new Malformed("status line: found " + quoted(statusLine));
            }
            int status = Integer.parseInt(matcher.group(1));
            var headers = headers();
            if (status >= 200) {
                return new Answer(
                        status, headers, hasBody && status != 204 && status != 304 ? body(headers) : new byte[0]);
            }
        }
    }

    private Map<String, String> headers() throws IOException {
        var headers = new HashMap<String, String>();
        for (var line = line(); !line.isEmpty(); line = line()) {
            var matcher = FIELD.matcher(line);
            if (!matcher.matches()) {
                throw new Malformed("header: found " + quoted(line));
            }
            headers.put(
                    matcher.group(1).toLowerCase(Locale.ROOT), matcher.group(2).strip());
        }
        return headers;
    }

    private byte[] body(Map<String, String> headers) throws IOException {
        var length = headers.get("content-length");
        if (length != null) {
            return exactly(Integer.parseInt(length));
        }
        if ("chunked".equals(headers.get("transfer-encoding"))) {
            var body = new ByteArrayOutputStream();
            for (int size = chunkSize(); size > 0; size = chunkSize()) {
                body.writeBytes(exactly(size));
                if (!line().isEmpty()) {
                    throw new Malformed("chunk: it does not end where its size says");
                }
            }
            headers();
            return body.toByteArray();
        }
        return in.readAllBytes();
    }

    private int chunkSize() throws IOException {
        var line = line();
        try {
            return Integer.parseInt(line, 16);
        } catch (NumberFormatException e) {
            throw new Malformed("chunk size: found " + quoted(line));
        }
    }

    private byte[] exactly(int length) throws IOException {
        var bytes = in.readNBytes(length);
        if (bytes.length < length) {
            throw new Malformed("body: found %d bytes, expected %d".formatted(bytes.length, length));
        }
        return bytes;
    }

    private String line() throws IOException {
        var line = new ByteArrayOutputStream(64);
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw line.size() == 0
                        ? new IOException("the connection ended without a response")
                        : new Malformed(
                                "the connection ended within " + quoted(line.toString(StandardCharsets.ISO_8859_1)));
            }
            if (line.size() == LONGEST_LINE) {
                throw new Malformed("found a line of more than %d bytes".formatted(LONGEST_LINE));
            }
            line.write(next);
        }
        var text = line.toString(StandardCharsets.ISO_8859_1);
        if (!text.endsWith("\r")) {
            throw new Malformed("line end: found " + quoted(text));
        }
        return text.substring(0, text.length() - 1);
    }

    private static String quoted(String text) {
        return '"' + text.substring(0, Math.min(100, text.length())).replaceAll("[^ -~]", "?") + '"';
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
