package dev.berth.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/// The bytes behind a head, as they are on the wire.
final class HttpBody {

    private static final int NO_CONTENT = 204;
    private static final int NOT_MODIFIED = 304;

    private HttpBody() {}

    /// The body of a response, with the sizes of its chunks where it comes in chunks.
    static byte[] of(HttpHead request, HttpHead response, InputStream in) throws IOException {
        int status = Integer.parseInt(response.word(1));
        var body = new ByteArrayOutputStream();
        if (request.word(0).equals("HEAD") || status == NO_CONTENT || status == NOT_MODIFIED) {
            return body.toByteArray();
        }
        if (response.header("Transfer-Encoding").isEmpty()) {
            copy(in, body, response.contentLength());
            return body.toByteArray();
        }
        int length;
        do {
            var line = line(in);
            length = Integer.parseInt(line.strip(), 16);
            body.writeBytes(line.getBytes());
            copy(in, body, length + 2L);
        } while (length > 0);
        return body.toByteArray();
    }

    static void copy(InputStream from, OutputStream to, long length) throws IOException {
        var buffer = new byte[1 << 14];
        long left = length;
        while (left > 0) {
            int count = from.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (count < 0) {
                throw new IOException("ended early");
            }
            to.write(buffer, 0, count);
            left -= count;
        }
    }

    private static String line(InputStream in) throws IOException {
        var line = new StringBuilder();
        while (line.indexOf("\n") < 0) {
            int value = in.read();
            if (value < 0) {
                throw new IOException("ended early");
            }
            line.append((char) value);
        }
        return line.toString();
    }
}
