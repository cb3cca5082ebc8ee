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

    /// What has come, as long as it is in memory.
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

    /// Waits for the whole body. A long one, and one for which there is no memory now, goes into a file.
    /// Runs on the request's thread.
    public void readWhole() throws IOException {
        if (in != null) {
            return;
        }
        requireShort();
        if (declared > MOST_IN_MEMORY || !fill(MOST_IN_MEMORY, false)) {
            var created = BodyFile.create();
            if (created.isPresent()) {
                file = created.get();
                moveToFile();
            } else if (!fill(LONGEST_ARRAY, true)) {
                throw tooLongForAnArray();
            }
        }
        if (count < buffer.length) {
            // Else there would be both, for as long as the request lasts.
            buffer = Arrays.copyOf(buffer, count);
            inMemory.shrinkTo(count);
        }
        in = file == null ? new ByteArrayInputStream(buffer) : file.open();
    }

    private void moveToFile() throws IOException {
        memory.becomeLarge();
        file.write(buffer, count);
        buffer = new byte[0];
        inMemory.close();
        memory.add(FIRST_BUFFER);
        var block = new byte[FIRST_BUFFER];
        for (int read = 0; read >= 0; read = take(block, 0, block.length)) {
            file.write(block, read);
        }
    }

    /// A copy of the first bytes. They can still be read. Runs on the request's thread.
    public byte[] first() throws IOException {
        requireShort();
        var _ = fill(FIRST_BUFFER, false);
        return Arrays.copyOf(buffer, count);
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

    /// Reads on until so many bytes are in memory, or all that there are.
    ///
    /// @param isOnly whether it can be nowhere else, and so waits for room
    /// @return whether it is whole
    private boolean fill(int most, boolean isOnly) throws IOException {
        while (count < most && !isWhole()) {
            if (count == buffer.length && !grow(most, isOnly)) {
                return false;
            }
            count += Math.max(0, take(buffer, count, buffer.length - count));
        }
        return isWhole();
    }

    /// Makes room for more in memory: for the first part, then for all that was announced, so that it is
    /// copied once.
    private boolean grow(int most, boolean isOnly) {
        long announced = declared < 0 ? Long.MAX_VALUE : declared;
        long wanted = count < FIRST_BUFFER ? FIRST_BUFFER : declared < 0 ? 2L * count : declared;
        int size = (int) Math.min(most, Math.min(announced, wanted));
        if (size <= FIRST_BUFFER || isOnly) {
            memory.add(size);
            // While it is copied, there are both.
        } else if (!inMemory.tryGrowTo((long) count + size)) {
            return false;
        }
        if (size > FIRST_BUFFER) {
            memory.becomeLarge();
        }
        buffer = Arrays.copyOf(buffer, size);
        inMemory.shrinkTo(size);
        return true;
    }

    private int take(byte[] bytes, int offset, int length) throws IOException {
        // A few bytes that have arrived may be inflated to many.
        upload.requireTime();
        int read = source.read(bytes, offset, length);
        received += Math.max(0, read);
        ended |= read < 0;
        Upload.requireWithin(limit, received);
        return read;
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
