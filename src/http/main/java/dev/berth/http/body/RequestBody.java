package dev.berth.http.body;

import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
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
/// The request's own thread reads all of it before `inputFn` runs, so no hook waits for a client. A
/// long body is in a file meanwhile, and the hook may take it piece by piece. Used by one thread at a
/// time.
public final class RequestBody extends BlockStream {

    private static final int MOST_IN_MEMORY = 8 << 20;

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
    private final long limit;
    private final Deadline deadline;
    private final RequestMemory memory;

    /// What it may have of that, unless no file can be made.
    private final int mostInMemory;

    /// How long it is; -1: nobody has said so.
    private long declared;

    /// Where the bytes come from: the client, decoded where they were encoded.
    private InputStream source;

    private long received;
    private boolean ended;

    private boolean isText = true;

    /// What is in memory, from `start` to `end`.
    private byte[] buffer = new byte[0];

    private int start;
    private int end;

    /// All of it where it is not in memory, else null.
    private BodyFile file;

    /// @param upload of which it is all that is left, or one message
    /// @param declared how long it is; -1: nobody has said so
    /// @param limit the most bytes that the server takes, as they are sent and decoded
    public RequestBody(Upload upload, long declared, long limit, Deadline deadline, ProcessMemory process) {
        this.memory = new RequestMemory(process, deadline.nanos(), HookPool::leavePlace);
        this.mostInMemory = (int) Math.min(MOST_IN_MEMORY, process.arriving().bytes() / 8);
        this.upload = upload;
        this.source = upload;
        this.declared = declared;
        this.limit = limit;
        this.deadline = deadline;
        upload.expect(deadline, limit);
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
        var stream = decoding.apply(source);
        source = stream;
        return stream;
    }

    /// Refuses a body whose length is declared and too large, before it is read.
    public void checkDeclared() {
        if (declared > limit) {
            throw Upload.tooLarge("%d bytes".formatted(declared), limit);
        }
    }

    /// Waits for the whole body. A long one, and one for which there is no memory now, goes into a file.
    /// Runs on the request's thread.
    public void readWhole() throws IOException {
        if (isWhole() || (declared <= mostInMemory && fill(mostInMemory, false))) {
            return;
        }
        var created = BodyFile.create();
        if (created.isPresent()) {
            moveTo(created.get());
        } else if (!fill(LONGEST_ARRAY, true)) {
            throw tooLongForAnArray();
        }
    }

    private void moveTo(BodyFile created) throws IOException {
        file = created;
        file.write(buffer, start, end - start);
        letGo();
        memory.becomeLarge();
        memory.add(FIRST_BUFFER);
        var block = new byte[FIRST_BUFFER];
        for (int count = 0; count >= 0; count = take(block, 0, block.length)) {
            file.write(block, 0, count);
        }
        file.rewind();
    }

    /// A copy of the first bytes. They can still be read. Runs on the request's thread.
    public byte[] first() throws IOException {
        var _ = fill(FIRST_BUFFER, false);
        return Arrays.copyOfRange(buffer, start, end);
    }

    /// Whether all of it has come.
    public boolean isWhole() {
        return ended || received == declared;
    }

    /// A copy of a body that is whole, where it is in memory and not longer than `most`. It can still be
    /// read.
    public Optional<byte[]> small(int most) {
        return file == null && end - start <= most
                ? Optional.of(Arrays.copyOfRange(buffer, start, end))
                : Optional.empty();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        if (start == end) {
            letGo();
            return file != null ? file.read(bytes, offset, length) : isWhole() ? -1 : take(bytes, offset, length);
        }
        int count = Math.min(length, end - start);
        System.arraycopy(buffer, start, bytes, offset, count);
        start += count;
        return count;
    }

    /// All that is left, once there is memory for what becomes of it. What is in memory is not
    /// copied.
    @Override
    public byte[] readAllBytes() throws IOException {
        readWhole();
        long length = file == null ? end - start : file.left();
        if (length > LONGEST_ARRAY) {
            throw tooLongForAnArray();
        }
        if (isText) {
            memory.expect(LIKELY * length);
            memory.add(TEXT * length);
        }
        if (file != null) {
            memory.takeIn(length);
            return file.rest();
        }
        var all = start == 0 && end == buffer.length ? buffer : Arrays.copyOfRange(buffer, start, end);
        buffer = new byte[0];
        start = 0;
        end = 0;
        return all;
    }

    /// Reads on until so many bytes are in memory, or all that there are.
    ///
    /// @param isOnly whether it can be nowhere else
    /// @return whether it is whole
    private boolean fill(int most, boolean isOnly) throws IOException {
        while (end < most && !isWhole()) {
            if (end == buffer.length && !grow(most, isOnly)) {
                return false;
            }
            end += Math.max(0, take(buffer, end, buffer.length - end));
        }
        return isWhole();
    }

    /// Makes room for more in memory: for the first part, then for all that was announced, so that it is
    /// copied once.
    private boolean grow(int most, boolean isOnly) {
        long announced = declared < 0 ? Long.MAX_VALUE : declared;
        long wanted = end < FIRST_BUFFER ? FIRST_BUFFER : declared < 0 ? 2L * end : declared;
        int size = (int) Math.min(most, Math.min(announced, wanted));
        if (size <= FIRST_BUFFER) {
            memory.add(size);
        } else {
            // While it is copied, there are both.
            long both = (long) end + size;
            if (isOnly) {
                memory.receive(both);
            } else if (!memory.tryReceive(both)) {
                return false;
            }
        }
        buffer = Arrays.copyOf(buffer, size);
        memory.keepReceived(size);
        return true;
    }

    private int take(byte[] bytes, int offset, int length) throws IOException {
        // A few bytes that have arrived may be inflated to many.
        upload.requireTime();
        int count = source.read(bytes, offset, length);
        received += Math.max(0, count);
        ended |= count < 0;
        Upload.requireWithin(limit, received);
        return count;
    }

    /// What is in memory has been read.
    private void letGo() {
        if (buffer.length > 0) {
            buffer = new byte[0];
            start = 0;
            end = 0;
            memory.keepReceived(0);
        }
    }

    private ServingException tooLongForAnArray() {
        return Upload.tooLarge("more than %d bytes for a hook that reads all of it".formatted(LONGEST_ARRAY), limit);
    }

    /// Throws what is left away, as long as it keeps coming, so that the caller sees the answer.
    public void discard() {
        upload.discard();
    }

    @Override
    public void close() {
        try (memory;
                var _ = source;
                var _ = file) {
            // All of them, whatever becomes of one.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
