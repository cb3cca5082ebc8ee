package dev.berth.http;

import dev.berth.hooks.MediaType;
import io.javalin.http.Context;
import java.io.IOException;
import java.util.zip.Deflater;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.http.HttpHeader;

/// Compresses whole answers with gzip, for clients whose `Accept-Encoding` asks (RFC 9110 §12.5.3).
/// Parts are sent as they come, and pictures and arrays are hardly shortened. Runs on the request's
/// thread.
final class Compression {

  private static final String GZIP = "gzip";

  /// What is shorter leaves in a few packets anyhow.
  private static final int LEAST = 16 << 10;

  /// 16 MiB of JSON take a core for a tenth of a second. A virtual thread lets nobody else have it
  /// meanwhile.
  private static final int MOST = 16 << 20;

  private static final int BUFFER = 8 << 10;

  private Compression() {}

  static boolean pays(Context ctx, MediaType type, long length) {
    if (length < LEAST || length > MOST || !Text.isText(type)) {
      return false;
    }
    // The preferred one first. What has the quality 0 is not among them.
    var asked =
        ServletContextRequest.getServletContextRequest(ctx.req())
            .getHeaders()
            .getQualityCSV(HttpHeader.ACCEPT_ENCODING);
    int gzip = asked.indexOf(GZIP);
    int identity = asked.indexOf("identity");
    return gzip >= 0 && (identity < 0 || gzip < identity);
  }

  /// An answer's bytes on their way to the client.
  static final class Gzip extends GZIPOutputStream {

    Gzip(Context ctx) throws IOException {
      super(ctx.res().getOutputStream(), BUFFER);
      def.setLevel(Deflater.BEST_SPEED);
      ctx.header("Content-Encoding", GZIP);
      ctx.header("Vary", "Accept-Encoding");
    }

    /// Ends the body, and leaves the end of the answer to those who log it first.
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
