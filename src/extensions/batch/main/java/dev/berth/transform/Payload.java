package dev.berth.transform;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// The body of one request: whole records, or all that an object holds.
///
/// @param firstRecord the place of the first record in its object, counted from 1
/// @param sent the records; none where the object is sent chunk by chunk, of any length, as it is read
record Payload(long firstRecord, List<Sent> sent) {

    static final Payload OBJECT = new Payload(1, List.of());

    /// A record.
    ///
    /// @param input as it was before `InputFilter` where its answer is joined with that, else `body`
    /// @param body as it is sent
    /// @param read its bytes before `InputFilter`
    /// @param endsBatch see [dev.berth.content.RecordReader#endsBatch]
    /// @param rejection why it is not sent: it is blank, or `InputFilter` can't be applied to it. Such
    ///   a record has a payload of its own
    record Sent(byte[] input, byte[] body, int read, boolean endsBatch, Optional<String> rejection) {}

    boolean isObject() {
        return sent.isEmpty();
    }

    /// What stands in the place of the answer; nothing where the payload is sent.
    Optional<String> rejection() {
        return isObject() ? Optional.empty() : sent.getFirst().rejection;
    }

    /// How many records it has; an object that is not split is one.
    int records() {
        return isObject() ? 1 : sent.size();
    }

    /// For people.
    String place() {
        return isObject() ? "the object" : place(firstRecord, records());
    }

    /// For people: records of an object.
    static String place(long first, int count) {
        return count == 1 ? "record " + first : "records %d to %d".formatted(first, first + count - 1);
    }

    /// What it has in memory.
    long bytes() {
        return Math.max(length(parts(Sent::body)), length(parts(Sent::input)));
    }

    /// The bytes that its records have in their object; of an object, any number.
    long read() {
        return isObject() ? Long.MAX_VALUE : sent.stream().mapToLong(Sent::read).sum();
    }

    byte[] body() {
        return concatenated(parts(Sent::body));
    }

    byte[] input() {
        return concatenated(parts(Sent::input));
    }

    /// Two payloads of about half the records each. There is more than one.
    List<Payload> halves() {
        int half = records() / 2;
        return List.of(
                new Payload(firstRecord, sent.subList(0, half)),
                new Payload(firstRecord + half, sent.subList(half, records())));
    }

    private List<byte[]> parts(Function<Sent, byte[]> part) {
        return sent.stream().map(part).toList();
    }

    private static int length(List<byte[]> parts) {
        return parts.stream().mapToInt(part -> part.length).sum();
    }

    /// Not copied where it is one.
    static byte[] concatenated(List<byte[]> parts) {
        if (parts.size() == 1) {
            return parts.getFirst();
        }
        var bytes = ByteBuffer.allocate(length(parts));
        parts.forEach(bytes::put);
        return bytes.array();
    }
}
