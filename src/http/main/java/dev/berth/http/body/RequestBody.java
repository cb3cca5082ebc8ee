package dev.berth.http.body;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.memory.MemoryShortException;
import dev.berth.memory.ProcessMemory;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookPool;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// A request's body as hooks read it: not longer than the server takes, not in more memory than
/// there is, and not awaited beyond the request's deadline.
///
/// The request's own thread reads it into memory before `inputFn` runs, so that a slow upload holds
/// up no thread that hooks need. Of a large body the rest is read by the hook, which may take it
/// piece by piece. Used by one thread at a time.
public final class RequestBody extends BlockStream {

    private static final int MOST_AHEAD = 8 << 20;

    /// Bodies up to this length, which are nearly all, do not count as arriving: none of them waits
    /// for the large ones.
    private static final int FIRST_BUFFER = 16 << 10;

    /// What a hook makes at once of a whole body of text: a string, of two bytes for each where one
    /// character is not Latin.
    private static final int TEXT = 2;

    /// Bodies that no hook makes a string of, beside pictures and the like.
    private static final List<String> BINARY =
            List.of("octet-stream", "grpc", "x-npy", "x-npz", "x-recordio", "x-recordio-protobuf", "x-tfrecord");

    /// What it is likely to make of it all in all.
    private static final int LIKELY = 4;

    /// The JVM makes no longer arrays.
    private static final int LONGEST_ARRAY = Integer.MAX_VALUE - 8;

    private final Upload upload;

    /// What was received before it.
    private final long before;

    private final long limit;
    private final Deadline deadline;
    private final RequestMemory memory;
    private final int ahead;

    /// How long it is; -1: nobody has said so.
    private long declared;

    /// What arrives, as it was before its sender encoded it; null where it was not.
    private InputStream decoded;

    private long received;
    private boolean ended;

    private boolean isText = true;

    /// What is in memory, from `start` to `end`.
    private byte[] buffer = new byte[0];

    private int start;
    private int end;

    /// The request may end while a hook that was left behind still reads.
    private volatile boolean closed;

    /// @param upload of which it is all that is left, or one message
    /// @param declared how long it is; -1: nobody has said so
    /// @param limit the most bytes that the server takes
    public RequestBody(Upload upload, long declared, long limit, Deadline deadline, ProcessMemory process) {
        this.memory = new RequestMemory(process, deadline.nanos(), HookPool::mayBlock);
        this.ahead = (int) Math.min(MOST_AHEAD, process.arriving().bytes() / 8);
        this.upload = upload;
        this.before = upload.received();
        this.declared = declared;
        this.limit = limit;
        this.deadline = deadline;
        upload.expect(deadline, this::isWanted);
    }

    private boolean isWanted() {
        return memory.isReceivingWanted() || HookPool.isCrowded();
    }

    /// Until when the request must be answered.
    public Deadline deadline() {
        return deadline;
    }

    /// What the request takes of the memory of all.
    public RequestMemory memory() {
        return memory;
    }

    /// Says what the body is.
    public void type(MediaType type) {
        isText = !List.of("image", "audio", "video").contains(type.type())
                && !(type.type().equals("application") && BINARY.contains(type.subtype()));
    }

    /// Says how the body is encoded, before any of it is read.
    ///
    /// @param decoding makes of what arrives what was encoded
    public <T extends InputStream> T decode(Function<InputStream, T> decoding) {
        checkDeclared();
        declared = -1;
        var stream = decoding.apply(new Arriving());
        decoded = stream;
        return stream;
    }

    /// Refuses a body whose length is declared and too large, before it is read.
    public void checkDeclared() {
        if (declared > limit) {
            throw tooLarge("%d bytes".formatted(declared));
        }
    }

    /// Reads the body, or the beginning of a large one, into memory. Runs on the request's thread.
    public void readAhead() throws IOException {
        // What is too long is the hook's to read. It may have to wait for memory then, and had better
        // hold little.
        int most = declared < 0 ? ahead : (int) (declared <= ahead ? declared : FIRST_BUFFER);
        while (end < most && fill(most)) {
            // Until it has all that it may have.
        }
    }

    /// Reads more into memory, of the first bytes; false: there is no more, or these are in memory.
    /// Runs on the request's thread.
    public boolean readFirst() throws IOException {
        return end < FIRST_BUFFER && received != declared && fill(FIRST_BUFFER);
    }

    /// A copy of what is in memory. It can still be read.
    public byte[] first() {
        return Arrays.copyOfRange(buffer, start, end);
    }

    public boolean isWhole() {
        return ended || received == declared;
    }

    /// A copy of the whole body, where it is in memory and not longer than `most`. It can still be
    /// read.
    public Optional<byte[]> small(int most) {
        return isWhole() && end - start <= most
                ? Optional.of(Arrays.copyOfRange(buffer, start, end))
                : Optional.empty();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (start == end) {
            letGo();
            return take(bytes, offset, length);
        }
        int count = Math.min(length, end - start);
        System.arraycopy(buffer, start, bytes, offset, count);
        start += count;
        return count;
    }

    /// All that is left, once there is memory for what becomes of it. What was read ahead is not
    /// copied.
    @Override
    public byte[] readAllBytes() throws IOException {
        int most = declared < 0 ? LONGEST_ARRAY : (int) Math.min(declared, LONGEST_ARRAY);
        while (received != declared && fill(most)) {
            // Until the end.
        }
        long length = (long) end - start;
        if (isText) {
            requireMemory(() -> {
                memory.expect(LIKELY * length);
                memory.add(TEXT * length);
            });
        }
        var all = start == 0 && end == buffer.length ? buffer : Arrays.copyOfRange(buffer, start, end);
        buffer = new byte[0];
        start = 0;
        end = 0;
        return all;
    }

    /// Takes more into memory; false: there is no more.
    private boolean fill(int most) throws IOException {
        if (end == buffer.length) {
            if (end == most) {
                throw tooLarge("more than %d bytes for a hook that reads all of it".formatted(most));
            }
            // Behind the first part comes room for all that was announced: who waits for it in steps
            // keeps what others need.
            boolean begins = end < FIRST_BUFFER;
            int size = declared >= 0 && !begins ? most : (int) Math.min(most, begins ? FIRST_BUFFER : 2L * end);
            // While it is copied, there are both.
            long both = (long) end + size;
            requireMemory(size <= FIRST_BUFFER ? () -> memory.add(size) : () -> memory.receive(both));
            buffer = Arrays.copyOf(buffer, size);
            memory.keepReceived(size);
        }
        int count = take(buffer, end, buffer.length - end);
        end += Math.max(0, count);
        return count >= 0;
    }

    private int take(byte[] bytes, int offset, int length) throws IOException {
        if (closed) {
            throw new IOException("the request has ended");
        }
        int count = decoded == null ? upload.take(bytes, offset, length) : decoded.read(bytes, offset, length);
        received += Math.max(0, count);
        ended |= count < 0;
        requireWithinLimit(received);
        return count;
    }

    private void requireWithinLimit(long found) {
        if (found > limit) {
            throw tooLarge("more than %d bytes".formatted(limit));
        }
    }

    /// The bytes of an encoded body. They have the limit too: there may be many in which nothing is.
    private final class Arriving extends BlockStream {
        @Override
        public int read(byte[] bytes, int offset, int length) {
            // Much may arrive of which nothing comes out.
            if (closed || deadline.isOver()) {
                throw ErrorType.DEADLINE_EXCEEDED.because(
                        "the request's time ran out after %d bytes of its body".formatted(upload.received()));
            }
            int count = upload.take(bytes, offset, length);
            requireWithinLimit(upload.received() - before);
            return count;
        }
    }

    /// Counts memory of a request, which is refused where there is none.
    public static void requireMemory(Runnable charge) {
        try {
            charge.run();
        } catch (MemoryShortException e) {
            throw (e.isTooLarge() ? ErrorType.PAYLOAD_TOO_LARGE : ErrorType.MEMORY_TAKEN).because(e.getMessage(), e);
        }
    }

    /// What was read ahead has been read.
    private void letGo() {
        if (buffer.length > 0) {
            buffer = new byte[0];
            start = 0;
            end = 0;
            memory.keepReceived(0);
        }
    }

    private ServingException tooLarge(String found) {
        return ErrorType.PAYLOAD_TOO_LARGE.because(
                "body: found %s, expected at most %d; raise SAGEMAKER_MAX_PAYLOAD_IN_MB (0: no limit)"
                        .formatted(found, limit));
    }

    /// Throws what is left away, as long as it keeps coming, so that the caller sees the answer.
    public void discard() {
        // Past the deadline a hook that was left behind may still read.
        if (!deadline.isOver()) {
            upload.discard();
        }
    }

    @Override
    public void close() {
        closed = true;
        try (memory;
                var _ = decoded) {
            // Both, whatever becomes of one.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
