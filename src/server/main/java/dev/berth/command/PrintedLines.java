package dev.berth.command;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.slf4j.Logger;
import org.slf4j.event.Level;

/// Logs what hooks print to `System.out` or `System.err`, line by line and with the ids of the
/// request that ends the line.
///
/// Used by any number of threads. A line has the text of one thread only.
final class PrintedLines extends OutputStream {

    /// In bytes. Text without a line break must not fill the heap.
    private static final int LONGEST = 8 << 10;

    private final Logger log;
    private final Level level;
    private final PrintStream fallback;
    private final ThreadLocal<ByteArrayOutputStream> begun = ThreadLocal.withInitial(ByteArrayOutputStream::new);
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
        var line = begun.get();
        for (int i = offset; i < offset + length; i++) {
            line.write(bytes[i]);
            if (bytes[i] == '\n' || line.size() == LONGEST) {
                end(line);
            }
        }
    }

    private void end(ByteArrayOutputStream line) {
        var text = line.toString(StandardCharsets.UTF_8).stripTrailing();
        line.reset();
        if (text.isEmpty()) {
            return;
        }
        logging.set(true);
        try {
            log.atLevel(level).log(text);
        } finally {
            logging.remove();
        }
    }
}
