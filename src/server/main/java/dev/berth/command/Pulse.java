package dev.berth.command;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks the `/ping` of its own process, and ends the process when there is no answer, whatever it
/// is. So a listener that has died, or a heap without any room, is never silent: the platform sees
/// an end, and starts another. Where others crowd the port, it asks on a way that they can't fill.
/// A stop, whose last steps come when the port is closed, is bounded by [OrderlyStop]. Runs on one
/// thread.
final class Pulse {

    private static final Logger log = LoggerFactory.getLogger(Pulse.class);

    private static final Duration INTERVAL = Duration.ofSeconds(2);
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    /// One alone may be a process that was stopped and goes on.
    private static final int MISSES = 3;

    private static final byte[] PING = "GET /ping HTTP/1.0\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

    private final InetSocketAddress address;
    private final Server server;
    private final OrderlyStop stop;

    private final Thread lastWords =
            Thread.ofPlatform().name("berth-pulse").daemon().unstarted(Pulse::sayLastWords);

    Pulse(String host, Server server, OrderlyStop stop) {
        this.address = new InetSocketAddress(host, server.port());
        this.server = server;
        this.stop = stop;
    }

    /// @return the exit code
    int watch() throws InterruptedException {
        int misses = 0;
        while (misses < MISSES) {
            Thread.sleep(INTERVAL);
            misses = stop.hasBegun() || answers() || server.worksInside(PATIENCE) ? 0 : misses + 1;
        }
        return OrderlyStop.force(lastWords);
    }

    private boolean answers() {
        try (var socket = new Socket()) {
            int millis = (int) PATIENCE.toMillis();
            socket.connect(address, millis);
            socket.setSoTimeout(millis);
            socket.getOutputStream().write(PING);
            return socket.getInputStream().read() >= 0;
        } catch (IOException | Error _) {
            return false;
        }
    }

    private static void sayLastWords() {
        log.error("/ping had no answer {} times, each within {} s, so the process ends", MISSES, PATIENCE.toSeconds());
        Logging.flush();
    }
}
