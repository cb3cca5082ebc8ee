package dev.berth.http;

import dev.berth.http.connections.Pace;
import dev.berth.metrics.ServingMetrics;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/// Answers with the metrics. It costs as much as a prediction, so clients that ask too often get the
/// last answer once more. They share its bytes, of which many may wait to be taken.
final class Scrapes implements Handler {

    /// To write the metrics takes about two thousandths of a second, and may take a tenth of the
    /// cores.
    private static final long NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final Pace pace = new Pace(NANOS);
    private final ServingMetrics metrics;

    // Guarded by this.
    private byte[] last = {};

    Scrapes(ServingMetrics metrics) {
        this.metrics = metrics;
    }

    @Override
    public void handle(Context ctx) {
        synchronized (this) {
            if (last.length == 0 || pace.isTurn(NANOS)) {
                last = metrics.scrape().getBytes(StandardCharsets.UTF_8);
            }
            ctx.contentType(ServingMetrics.CONTENT_TYPE).result(last);
        }
    }
}
