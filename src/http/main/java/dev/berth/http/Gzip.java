package dev.berth.http;

import dev.berth.hooks.MediaType;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.http.HttpHeader;

/// Compresses a whole answer on its way to a client whose `Accept-Encoding` asks (RFC 9110
/// §12.5.3). Pictures and arrays are hardly shortened. Runs on the request's thread.
final class Gzip extends GZIPOutputStream {

    private static final String NAME = "gzip";

    /// What is shorter leaves in a few packets anyhow.
    private static final int LEAST = 16 << 10;

    /// It takes a core for up to 160 ms, and a virtual thread lets nobody else have that meanwhile.
    private static final int MOST = 16 << 20;

    private static final int BUFFER = 8 << 10;

    private Gzip(Context ctx) throws IOException {
        super(ctx.res().getOutputStream(), BUFFER);
        def.setLevel(Deflater.BEST_SPEED);
        ctx.header("Content-Encoding", NAME);
        ctx.header("Vary", "Accept-Encoding");
    }

    /// Ends the body. The end of the answer is left to those who log it first.
    static void send(Context ctx, byte[] body, int length) throws IOException {
        var gzip = new Gzip(ctx);
        try {
            gzip.write(body, 0, length);
            gzip.finish();
        } finally {
            gzip.def.end();
        }
    }

    static boolean pays(Context ctx, MediaType type, int length) {
        if (length < LEAST || length > MOST || !CallerText.isText(type)) {
            return false;
        }
        // The preferred one first, without those of the quality 0.
        var asked = ServletContextRequest.getServletContextRequest(ctx.req())
                .getHeaders()
                .getQualityCSV(HttpHeader.ACCEPT_ENCODING);
        int gzip = asked.indexOf(NAME);
        int identity = asked.indexOf("identity");
        return gzip >= 0 && (identity < 0 || gzip < identity);
    }
}
