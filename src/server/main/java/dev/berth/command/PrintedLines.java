package dev.berth.command;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.MDC;
import org.slf4j.event.Level;

/// Logs what hooks print to `System.out` or `System.err`, line by line and with the ids of the
/// request.
///
/// Used by any number of threads. A line has the text of one thread only.
final class PrintedLines extends OutputStream {

    /// In bytes. Text without a line break must not fill the heap.
    private static final int LONGEST = 8 << 10;

    private record Line(ByteArrayOutputStream text, Map<String, String> ids) {}

    private final Logger log;
    private final Level level;
    private final PrintStream fallback;
    private final Map<Thread, Line> begun = new ConcurrentHashMap<>();
    private final ThreadLocal<Boolean> logging = ThreadLocal.withInitial(() -> false);

    private PrintedLines(Logger log, Level level, PrintStream fallback) {
        this.log = log;
        this.level = level;
        this.fallback = fallback;
    }

    /// @param fallback for what logging itself prints, which would otherwise never end
    static PrintStream to(Logger log, Level level, PrintStream fallback) {
        return new PrintStream(new PrintedLines(log, level, fallback), true, StandardCharsets.UTF_8) {
            // A closed stream would lose what others print.
            @Override
            public void close() {
                flush();
            }
        };
    }

    @Override
    public void write(int b) {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        if (logging.get()) {
            fallback.write(bytes, offset, length);
            return;
        }
        var thread = Thread.currentThread();
        var ids = ids();
        var line = begun.get(thread);
        for (int i = offset; i < offset + length; i++) {
            // A thread of a pool may have left a line of an earlier request without its end.
            if (line == null || !line.ids.equals(ids)) {
                end(thread);
                line = begin(thread, ids);
            }
            line.text.write(bytes[i]);
            if (bytes[i] == '\n' || line.text.size() == LONGEST) {
                end(thread);
                line = null;
            }
        }
    }

    private Line begin(Thread thread, Map<String, String> ids) {
        begun.keySet().stream().filter(other -> !other.isAlive()).forEach(this::end);
        var line = new Line(new ByteArrayOutputStream(), ids);
        begun.put(thread, line);
        return line;
    }

    private void end(Thread thread) {
        var line = begun.remove(thread);
        var text =
                line == null ? "" : line.text.toString(StandardCharsets.UTF_8).stripTrailing();
        if (text.isEmpty()) {
            return;
        }
        var ids = ids();
        logging.set(true);
        try {
            MDC.setContextMap(line.ids);
            log.atLevel(level).log(text);
        } finally {
            MDC.setContextMap(ids);
            logging.remove();
        }
    }

    private static Map<String, String> ids() {
        return Objects.requireNonNullElse(MDC.getCopyOfContextMap(), Map.of());
    }
}
