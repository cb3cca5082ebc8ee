package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.content.RecordReader.Frames;
import dev.berth.hooks.BadInputException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Bodies and streams of RecordIO and of TFRecord.
class FramedRecordsTest {

    /// RecordIO's, in the order of a file.
    private static final String MAGIC = "0a23d7ce";

    enum Format {
        RECORD_IO(RecordIo::write, RecordIo::read, RecordIo::open),
        TF_RECORD(TfRecord::write, TfRecord::read, TfRecord::open);

        private interface Opener {
            RecordReader open(InputStream input, Frames frames, int maxBytes);
        }

        final Function<List<byte[]>, byte[]> writer;
        final Function<byte[], List<byte[]>> reader;
        private final Opener opener;

        Format(Function<List<byte[]>, byte[]> writer, Function<byte[], List<byte[]>> reader, Opener opener) {
            this.writer = writer;
            this.reader = reader;
            this.opener = opener;
        }

        List<byte[]> stream(byte[] bytes, Frames frames, int maxBytes) {
            var stream = opener.open(new ByteArrayInputStream(bytes), frames, maxBytes);
            var records = new ArrayList<byte[]>();
            try {
                for (var record = stream.next(); record.isPresent(); record = stream.next()) {
                    records.add(record.get());
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            return records;
        }
    }

    /// Some of them hold the magic number, so that RecordIO cuts them into parts.
    private static List<byte[]> records() {
        var random = new Random(42);
        var records = new ArrayList<byte[]>();
        for (int length = 0; length < 40; length++) {
            var record = new byte[length];
            random.nextBytes(record);
            if (length % 3 == 1 && length > 8) {
                System.arraycopy(bytes(MAGIC), 0, record, length / 8 * 4, 4);
            }
            records.add(record);
        }
        return records;
    }

    @ParameterizedTest
    @EnumSource
    @Tag("BAT-13")
    @Tag("BAT-14")
    void recordsAreReadBareAndWithTheirFrames(Format format) {
        var records = records();
        var framed = format.writer.apply(records);
        assertThat(format.reader.apply(framed)).containsExactlyElementsOf(records);
        assertThat(format.stream(framed, Frames.STRIPPED, Integer.MAX_VALUE)).containsExactlyElementsOf(records);
        assertThat(format.stream(framed, Frames.KEPT, Integer.MAX_VALUE))
                .containsExactlyElementsOf(records.stream()
                        .map(record -> format.writer.apply(List.of(record)))
                        .toList());
        for (var record : records) {
            assertThat(format.reader.apply(record)).containsExactly(record);
        }
        assertThat(format.writer.apply(List.of())).isEmpty();
    }

    /// As the SDK's `_write_recordio` and TensorBoard's `RecordWriter` frame them. dmlc-core's own test
    /// writes the six words that begin and end with the magic number.
    @ParameterizedTest
    @Tag("BAT-13")
    @Tag("BAT-14")
    @CsvSource({
        "RECORD_IO, 6162636465, M 05000000 6162636465000000",
        "RECORD_IO, M 00000000 02000000 03000000 M M, "
                + "M 00000020 M 0c000040 00000000 02000000 03000000 M 00000040 M 00000060",
        "RECORD_IO, M, M 00000020 M 00000060",
        "RECORD_IO, 61626364 M 65, M 04000020 61626364 M 01000060 65000000",
        // Not at a multiple of 4, and not whole: nothing to cut.
        "RECORD_IO, 61 M 65, M 06000000 61 M 650000",
        "RECORD_IO, 61626364 0a23d7, M 07000000 616263640a23d700",
        "TF_RECORD, 616263, 0300000000000000 b099490e 616263 6e57f121",
        "TF_RECORD, '', 0000000000000000 29039807 d8ea82a2",
    })
    void theFramingIsThatOfOthers(Format format, String record, String framed) {
        assertThat(format.writer.apply(List.of(bytes(record)))).isEqualTo(bytes(framed));
        assertThat(format.reader.apply(bytes(framed))).containsExactly(bytes(record));
    }

    /// The SDK never cuts records.
    @Test
    void aMagicNumberWithinAWholeRecordIsData() {
        assertThat(RecordIo.read(bytes("M 04000000 M"))).containsExactly(bytes(MAGIC));
    }

    @ParameterizedTest
    @CsvSource({
        "RECORD_IO, ''",
        "RECORD_IO, 00",
        "RECORD_IO, 0a23d7",
        "RECORD_IO, 0b23d7ce00000000",
        "RECORD_IO, ced7230a00000000",
        "TF_RECORD, ''",
        "TF_RECORD, 00",
        "TF_RECORD, 0300000000000000",
        "TF_RECORD, 030000000000000000000000616263"
    })
    void whatDoesNotBeginAsAFrameIsOneBareRecord(Format format, String body) {
        assertThat(format.reader.apply(bytes(body))).containsExactly(bytes(body));
    }

    /// TFRecord's lengths are the largest numbers of 8 bytes, with their checksums.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "RECORD_IO | M | record 1, offset 0: found 4 bytes, expected 8 for the magic number and the length",
                "RECORD_IO | M 04000000 000000 | record 1, offset 8: found 3 bytes, expected 4 with the padding, as the length says",
                "RECORD_IO | M 01000000 61 | record 1, offset 8: found 1 bytes, expected 4 with the padding, as the length says",
                "RECORD_IO | M ffffff1f | record 1, offset 8: found 0 bytes, expected 536870912 with the padding, as the length says",
                "RECORD_IO | M 00000000 00000000 00 | record 2, offset 8: found 5 bytes, expected 8 for the magic number and the length",
                "RECORD_IO | M 00000000 61626364 00000000 | record 2, offset 8: found 0x64636261, expected the magic number 0xced7230a",
                "RECORD_IO | M 00000040 | record 1, offset 0: found the continuation flag 2, expected 0 or 1 at the beginning of a record",
                "RECORD_IO | M 000000e0 | record 1, offset 0: found the continuation flag 7, expected 0 or 1 at the beginning of a record",
                "RECORD_IO | M 00000020 | record 1, offset 8: found 0 bytes, expected 8 for the magic number and the length",
                "RECORD_IO | M 00000020 M 00000000 | record 1, offset 8: found the continuation flag 0, expected 2 or 3 within a record",
                "RECORD_IO | M 00000020 M 00000040 | record 1, offset 16: found 0 bytes, expected 8 for the magic number and the length",
                "TF_RECORD | 0000000000000000 29039807 d8ea82 | record 1, offset 12: found 3 bytes, expected 0 and a checksum of 4, as the length says",
                "TF_RECORD | 0000000000000000 29039807 d8ea82a2 03 | record 2, offset 16: found 1 bytes, expected 12 for the length and its checksum",
                "TF_RECORD | 0300000000000000 b099490e 616263 6e57f1 | record 1, offset 12: found 6 bytes, expected 3 and a checksum of 4, as the length says",
                "TF_RECORD | 0300000000000000 b099490e 616263 6f57f121 | record 1, offset 15: found the checksum 0x21f1576f, expected 0x21f1576e for the data before it",
                "TF_RECORD | 0000000000000000 29039807 d8ea82a2 0300000000000000 b199490e | record 2, offset 24: found the checksum 0x0e4999b1, expected 0x0e4999b0 for the length before it",
                "TF_RECORD | ffffffffffffffff a67b113a 00000000 | record 1, offset 0: found 18446744073709551615 bytes, expected at most 2147483615 in one record",
                "TF_RECORD | ffffffffffffff7f fa7f0284 | record 1, offset 0: found 9223372036854775807 bytes, expected at most 2147483615 in one record",
                "TF_RECORD | 0000008000000000 ecaf3072 | record 1, offset 0: found 2147483648 bytes, expected at most 2147483615 in one record",
            })
    void brokenFramesAreRefused(Format format, String body, String message) {
        assertThatThrownBy(() -> format.reader.apply(bytes(body)))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
        assertThatThrownBy(() -> format.stream(bytes(body), Frames.STRIPPED, Integer.MAX_VALUE))
                .hasMessage(message);
    }

    /// Also where the record is cut off: it is refused before it is read.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "RECORD_IO | STRIPPED | 4  | record 2, offset 12: found 5 bytes, expected at most 4 in one record",
                "RECORD_IO | KEPT     | 15 | record 2, offset 12: found 16 bytes, expected at most 15 in one record",
                "TF_RECORD | STRIPPED | 4  | record 2, offset 19: found 5 bytes, expected at most 4 in one record",
                "TF_RECORD | KEPT     | 20 | record 2, offset 19: found 21 bytes, expected at most 20 in one record",
                "TF_RECORD | KEPT     | 7  | record 1, offset 0: found 19 bytes, expected at most 7 in one record",
            })
    void recordsTooLongForTheLimitAreRefusedBeforeTheyAreRead(
            Format format, Frames frames, int maxBytes, String message) {
        var framed = format.writer.apply(List.of(new byte[3], new byte[5]));
        if (maxBytes != 7) {
            assertThat(format.stream(framed, frames, maxBytes + 1)).hasSize(2);
        }
        for (int cut : List.of(0, 1)) {
            assertThatThrownBy(() -> format.stream(Arrays.copyOf(framed, framed.length - cut), frames, maxBytes))
                    .isInstanceOf(BadInputException.class)
                    .hasMessage(message);
        }
    }

    /// Each part is short, the record is not.
    @ParameterizedTest
    @CsvSource({"STRIPPED, 16", "KEPT, 40"})
    void partsOfARecordCountTogether(Frames frames, int bytes) {
        var framed = RecordIo.write(List.of(bytes("M M M M")));
        assertThat(Format.RECORD_IO.stream(framed, frames, bytes)).hasSize(1);
        assertThatThrownBy(() -> Format.RECORD_IO.stream(framed, frames, bytes - 1))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 1, offset 32: found %d bytes, expected at most %d in one record", bytes, bytes - 1);
    }

    @Test
    void recordsTooLongForTheLengthWordAreNotWritten() {
        assertThat(RecordIo.lengthWord(3, (1 << 29) - 1)).isEqualTo(0x7fffffff);
        assertThatThrownBy(() -> RecordIo.lengthWord(0, 1 << 29))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("found a record of 536870912 bytes, expected at most 536870911 in RecordIO");
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace("M", MAGIC).replace(" ", ""));
    }
}
