package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.content.BatchStrategy;
import dev.berth.content.RecordIo;
import dev.berth.content.TfRecord;
import dev.berth.hooks.BadInputException;
import dev.berth.testing.DamagedBytes;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

class RecordReaderTest {

    private static final long MEBIBYTE = 1 << 20;

    /// What a reader of lines reads at once.
    private static final int BUFFER_BYTES = 64 * 1024;

    @ParameterizedTest
    @EnumSource(BatchStrategy.class)
    @Tag("BAT-07")
    void linesKeepTheirOwnNewlines(BatchStrategy strategy) throws IOException {
        assertThat(lines("a\nb\r\n\nc\rd\né", strategy)).containsExactly("a\n", "b\r\n", "\n", "c\rd\n", "é");
        assertThat(lines("a\n", strategy)).containsExactly("a\n");
        assertThat(lines("\n\na\n \r\n\n", strategy))
                .as("blank lines at the end do not count")
                .containsExactly("\n", "\n", "a\n");
        assertThat(lines("\n".repeat(70_000) + "a", strategy))
                .hasSize(70_001)
                .last()
                .isEqualTo("a");
        assertThat(lines("\n\n", strategy)).isEmpty();
        assertThat(lines("", strategy)).isEmpty();
    }

    /// As the platform's documents say.
    @Test
    void aNewlineInAQuotedCellEndsTheRecord() throws IOException {
        assertThat(lines("1,\"a\nb\"\n", BatchStrategy.SINGLE_RECORD)).containsExactly("1,\"a\n", "b\"\n");
    }

    @Test
    void linesOfEveryLengthAroundTheBufferAreWhole() throws IOException {
        for (int length = BUFFER_BYTES - 3; length <= BUFFER_BYTES + 3; length++) {
            var line = "x".repeat(length);
            assertThat(lines("a\n" + line + "\n" + line, BatchStrategy.SINGLE_RECORD))
                    .containsExactly("a\n", line + "\n", line);
        }
    }

    /// The reader never holds more than the record that it gives and one buffer.
    @Test
    void aLargeObjectIsReadInConstantMemory() throws IOException {
        var object = new SyntheticObject(("x".repeat(100_000) + "\n" + "short\n").getBytes(UTF_8), 200 * MEBIBYTE);
        assertReadInConstantMemory(object, FramedSplit.LINE);
        var recordIo = RecordIo.write(List.of(new byte[100_000], new byte[3]));
        assertReadInConstantMemory(new SyntheticObject(recordIo, 2_000L * recordIo.length), FramedSplit.RECORD_IO);
        var tfRecord = TfRecord.write(List.of(new byte[100_000], new byte[3]));
        assertReadInConstantMemory(new SyntheticObject(tfRecord, 2_000L * tfRecord.length), FramedSplit.TF_RECORD);
    }

    private static void assertReadInConstantMemory(SyntheticObject object, SplitType splitType) throws IOException {
        var reader = new Splitting(splitType, BatchStrategy.MULTI_RECORD, MEBIBYTE).open(object);
        long given = 0;
        long mostAhead = 0;
        for (var record = reader.next(); record.isPresent(); record = reader.next()) {
            given += record.get().length;
            mostAhead = Math.max(mostAhead, object.bytesRead() - given);
        }
        assertThat(given).isEqualTo(object.bytesRead()).isGreaterThan(190 * MEBIBYTE);
        assertThat(mostAhead).isLessThanOrEqualTo(64 * 1024);
        assertThat(object.largestRead()).isLessThanOrEqualTo(64 * 1024);
    }

    /// A line without an end is refused when the limit is reached, and so is an object.
    @Test
    void whatIsTooLongIsNotReadToItsEnd() {
        for (var splitType : List.of(FramedSplit.LINE, FramedSplit.NONE)) {
            var object = new SyntheticObject("x".getBytes(UTF_8), 200 * MEBIBYTE);
            var reader = Splitting.ofMebibytes(splitType, BatchStrategy.MULTI_RECORD, 1)
                    .open(object);
            assertThatThrownBy(reader::next)
                    .isInstanceOf(BadInputException.class)
                    .hasMessage("record 1: found more than 1048576 bytes, expected at most 1048576 in one record");
            assertThat(object.bytesRead()).isLessThanOrEqualTo(MEBIBYTE + 64 * 1024);
        }
    }

    @Test
    void unlimitedRecordsEndWithWhatTheApiKnowsAndWhatAnArrayHolds() {
        assertThat(new Splitting(FramedSplit.LINE, BatchStrategy.MULTI_RECORD, 0).maxRecord())
                .isEqualTo(100 << 20);
        assertThat(new Splitting(FramedSplit.LINE, BatchStrategy.MULTI_RECORD, 1L << 40).maxRecord())
                .isEqualTo(Integer.MAX_VALUE - 8);
        assertThat(Splitting.ofMebibytes(FramedSplit.LINE, BatchStrategy.MULTI_RECORD, 6)
                        .maxRecord())
                .isEqualTo(6_291_456);
    }

    @ParameterizedTest
    @MethodSource("dev.berth.transform.FramedSplit#all")
    void aStreamThatFailsIsNoBadInput(SplitType splitType) throws IOException {
        var closed = InputStream.nullInputStream();
        closed.close();
        var reader =
                Splitting.ofMebibytes(splitType, BatchStrategy.MULTI_RECORD, 6).open(closed);
        assertThatThrownBy(reader::next).isInstanceOf(IOException.class).hasMessage("Stream closed");
    }

    @ParameterizedTest
    @MethodSource("dev.berth.transform.FramedSplit#all")
    void damagedObjectsAreReadOrRefused(SplitType splitType) {
        var records = List.of("abc".getBytes(UTF_8), new byte[0], "d\n\r\ne".getBytes(UTF_8));
        var object = splitType.equals(FramedSplit.TF_RECORD) ? TfRecord.write(records) : RecordIo.write(records);
        for (var strategy : BatchStrategy.values()) {
            DamagedBytes.areReadOrRefused(object, bytes -> {
                try {
                    all(new ByteArrayInputStream(bytes), new Splitting(splitType, strategy, 40));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }

    private static List<String> lines(String text, BatchStrategy strategy) throws IOException {
        var object = new ByteArrayInputStream(text.getBytes(UTF_8));
        return all(object, Splitting.ofMebibytes(FramedSplit.LINE, strategy, 6)).stream()
                .map(record -> new String(record, UTF_8))
                .toList();
    }

    private static List<byte[]> all(InputStream object, Splitting splitting) throws IOException {
        var reader = splitting.open(object);
        var records = new ArrayList<byte[]>();
        for (var record = reader.next(); record.isPresent(); record = reader.next()) {
            records.add(record.get());
        }
        assertThat(reader.next()).isEmpty();
        return records;
    }
}
