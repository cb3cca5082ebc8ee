package dev.berth.http;

import io.javalin.http.Context;
import java.io.IOException;
import java.io.OutputStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends bodies. Javalin's own way copies each through a stream, piece by piece. Runs on the
/// request's thread.
public final class Sending {

    private static final Logger log = LoggerFactory.getLogger(Sending.class);

    private Sending() {}

    public static void send(Context ctx, byte[] body) {
        send(ctx, body, body.length, false);
    }

    /// For an answer that has trailers behind it.
    public static void sendUnmeasured(Context ctx, byte[] body) {
        try {
            ctx.res().getOutputStream().write(body);
        } catch (IOException e) {
            gone(e);
        }
    }

    private static void gone(IOException e) {
        log.info("the caller has gone before its answer was sent: {}", e.toString());
    }

    /// @param newline whether one follows
    static void send(Context ctx, byte[] body, int length, boolean newline) {
        ctx.res().setContentLengthLong(length + (newline ? 1L : 0));
        try {
            write(ctx.res().getOutputStream(), body, length, newline);
        } catch (IOException e) {
            gone(e);
        }
    }

    static void sendGzip(Context ctx, byte[] body, int length, boolean newline) {
        try (var output = new Gzip(ctx)) {
            write(output, body, length, newline);
        } catch (IOException e) {
            gone(e);
        }
    }

    private static void write(OutputStream output, byte[] body, int length, boolean newline) throws IOException {
        output.write(body, 0, length);
        if (newline) {
            output.write('\n');
        }
    }
}
