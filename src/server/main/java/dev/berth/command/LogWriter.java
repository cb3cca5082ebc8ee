package dev.berth.command;

import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes the log on a thread of its own. Logging never waits, even when the log is not read: a
/// pipe takes 64 KiB, and then a write blocks until its reader goes on.
///
/// At most [#MOST_BYTES] wait to be written. What comes then is lost and counted, and the log says
/// how much when there is room again. Logback's own `AsyncAppender` does not say what it drops, and
/// bounds events instead of bytes.
///
/// Each call of `write` is one event. It may come from any thread.
final class LogWriter extends OutputStream {

    /// Some 5,000 lines of requests.
    private static final int MOST_BYTES = 1 << 20;

    /// How long the end of the process waits for a slow reader.
    private static final int LAST_WRITES_SECONDS = 1;

    private static final Logger log = LoggerFactory.getLogger(LogWriter.class);

    private final OutputStream out;

    /// With those of the event that is being written.
    private final AtomicLong waitingBytes = new AtomicLong();

    private final AtomicLong dropped = new AtomicLong();

    /// Of the lost events, those that the log has told of. For the thread that writes.
    private long said;

    private final ThreadPoolExecutor thread = new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().name("berth-log").daemon().factory(),
            new ThreadPoolExecutor.DiscardPolicy());

    LogWriter(OutputStream out) {
        this.out = out;
        // There may be no memory for a thread when it is needed.
        thread.prestartCoreThread();
    }

    /// How many events were lost because the log was not read in time.
    long dropped() {
        return dropped.get();
    }

    @Override
    public void write(int b) {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) {
        long before = waitingBytes.get();
        if (before > 0 && before + length > MOST_BYTES) {
            dropped.incrementAndGet();
        } else {
            var event = Arrays.copyOfRange(bytes, offset, offset + length);
            waitingBytes.addAndGet(length);
            thread.execute(() -> writeOut(event));
        }
    }

    /// Waits until all is written, but not for long. Nothing may be written after.
    @Override
    public void close() {
        thread.shutdown();
        try {
            thread.awaitTermination(LAST_WRITES_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    /// A write that fails loses its event only: a full disk or heap may have room again. What was lost is
    /// told behind a write that has worked.
    private void writeOut(byte[] event) {
        try {
            out.write(event);
            long lost = dropped.get() - said;
            // The log is locked while it is closed.
            if (lost > 0 && !thread.isShutdown() && waitingBytes.get() - event.length <= MOST_BYTES / 2) {
                said += lost;
                // It comes after what waited when they were lost.
                log.warn("{} events of the log were lost, because nobody read it in time", lost);
            }
        } catch (IOException | OutOfMemoryError _) {
            dropped.incrementAndGet();
        } finally {
            waitingBytes.addAndGet(-event.length);
        }
    }
}
