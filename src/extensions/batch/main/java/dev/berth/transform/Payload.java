package dev.berth.transform;

import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.List;

/// The body of one request.
sealed interface Payload {

    /// What it has in memory.
    long bytes();

    /// How many records it has; an object that is not split is one.
    default int records() {
        return 1;
    }

    /// Whole records.
    ///
    /// @param firstRecord the place of the first record in its object, counted from 1
    /// @param bodies what is sent of each
    /// @param inputs the records as they were before `InputFilter` where the answers are joined with
    ///   them, else `bodies`
    record MiniBatch(long firstRecord, List<byte[]> bodies, List<byte[]> inputs) implements Payload {

        @Override
        public int records() {
            return bodies.size();
        }

        @Override
        public long bytes() {
            return Math.max(length(bodies), length(inputs));
        }

        byte[] body() {
            return concatenated(bodies);
        }

        byte[] input() {
            return concatenated(inputs);
        }

        /// Two payloads of about half the records each. There is more than one.
        List<MiniBatch> halves() {
            int half = records() / 2;
            return List.of(
                    new MiniBatch(firstRecord, bodies.subList(0, half), inputs.subList(0, half)),
                    new MiniBatch(
                            firstRecord + half, bodies.subList(half, records()), inputs.subList(half, records())));
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

    /// A record that is not sent: it is blank, or `InputFilter` can't be applied to it.
    ///
    /// @param reason what stands in the place of its answer
    record Rejected(byte[] input, String reason) implements Payload {

        @Override
        public long bytes() {
            return input.length;
        }
    }

    /// Everything that an object holds, of any length, to be sent chunk by chunk. It is read from the
    /// object while it is sent, so whoever sends it again has to open the object again.
    record WholeObject(InputStream body) implements Payload {

        @Override
        public long bytes() {
            return 0;
        }
    }
}
