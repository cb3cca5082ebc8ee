package dev.berth.conformance;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/// One connection to a server, in HTTP/1.1. The JDK's client opens and shares connections as it
/// likes, and some rows ask what happens on one. For use by one thread.
final class Connection implements AutoCloseable {

    private static final int LARGE = 1 << 16;

    private static final int LONGEST_HEAD = 1 << 20;

    private final Socket socket;
    private final InputStream in;
    private boolean reusable = true;

    /// @param tls what encrypts it; null for plain HTTP
    Connection(String host, int port, SSLSocketFactory tls, Duration timeout) throws IOException {
        var plain = new Socket();
        try {
            plain.connect(new InetSocketAddress(host, port), millis(timeout));
            plain.setSoTimeout(millis(timeout));
            plain.setTcpNoDelay(true);
            socket = tls == null ? plain : encrypted(plain, host, port, tls);
            in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException e) {
            plain.close();
            throw e;
        }
    }

    private static Socket encrypted(Socket plain, String host, int port, SSLSocketFactory tls) throws IOException {
        var encrypted = (SSLSocket) tls.createSocket(plain, host, port, true);
        var parameters = encrypted.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        encrypted.setSSLParameters(parameters);
        encrypted.startHandshake();
        return encrypted;
    }

    /// Sends one request and reads its answer.
    Answer exchange(Request request, String target, List<String> headers, Duration timeout) throws IOException {
        var head = request.head(target, headers);
        var body = request.framedBody();
        if (body.length <= LARGE) {
            write(head, body);
            return read(timeout, request.method());
        }
        // A server may answer before it has read a large body, or while it reads it.
        var failure = new IOException[1];
        var writer = new Thread(() -> {
            try {
                write(head, body);
            } catch (IOException e) {
                failure[0] = e;
            }
        });
        writer.setDaemon(true);
        writer.start();
        var answer = read(timeout, request.method());
        // What is not sent by now would be the beginning of the next request.
        reusable &= !writer.isAlive() && failure[0] == null;
        return answer;
    }

    void write(byte[]... parts) throws IOException {
        var all = new ByteArrayOutputStream();
        for (var part : parts) {
            all.writeBytes(part);
        }
        all.writeTo(socket.getOutputStream());
        socket.getOutputStream().flush();
    }

    /// Reads the answer to one request, without those of 1xx that may come before it.
    ///
    /// @throws EOFException if the connection ends before the answer does
    /// @throws SocketTimeoutException if the answer takes longer
    Answer read(Duration timeout, String method) throws IOException {
        var answer = readAny(timeout, method);
        while (answer.status() / 100 == 1) {
            answer = readAny(timeout, method);
        }
        return answer;
    }

    /// Reads an answer, which may be one of 1xx.
    Answer readAny(Duration timeout, String method) throws IOException {
        long start = System.nanoTime();
        long end = start + timeout.toNanos();
        var status = line(end);
        if (!status.matches("HTTP/1\\.[01] \\d{3}( .*)?")) {
            throw new IOException("no HTTP/1.1: " + status);
        }
        int code = Integer.parseInt(status.substring(9, 12));
        var headers = new ArrayList<String>();
        for (var line = line(end); !line.isEmpty(); line = line(end)) {
            int colon = line.indexOf(':');
            if (colon <= 0) {
                throw new IOException("a header without a colon: " + line);
            }
            headers.add(line.substring(0, colon));
            headers.add(line.substring(colon + 1).strip());
        }
        var answer = new Answer(code, headers, new byte[0], Duration.ZERO);
        if (code / 100 == 1) {
            return answer;
        }
        var connection = answer.header("Connection").toLowerCase(java.util.Locale.ROOT);
        reusable &= status.startsWith("HTTP/1.1") ? !connection.contains("close") : connection.equals("keep-alive");
        var body = body(answer, method, end);
        return new Answer(code, headers, body, Duration.ofNanos(System.nanoTime() - start));
    }

    private byte[] body(Answer answer, String method, long end) throws IOException {
        if (method.equals("HEAD") || answer.status() == 204 || answer.status() == 304) {
            return new byte[0];
        }
        if (answer.header("Transfer-Encoding").equalsIgnoreCase("chunked")) {
            return chunks(end);
        }
        var length = answer.header("Content-Length");
        if (!length.isEmpty()) {
            return bytes(Long.parseLong(length), end);
        }
        reusable = false;
        var all = new ByteArrayOutputStream();
        for (int b = next(end); b >= 0; b = next(end)) {
            all.write(b);
        }
        return all.toByteArray();
    }

    private byte[] chunks(long end) throws IOException {
        var all = new ByteArrayOutputStream();
        while (true) {
            var size = line(end).split(";")[0].strip();
            int length = Integer.parseInt(size, 16);
            all.writeBytes(bytes(length, end));
            if (length > 0) {
                line(end);
                continue;
            }
            while (!line(end).isEmpty()) {
                // Trailers say nothing that a row asks for.
            }
            return all.toByteArray();
        }
    }

    private byte[] bytes(long length, long end) throws IOException {
        var all = new ByteArrayOutputStream();
        var part = new byte[LARGE];
        while (all.size() < length) {
            await(end);
            int read = in.read(part, 0, (int) Math.min(part.length, length - all.size()));
            if (read < 0) {
                throw new EOFException("the connection closed within an answer");
            }
            all.write(part, 0, read);
        }
        return all.toByteArray();
    }

    private String line(long end) throws IOException {
        var line = new ByteArrayOutputStream();
        for (int b = next(end); b != '\n'; b = next(end)) {
            if (b < 0 || line.size() > LONGEST_HEAD) {
                throw new EOFException("the connection closed without an answer");
            }
            line.write(b);
        }
        return line.toString(StandardCharsets.UTF_8).stripTrailing();
    }

    private int next(long end) throws IOException {
        await(end);
        return in.read();
    }

    /// Gives the next read what is left of the time.
    private void await(long end) throws IOException {
        if (in.available() > 0) {
            return;
        }
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
            throw new SocketTimeoutException("no answer in time");
        }
        socket.setSoTimeout((int) Math.min(left, Integer.MAX_VALUE));
    }

    /// Whether the server closes it within some time.
    boolean closesWithin(Duration timeout) {
        long end = System.nanoTime() + timeout.toNanos();
        try {
            while (next(end) >= 0) {
                // What still comes is of no interest.
            }
            return true;
        } catch (SocketTimeoutException e) {
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /// Whether another request may follow on it, as far as the server said.
    boolean isReusable() {
        return reusable;
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            // It is of no more use either way.
        }
    }

    private static int millis(Duration timeout) {
        return (int) Math.min(Math.max(timeout.toMillis(), 1), Integer.MAX_VALUE);
    }
}
