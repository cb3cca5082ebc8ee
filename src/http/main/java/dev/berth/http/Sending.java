package dev.berth.http;

import io.javalin.http.Context;
import java.io.IOException;
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

    /// @param length of the body, which may be less than there is
    /// @param packs whether it is compressed on its way
    static void send(Context ctx, byte[] body, int length, boolean packs) {
        try {
            if (packs) {
                Gzip.send(ctx, body, length);
            } else {
                ctx.res().setContentLengthLong(length);
                ctx.res().getOutputStream().write(body, 0, length);
            }
        } catch (IOException e) {
            gone(e);
        }
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
}
