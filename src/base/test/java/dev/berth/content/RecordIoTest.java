package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import dev.berth.testing.DamagedBytes;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RecordIoTest {

    private static final String MAGIC = "0a23d7ce";

    @Test
    @Tag("BAT-13")
    void framedRecordsAndBareRecordsAreTheSame() {
        var records = IntStream.range(0, 9)
                .mapToObj(length -> "x".repeat(length).getBytes(StandardCharsets.UTF_8))
                .toList();
        assertThat(RecordIo.read(RecordIo.write(records))).containsExactlyElementsOf(records);
        for (var record : records) {
            assertThat(RecordIo.read(record)).containsExactly(record);
            assertThat(RecordIo.read(RecordIo.write(List.of(record)))).containsExactly(record);
        }
    }

    /// As the SDK's `_write_recordio` frames `abcde` and an empty record.
    @Test
    @Tag("BAT-13")
    void theFramingIsThatOfTheSdk() {
        var framed = bytes(MAGIC + "05000000" + "6162636465000000" + MAGIC + "00000000");
        assertThat(RecordIo.read(framed)).containsExactly("abcde".getBytes(StandardCharsets.UTF_8), new byte[0]);
        assertThat(RecordIo.write(RecordIo.read(framed))).isEqualTo(framed);
        assertThat(RecordIo.write(List.of())).isEmpty();
    }

    /// dmlc-core's own test writes these six words: they begin and end with the magic number.
    @ParameterizedTest
    @CsvSource({
        // magic, 0, 2, 3, magic, magic
        "0a23d7ce 00000000 02000000 03000000 0a23d7ce 0a23d7ce, "
                + "M 00000020 M 0c000040 00000000 02000000 03000000 M 00000040 M 00000060",
        "0a23d7ce, M 00000020 M 00000060",
        "61626364 0a23d7ce 65, M 04000020 61626364 M 01000060 65000000",
        // Not at a multiple of 4, and not whole: nothing to cut.
        "61 0a23d7ce 65, M 06000000 610a23d7ce650000",
        "61626364 0a23d7, M 07000000 616263640a23d700",
    })
    void recordsThatHoldTheMagicNumberAreCutThere(String record, String framed) {
        var bytes = bytes(record);
        assertThat(RecordIo.write(List.of(bytes))).isEqualTo(bytes(framed.replace("M", MAGIC)));
        assertThat(RecordIo.read(bytes(framed.replace("M", MAGIC)))).containsExactly(bytes);
    }

    /// The SDK never cuts records.
    @Test
    void aMagicNumberWithinAWholeRecordIsData() {
        assertThat(RecordIo.read(bytes(MAGIC + "04000000" + MAGIC))).containsExactly(bytes(MAGIC));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00", "0a23d7", "0b23d7ce00000000", "ced7230a00000000"})
    void whatDoesNotBeginWithTheMagicNumberIsOneBareRecord(String body) {
        assertThat(RecordIo.read(bytes(body))).containsExactly(bytes(body));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "M|record 1, offset 0: found 4 bytes, expected 8 for the magic number and the length",
                "M 04000000 000000|record 1, offset 8: found 3 bytes, expected 4 with the padding, as the length says",
                "M 01000000 61|record 1, offset 8: found 1 bytes, expected 4 with the padding, as the length says",
                "M ffffff1f|record 1, offset 8: found 0 bytes, expected 536870912 with the padding, as the length says",
                "M 00000000 00000000 00|record 2, offset 8: found 5 bytes, expected 8 for the magic number and the length",
                "M 00000000 61626364 00000000|record 2, offset 8: found 0x64636261, expected the magic number 0xced7230a",
                "M 00000040|record 1, offset 0: found the continuation flag 2, expected 0 or 1 at the beginning of a record",
                "M 000000e0|record 1, offset 0: found the continuation flag 7, expected 0 or 1 at the beginning of a record",
                "M 00000020|record 1, offset 8: found 0 bytes, expected 8 for the magic number and the length",
                "M 00000020 M 00000000|record 1, offset 8: found the continuation flag 0, expected 2 or 3 within a record",
                "M 00000020 M 00000040|record 1, offset 16: found 0 bytes, expected 8 for the magic number and the length",
            })
    void brokenFramesAreRefused(String body, String message) {
        assertThatThrownBy(() -> RecordIo.read(bytes(body.replace("M", MAGIC))))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    @Test
    void recordsTooLongForTheLengthWordAreNotWritten() {
        assertThat(RecordIo.lengthWord(3, (1 << 29) - 1)).isEqualTo(0x7fffffff);
        assertThatThrownBy(() -> RecordIo.lengthWord(0, 1 << 29))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("found a record of 536870912 bytes, expected at most 536870911 in RecordIO");
    }

    @Test
    void damagedBodiesAreReadOrRefused() {
        var body =
                RecordIo.write(List.of(bytes("616263"), bytes(MAGIC + "00000000" + MAGIC + "61" + MAGIC), new byte[0]));
        DamagedBytes.areReadOrRefused(body, RecordIo::read);
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }
}
