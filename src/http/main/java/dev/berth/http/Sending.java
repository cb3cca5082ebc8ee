package dev.berth.http;

import dev.berth.config.HttpConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.ServingConfig;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.http.HttpHeader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Sends bodies. Javalin's own way copies each through a stream, piece by piece. Runs on the
/// request's thread.
public final class Sending {

    private static final Logger log = LoggerFactory.getLogger(Sending.class);

    private static final List<MediaType> LINES = List.of(MediaType.JSON_LINES, MediaType.CSV);
    private static final String GZIP = "gzip";

    /// What is shorter leaves in a few packets anyhow.
    private static final int LEAST_PACKED = 16 << 10;

    /// It takes a core for up to 160 ms, and a virtual thread lets nobody else have that meanwhile.
    private static final int MOST_PACKED = 16 << 20;

    private static final int BUFFER = 8 << 10;

    private Sending() {}

    public static void send(Context ctx, byte[] body) {
        send(ctx, body, body.length);
    }

    /// Sends what a model answers.
    ///
    /// A body of lines ends without the newline of its last row, because AssembleWith=Line adds one
    /// after each response, or with it where mini-batches are joined as they are. Any other newline
    /// ends a row, be it blank.
    static void send(Context ctx, InvocationResponse response, ServerConfig config) {
        response.customAttributes().ifPresent(value -> ctx.header(Headers.CUSTOM_ATTRIBUTES, value));
        ctx.contentType(response.contentType().toString());
        var body = response.body();
        int length = body.length;
        if (LINES.contains(response.contentType().withoutParameters()) && length > 0) {
            boolean isEnded = body[length - 1] == '\n';
            if (!config.get(ServingConfig.TRAILING_NEWLINE)) {
                length -= !isEnded ? 0 : length > 1 && body[length - 2] == '\r' ? 2 : 1;
            } else if (!isEnded) {
                body = Arrays.copyOf(body, ++length);
                body[length - 1] = '\n';
            }
        }
        if (config.get(HttpConfig.COMPRESSION) && packs(ctx, response.contentType(), length)) {
            pack(ctx, body, length);
        } else {
            send(ctx, body, length);
        }
    }

    private static void send(Context ctx, byte[] body, int length) {
        ctx.res().setContentLengthLong(length);
        write(ctx, body, length);
    }

    /// For an answer that has trailers behind it.
    public static void sendUnmeasured(Context ctx, byte[] body) {
        write(ctx, body, body.length);
    }

    private static void write(Context ctx, byte[] body, int length) {
        try {
            ctx.res().getOutputStream().write(body, 0, length);
        } catch (IOException e) {
            gone(e);
        }
    }

    private static void gone(IOException e) {
        log.info("the caller has gone before its answer was sent: {}", e.toString());
    }

    /// Whether an answer is compressed on its way, as `Accept-Encoding` asks (RFC 9110 §12.5.3).
    /// Pictures and arrays are hardly shortened.
    private static boolean packs(Context ctx, MediaType type, int length) {
        if (length < LEAST_PACKED || length > MOST_PACKED || !CallerText.isText(type)) {
            return false;
        }
        // The preferred one first, without those of the quality 0.
        var asked = ServletContextRequest.getServletContextRequest(ctx.req())
                .getHeaders()
                .getQualityCSV(HttpHeader.ACCEPT_ENCODING);
        int gzip = asked.indexOf(GZIP);
        int identity = asked.indexOf("identity");
        return gzip >= 0 && (identity < 0 || gzip < identity);
    }

    /// Ends the body. The end of the answer is left to those who log it first.
    private static void pack(Context ctx, byte[] body, int length) {
        ctx.header("Content-Encoding", GZIP);
        ctx.header("Vary", "Accept-Encoding");
        try (var gzip = new Gzip(ctx)) {
            gzip.write(body, 0, length);
        } catch (IOException e) {
            gone(e);
        }
    }

    private static final class Gzip extends GZIPOutputStream {
        private Gzip(Context ctx) throws IOException {
            super(ctx.res().getOutputStream(), BUFFER);
            def.setLevel(Deflater.BEST_SPEED);
        }

        @Override
        public void close() throws IOException {
            try {
                finish();
            } finally {
                def.end();
            }
        }
    }
}
