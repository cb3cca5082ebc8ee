package dev.berth.transform;

import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

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
    /// @param body what is sent
    /// @param input the records as they were before `InputFilter` where the answers are joined with
    ///   them, else `body`
    record MiniBatch(long firstRecord, int records, byte[] body, byte[] input) implements Payload {

        @Override
        public long bytes() {
            return Math.max(body.length, input.length);
        }

        /// Whether a container would find nothing in it.
        boolean isBlank() {
            return LineReader.isBlank(body);
        }

        /// Two payloads of about half the records each. They are lines, and more than one.
        List<MiniBatch> halves() {
            var bodies = RecordFormat.lines(body);
            var inputs = RecordFormat.lines(input);
            int first = half(bodies);
            return List.of(
                    new MiniBatch(firstRecord, first, bytes(bodies.subList(0, first)), bytes(inputs.subList(0, first))),
                    new MiniBatch(
                            firstRecord + first,
                            records - first,
                            bytes(bodies.subList(first, records)),
                            bytes(inputs.subList(first, records))));
        }

        /// How many records the first half has. At its end a blank line would not count.
        private int half(List<String> lines) {
            int middle = records / 2;
            return IntStream.concat(
                            IntStream.range(middle, records),
                            IntStream.range(1, middle).map(i -> middle - i))
                    .filter(last -> !LineReader.isBlank(bytes(lines.subList(last - 1, last))))
                    .findFirst()
                    .orElse(records - 1);
        }

        private static byte[] bytes(List<String> lines) {
            return String.join("", lines).getBytes(StandardCharsets.ISO_8859_1);
        }
    }

    /// A record that is not sent, because `InputFilter` can't be applied to it.
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
