package dev.berth.transform;

import java.io.InputStream;
import java.util.Arrays;
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
    /// @param records how many there are
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
            var ends = endsOfLines(body);
            int first = half(ends);
            int inputEnd = endsOfLines(input)[first - 1];
            return List.of(
                    new MiniBatch(
                            firstRecord, first, Arrays.copyOf(body, ends[first - 1]), Arrays.copyOf(input, inputEnd)),
                    new MiniBatch(
                            firstRecord + first,
                            records - first,
                            Arrays.copyOfRange(body, ends[first - 1], body.length),
                            Arrays.copyOfRange(input, inputEnd, input.length)));
        }

        /// How many records the first half has. At its end a blank line would not count.
        private int half(int[] ends) {
            int middle = records / 2;
            return IntStream.concat(
                            IntStream.range(middle, records),
                            IntStream.range(1, middle).map(i -> middle - i))
                    .filter(last -> !LineReader.isBlank(
                            Arrays.copyOfRange(body, last == 1 ? 0 : ends[last - 2], ends[last - 1])))
                    .findFirst()
                    .orElse(records - 1);
        }

        private int[] endsOfLines(byte[] text) {
            var ends = new int[records];
            int line = 0;
            for (int i = 0; i < text.length; i++) {
                if (text[i] == '\n') {
                    ends[line++] = i + 1;
                }
            }
            // The last one may go without a newline.
            ends[records - 1] = text.length;
            return ends;
        }
    }

    /// A record that is not sent, because `InputFilter` can't be applied to it.
    ///
    /// @param input the record as it was
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
