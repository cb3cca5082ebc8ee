package dev.berth.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/// A socket to a server, for what no HTTP client will send.
public final class RawConnection implements AutoCloseable {

    private final Socket socket;
    private final InputStream in;
    private final OutputStream out;

    public RawConnection(int port) throws IOException {
        this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
        this.in = socket.getInputStream();
        this.out = socket.getOutputStream();
        socket.setSoTimeout((int) Patience.limit().toMillis());
    }

    public RawConnection send(String text) throws IOException {
        return send(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    public RawConnection send(byte[] bytes) throws IOException {
        out.write(bytes);
        out.flush();
        return this;
    }

    public Socket socket() {
        return socket;
    }

    /// The next line without its end, or null where the server closed the connection.
    public String readLine() throws IOException {
        var line = new ByteArrayOutputStream();
        int b;
        while ((b = in.read()) >= 0 && b != '\n') {
            line.write(b);
        }
        return b < 0 && line.size() == 0
                ? null
                : line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
    }

    /// Everything until the server closes the connection.
    public String readAll() throws IOException {
        return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }

    /// One response with a Content-Length: status line, headers and body.
    public String readResponse() throws IOException {
        var head = new StringBuilder();
        int length = 0;
        for (var line = readLine(); line != null && !line.isEmpty(); line = readLine()) {
            head.append(line).append('\n');
            if (line.toLowerCase(Locale.ROOT).startsWith("content-length:")) {
                length = Integer.parseInt(line.substring(15).strip());
            }
        }
        return head + "\n" + new String(in.readNBytes(length), StandardCharsets.UTF_8);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
