package dev.berth.http.body;

import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.memory.MemoryBudget;
import dev.berth.memory.RequestMemory;
import dev.berth.memory.RequestMemory.ProcessMemory;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookPool;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
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
public final class RequestBody extends FilterInputStream {

    /// What all bodies may have in memory before they are read. Beyond that they wait in files.
    private static final MemoryBudget BODIES =
            new MemoryBudget(Runtime.getRuntime().maxMemory() / 10);

    private static final int MOST_IN_MEMORY = (int) Math.min(8 << 20, BODIES.bytes() / 8);

    /// Bodies up to this length, which are nearly all, count as what is made of them: none of them waits
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
    private final MemoryBudget.Share inMemory = BODIES.share();

    /// How long it is; -1: nobody has said so.
    private long declared;

    /// Where the bytes come from: the client, decoded where they were encoded.
    private InputStream source;

    private long received;
    private boolean ended;

    private boolean isText = true;

    /// What has come, as long as it is in memory; then a part of it on its way to the file.
    private byte[] buffer = new byte[0];

    private int count;

    /// All of it where it is not in memory, else null.
    private BodyFile file;

    /// @param upload of which it is all that is left, or one message
    /// @param declared how long it is; -1: nobody has said so
    /// @param limit the most bytes that the server takes, as they are sent and decoded
    public RequestBody(Upload upload, long declared, long limit, Deadline deadline) {
        // What hooks read is not there before it is whole.
        super(null);
        this.memory = new RequestMemory(ProcessMemory.ofThisProcess(), deadline.nanos(), HookPool::leavePlace);
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
        requireShort();
        declared = -1;
        var stream = decoding.apply(source);
        source = stream;
        return stream;
    }

    /// Refuses a body whose length is declared and too large, before it is read.
    private void requireShort() {
        if (declared > limit) {
            throw Upload.tooLarge("%d bytes".formatted(declared), limit);
        }
    }

    /// Waits for the whole body. Runs on the request's thread.
    public void readWhole() throws IOException {
        if (in != null) {
            return;
        }
        requireShort();
        while (!isWhole()) {
            readMore();
        }
        if (file == null && count < buffer.length) {
            // Else there would be both, for as long as the request lasts.
            buffer = Arrays.copyOf(buffer, count);
            inMemory.shrinkTo(count);
        }
        in = file == null ? new ByteArrayInputStream(buffer) : file.open();
    }

    /// A copy of the first bytes, before all of them are read. They can still be read. Runs on the
    /// request's thread.
    public byte[] first() throws IOException {
        requireShort();
        while (count < FIRST_BUFFER && !isWhole()) {
            readMore();
        }
        return Arrays.copyOf(buffer, count);
    }

    private void readMore() throws IOException {
        if (file == null && count == buffer.length) {
            grow();
        }
        // A few bytes that have arrived may be inflated to many.
        upload.requireTime();
        int from = file == null ? count : 0;
        int read = source.read(buffer, from, buffer.length - from);
        ended = read < 0;
        read = Math.max(0, read);
        received += read;
        Upload.requireWithin(limit, received);
        if (file == null) {
            count += read;
        } else {
            file.write(buffer, read);
        }
    }

    /// Makes room for more in memory: for the first part, then for all that was announced, so that it is
    /// copied once. A long body, and one for which there is no memory now, is in a file from now on.
    /// Where no file can be made, it waits for memory.
    private void grow() throws IOException {
        long most = declared < 0 ? LONGEST_ARRAY : Math.min(declared, LONGEST_ARRAY);
        int size = (int) Math.min(most, count == 0 ? FIRST_BUFFER : declared < 0 ? 2L * count : declared);
        if (size == count) {
            throw tooLongForAnArray();
        }
        if (size <= FIRST_BUFFER) {
            memory.add(size);
        } else {
            memory.becomeLarge();
            // While it is copied, there are both.
            if (size > MOST_IN_MEMORY || !inMemory.tryGrowTo((long) count + size)) {
                file = BodyFile.create().orElse(null);
                if (file != null) {
                    file.write(buffer, count);
                    buffer = new byte[FIRST_BUFFER];
                    inMemory.close();
                    return;
                }
                memory.add(size);
            }
        }
        buffer = Arrays.copyOf(buffer, size);
        inMemory.shrinkTo(size);
    }

    /// Whether all of it has come.
    public boolean isWhole() {
        return ended || received == declared;
    }

    /// A copy of a body that is whole, where it is in memory and not longer than `most`. It can still be
    /// read.
    public Optional<byte[]> small(int most) {
        return file == null && count <= most ? Optional.of(Arrays.copyOf(buffer, count)) : Optional.empty();
    }

    @Override
    public int read() throws IOException {
        readWhole();
        return super.read();
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        readWhole();
        return super.read(bytes, offset, length);
    }

    /// All that is left, once there is memory for what becomes of it. What is in memory is not
    /// copied.
    @Override
    public byte[] readAllBytes() throws IOException {
        readWhole();
        if (received > LONGEST_ARRAY) {
            throw tooLongForAnArray();
        }
        if (isText) {
            memory.expect(LIKELY * received);
            memory.add(TEXT * received);
        }
        if (file != null) {
            memory.add(received);
        } else if (in.available() == buffer.length) {
            in = InputStream.nullInputStream();
            return buffer;
        }
        return in.readAllBytes();
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
                inMemory;
                var _ = source;
                var _ = file) {
            // All of them, whatever becomes of one.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
