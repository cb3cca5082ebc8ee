package dev.berth.testing;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// A WebSocket frame by frame (RFC 6455), for what no client will send, and to see each frame that
/// comes.
public final class RawSocket implements AutoCloseable {

    public static final int CONTINUATION = 0;
    public static final int TEXT = 1;
    public static final int BINARY = 2;
    public static final int CLOSE = 8;
    public static final int PING = 9;
    public static final int PONG = 10;

    /// A frame from the server.
    public record Frame(boolean last, int opcode, byte[] payload) {

        public String text() {
            return new String(payload, StandardCharsets.UTF_8);
        }

        /// Of a close frame.
        public int code() {
            return ByteBuffer.wrap(payload).getShort() & 0xffff;
        }

        /// Of a close frame.
        public String reason() {
            return new String(payload, 2, payload.length - 2, StandardCharsets.UTF_8);
        }
    }

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final String head;

    private RawSocket(int port, String path, String... headers) throws IOException {
        this.socket = new Socket(InetAddress.getLoopbackAddress(), port);
        this.in = new DataInputStream(socket.getInputStream());
        this.out = socket.getOutputStream();
        socket.setSoTimeout((int) Patience.limit().toMillis());
        var request = new StringBuilder("""
        GET %s HTTP/1.1\r
        Upgrade: websocket\r
        Connection: Upgrade\r
        Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
        Sec-WebSocket-Version: 13\r
        """.formatted(path));
        if (!List.of(headers).contains("Host")) {
            request.append("Host: localhost\r\n");
        }
        for (int i = 0; i < headers.length; i += 2) {
            request.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
        }
        out.write(request.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
        this.head = readHead();
    }

    /// @param headers name, value, name, value, …
    public static RawSocket open(int port, String path, String... headers) throws IOException {
        return new RawSocket(port, path, headers);
    }

    private String readHead() throws IOException {
        var text = new StringBuilder();
        while (!text.toString().endsWith("\r\n\r\n")) {
            text.append((char) in.readUnsignedByte());
        }
        return text.toString();
    }

    /// The response to the handshake, without a body.
    public String head() {
        return head;
    }

    /// The rest of a response that is no 101.
    public String body() throws IOException {
        int length = Integer.parseInt(
                head.toLowerCase(Locale.ROOT).split("content-length: ")[1].split("\r\n")[0]);
        return new String(in.readNBytes(length), StandardCharsets.UTF_8);
    }

    public RawSocket text(String text) throws IOException {
        return frame(true, TEXT, text.getBytes(StandardCharsets.UTF_8));
    }

    public RawSocket frame(boolean last, int opcode, byte[] payload) throws IOException {
        var frame = ByteBuffer.allocate(payload.length + 14);
        frame.put((byte) ((last ? 0x80 : 0) | opcode));
        if (payload.length < 126) {
            frame.put((byte) (0x80 | payload.length));
        } else if (payload.length < 1 << 16) {
            frame.put((byte) (0x80 | 126)).putShort((short) payload.length);
        } else {
            frame.put((byte) (0x80 | 127)).putLong(payload.length);
        }
        // A mask of zeros leaves the payload as it is.
        frame.putInt(0).put(payload);
        return send(Arrays.copyOf(frame.array(), frame.position()));
    }

    public RawSocket send(byte... bytes) throws IOException {
        out.write(bytes);
        out.flush();
        return this;
    }

    /// The next frame.
    public Frame read() throws IOException {
        int first = in.readUnsignedByte();
        long length = in.readUnsignedByte();
        if (length == 126) {
            length = in.readUnsignedShort();
        } else if (length == 127) {
            length = in.readLong();
        }
        return new Frame((first & 0x80) != 0, first & 0x0f, in.readNBytes((int) length));
    }

    public Socket socket() {
        return socket;
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
