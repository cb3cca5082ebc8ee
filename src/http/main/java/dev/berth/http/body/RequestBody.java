package dev.berth.http.body;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.memory.ProcessMemory;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookRun;
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

    /// What was received before it.
    private final long before;

    private final long limit;
    private final Deadline deadline;
    private final RequestMemory memory;

    /// What it may have of that, unless no file can be made.
    private final int mostInMemory;

    /// How long it is; -1: nobody has said so.
    private long declared;

    /// Where what is not in memory comes from: the client, decoded where it was encoded, then a file.
    private InputStream source = new Arriving();

    private long received;
    private boolean ended;

    private boolean isText = true;

    /// What is in memory, from `start` to `end`.
    private byte[] buffer = new byte[0];

    private int start;
    private int end;

    /// @param upload of which it is all that is left, or one message
    /// @param declared how long it is; -1: nobody has said so
    /// @param limit the most bytes that the server takes
    public RequestBody(Upload upload, long declared, long limit, Deadline deadline, ProcessMemory process) {
        this.memory = new RequestMemory(process, deadline.nanos(), HookRun::leavePlace);
        this.mostInMemory = (int) Math.min(MOST_IN_MEMORY, process.arriving().bytes() / 8);
        this.upload = upload;
        this.before = upload.received();
        this.declared = declared;
        this.limit = limit;
        this.deadline = deadline;
        upload.expect(deadline, memory::isReceivingWanted);
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
            throw tooLarge("%d bytes".formatted(declared));
        }
    }

    /// Waits for the whole body. Runs on the request's thread.
    public void readWhole() throws IOException {
        if (declared <= mostInMemory) {
            int most = declared < 0 ? mostInMemory : (int) declared;
            while (end < most && fill(most)) {
                // Until it has all that it may have.
            }
        }
        if (!isWhole()) {
            var file = BodyFile.create();
            if (file.isPresent()) {
                moveTo(file.get());
            } else {
                fillWhole();
            }
        }
    }

    private void moveTo(BodyFile file) throws IOException {
        try (var arriving = source) {
            source = file;
            file.write(buffer, start, end - start);
            letGo();
            memory.add(FIRST_BUFFER);
            var block = new byte[FIRST_BUFFER];
            for (int count = 0; count >= 0; count = take(arriving, block, 0, block.length)) {
                file.write(block, 0, count);
            }
        }
        file.rewind();
        // Its hooks run as those of a large request.
        memory.receive(FIRST_BUFFER);
        declared = received;
        received = 0;
        ended = false;
    }

    /// A copy of the first bytes. They can still be read. Runs on the request's thread.
    public byte[] first() throws IOException {
        while (end < FIRST_BUFFER && !isWhole() && fill(FIRST_BUFFER)) {
            // Until there are no more, or these are in memory.
        }
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
            return isWhole() ? -1 : take(source, bytes, offset, length);
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
        fillWhole();
        long length = (long) end - start;
        if (isText) {
            memory.expect(LIKELY * length);
            memory.add(TEXT * length);
        }
        var all = start == 0 && end == buffer.length ? buffer : Arrays.copyOfRange(buffer, start, end);
        buffer = new byte[0];
        start = 0;
        end = 0;
        return all;
    }

    private void fillWhole() throws IOException {
        int most = declared < 0 ? LONGEST_ARRAY : (int) Math.min(declared, LONGEST_ARRAY);
        while (!isWhole() && fill(most)) {
            // Until the end.
        }
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
            if (size <= FIRST_BUFFER) {
                memory.add(size);
            } else {
                // While it is copied, there are both.
                memory.receive((long) end + size);
            }
            buffer = Arrays.copyOf(buffer, size);
            memory.keepReceived(size);
        }
        int count = take(source, buffer, end, buffer.length - end);
        end += Math.max(0, count);
        return count >= 0;
    }

    private int take(InputStream from, byte[] bytes, int offset, int length) throws IOException {
        int count = from.read(bytes, offset, length);
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

    /// The bytes as they come. Those of an encoded body have the limit too: there may be many in which
    /// nothing is.
    private final class Arriving extends BlockStream {
        @Override
        public int read(byte[] bytes, int offset, int length) {
            int count = upload.take(bytes, offset, length);
            requireWithinLimit(upload.received() - before);
            return count;
        }
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

    private ServingException tooLarge(String found) {
        return ErrorType.PAYLOAD_TOO_LARGE.because(
                "body: found %s, expected at most %d; raise SAGEMAKER_MAX_PAYLOAD_IN_MB (0: no limit)"
                        .formatted(found, limit));
    }

    /// Throws what is left away, as long as it keeps coming, so that the caller sees the answer.
    public void discard() {
        upload.discard();
    }

    @Override
    public void close() {
        try (memory;
                var _ = source) {
            // Both, whatever becomes of one.
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
