package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.content.RecordReader.Frames;
import dev.berth.hooks.BadInputException;
import dev.berth.testing.DamagedBytes;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// [RecordIo#open] and [TfRecord#open].
class FramedStreamTest {

    private static final byte[] MAGIC = {0x0a, 0x23, (byte) 0xd7, (byte) 0xce};

    /// Some of them hold the magic number, so that RecordIO cuts them into parts.
    private static final List<byte[]> RECORDS = records();

    @Test
    @Tag("BAT-13")
    void recordIoIsReadBareOrWithItsFrames() {
        var framed = RecordIo.write(RECORDS);
        assertThat(recordIo(framed, Frames.STRIPPED, Integer.MAX_VALUE)).containsExactlyElementsOf(RECORDS);
        var kept = recordIo(framed, Frames.KEPT, Integer.MAX_VALUE);
        assertThat(kept).hasSameSizeAs(RECORDS);
        assertThat(concatenated(kept)).isEqualTo(framed);
        for (int i = 0; i < kept.size(); i++) {
            assertThat(kept.get(i)).isEqualTo(RecordIo.write(List.of(RECORDS.get(i))));
        }
    }

    @Test
    @Tag("BAT-14")
    void tfRecordsAreReadBareOrWithTheirFrames() {
        var framed = TfRecord.write(RECORDS);
        assertThat(tfRecord(framed, Frames.STRIPPED, Integer.MAX_VALUE)).containsExactlyElementsOf(RECORDS);
        var kept = tfRecord(framed, Frames.KEPT, Integer.MAX_VALUE);
        assertThat(kept).hasSameSizeAs(RECORDS);
        assertThat(concatenated(kept)).isEqualTo(framed);
        for (int i = 0; i < kept.size(); i++) {
            assertThat(kept.get(i)).isEqualTo(TfRecord.write(List.of(RECORDS.get(i))));
        }
    }

    @Test
    void recordsTooLongForTheLimitAreRefusedBeforeTheyAreRead() {
        var bodies = List.of(new byte[3], new byte[5]);
        var recordIo = RecordIo.write(bodies);
        assertThat(recordIo(recordIo, Frames.STRIPPED, 5)).hasSize(2);
        assertThat(recordIo(recordIo, Frames.KEPT, 16)).hasSize(2);
        assertRefused(
                () -> recordIo(recordIo, Frames.STRIPPED, 4),
                "record 2, offset 12: found 5 bytes, expected at most 4 in one record");
        assertRefused(
                () -> recordIo(recordIo, Frames.KEPT, 15),
                "record 2, offset 12: found 16 bytes, expected at most 15 in one record");
        var cut = Arrays.copyOf(recordIo, 20);
        assertRefused(
                () -> recordIo(cut, Frames.STRIPPED, 4),
                "record 2, offset 12: found 5 bytes, expected at most 4 in one record");

        var tfRecord = TfRecord.write(bodies);
        assertThat(tfRecord(tfRecord, Frames.STRIPPED, 5)).hasSize(2);
        assertThat(tfRecord(tfRecord, Frames.KEPT, 21)).hasSize(2);
        assertRefused(
                () -> tfRecord(tfRecord, Frames.STRIPPED, 4),
                "record 2, offset 19: found 5 bytes, expected at most 4 in one record");
        assertRefused(
                () -> tfRecord(tfRecord, Frames.KEPT, 20),
                "record 2, offset 19: found 21 bytes, expected at most 20 in one record");
        assertRefused(
                () -> tfRecord(tfRecord, Frames.KEPT, 7),
                "record 1, offset 0: found 19 bytes, expected at most 7 in one record");
    }

    /// Each part is short, the record is not.
    @Test
    void partsOfARecordCountTogether() {
        var record = concatenated(List.of(MAGIC, MAGIC, MAGIC, MAGIC));
        var framed = RecordIo.write(List.of(record));
        assertThat(recordIo(framed, Frames.STRIPPED, 16)).containsExactly(record);
        assertRefused(
                () -> recordIo(framed, Frames.STRIPPED, 15),
                "record 1, offset 32: found 16 bytes, expected at most 15 in one record");
        assertRefused(
                () -> recordIo(framed, Frames.KEPT, 39),
                "record 1, offset 32: found 40 bytes, expected at most 39 in one record");
    }

    @Test
    void truncatedStreamsNameTheRecordAndTheOffset() {
        var recordIo = RecordIo.write(List.of(new byte[4], new byte[8]));
        assertRefused(
                () -> recordIo(Arrays.copyOf(recordIo, 15), Frames.KEPT, 100),
                "record 2, offset 12: found 3 bytes, expected 8 for the magic number and the length");
        assertRefused(
                () -> recordIo(Arrays.copyOf(recordIo, 25), Frames.KEPT, 100),
                "record 2, offset 20: found 5 bytes, expected 8 with the padding, as the length says");
        var tfRecord = TfRecord.write(List.of(new byte[4], new byte[8]));
        assertRefused(
                () -> tfRecord(Arrays.copyOf(tfRecord, 30), Frames.KEPT, 100),
                "record 2, offset 20: found 10 bytes, expected 12 for the length and its checksum");
        assertRefused(
                () -> tfRecord(Arrays.copyOf(tfRecord, 43), Frames.KEPT, 100),
                "record 2, offset 32: found 11 bytes, expected 8 and a checksum of 4, as the length says");
    }

    @Test
    void damagedStreamsAreReadOrRefused() {
        var records = List.of("abc".getBytes(), concatenated(List.of(MAGIC, new byte[3], MAGIC)), new byte[0]);
        for (var frames : Frames.values()) {
            DamagedBytes.areReadOrRefused(RecordIo.write(records), bytes -> recordIo(bytes, frames, 1000));
            DamagedBytes.areReadOrRefused(TfRecord.write(records), bytes -> tfRecord(bytes, frames, 1000));
        }
    }

    private static List<byte[]> recordIo(byte[] bytes, Frames frames, int maxBytes) {
        return all(RecordIo.open(new ByteArrayInputStream(bytes), frames, maxBytes));
    }

    private static List<byte[]> tfRecord(byte[] bytes, Frames frames, int maxBytes) {
        return all(TfRecord.open(new ByteArrayInputStream(bytes), frames, maxBytes));
    }

    private static List<byte[]> all(RecordReader reader) {
        var records = new ArrayList<byte[]>();
        try {
            for (var record = reader.next(); record.isPresent(); record = reader.next()) {
                records.add(record.get());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return records;
    }

    private static List<byte[]> records() {
        var random = new Random(42);
        var records = new ArrayList<byte[]>();
        for (int length = 0; length < 40; length++) {
            var record = new byte[length];
            random.nextBytes(record);
            if (length % 3 == 1 && length > 4) {
                System.arraycopy(MAGIC, 0, record, length / 8 * 4, 4);
            }
            records.add(record);
        }
        return records;
    }

    private static byte[] concatenated(List<byte[]> parts) {
        var bytes = new ByteArrayOutputStream();
        parts.forEach(bytes::writeBytes);
        return bytes.toByteArray();
    }

    private static void assertRefused(Runnable reading, String message) {
        assertThatThrownBy(reading::run).isInstanceOf(BadInputException.class).hasMessage(message);
    }
}
