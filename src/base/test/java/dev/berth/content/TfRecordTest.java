package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import dev.berth.testing.DamagedBytes;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TfRecordTest {

    private static final byte[] ABC = {'a', 'b', 'c'};

    @Test
    @Tag("BAT-14")
    void framedRecordsAndBareRecordsAreTheSame() {
        var records = IntStream.range(0, 20)
                .mapToObj(length -> "x".repeat(length).getBytes(StandardCharsets.UTF_8))
                .toList();
        assertThat(TfRecord.read(TfRecord.write(records))).containsExactlyElementsOf(records);
        for (var record : records) {
            assertThat(TfRecord.read(record)).containsExactly(record);
            assertThat(TfRecord.read(TfRecord.write(List.of(record)))).containsExactly(record);
        }
    }

    /// As TensorBoard's `RecordWriter` frames `abc` and an empty record.
    @Test
    @Tag("BAT-14")
    void theFramingIsThatOfTensorFlow() {
        var framed = bytes("0300000000000000 b099490e 616263 6e57f121" + "0000000000000000 29039807 d8ea82a2");
        assertThat(TfRecord.read(framed)).containsExactly(ABC, new byte[0]);
        assertThat(TfRecord.write(List.of(ABC, new byte[0]))).isEqualTo(framed);
        assertThat(TfRecord.write(List.of())).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "00", "0300000000000000", "030000000000000000000000616263"})
    void whatDoesNotBeginWithALengthAndItsChecksumIsOneBareRecord(String body) {
        assertThat(TfRecord.read(bytes(body))).containsExactly(bytes(body));
    }

    @Test
    void truncatedRecordsAreRefused() {
        var body = TfRecord.write(List.of(new byte[0], ABC));
        assertThat(body).hasSize(16 + 19);
        assertRefused(
                Arrays.copyOf(body, 15),
                "record 1, offset 12: found 3 bytes, expected 0 and a checksum of 4, as the length says");
        assertRefused(
                Arrays.copyOf(body, 17),
                "record 2, offset 16: found 1 bytes, expected 12 for the length and its checksum");
        assertRefused(
                Arrays.copyOf(body, 30),
                "record 2, offset 28: found 2 bytes, expected 3 and a checksum of 4, as the length says");
        assertRefused(
                Arrays.copyOf(body, 34),
                "record 2, offset 28: found 6 bytes, expected 3 and a checksum of 4, as the length says");
    }

    /// The largest numbers of 8 bytes, with their checksums.
    @Test
    void lengthsBeyondTheBodyAreRefusedBeforeAnythingIsAllocated() {
        assertRefused(
                bytes("ffffffffffffffff a67b113a 00000000"),
                "record 1, offset 0: found 18446744073709551615 bytes, expected at most 2147483615 in one record");
        assertRefused(
                bytes("ffffffffffffff7f fa7f0284"),
                "record 1, offset 0: found 9223372036854775807 bytes, expected at most 2147483615 in one record");
        assertRefused(
                bytes("0000008000000000 ecaf3072"),
                "record 1, offset 0: found 2147483648 bytes, expected at most 2147483615 in one record");
    }

    @Test
    void wrongChecksumsAreRefused() {
        var data = TfRecord.write(List.of(new byte[0], ABC));
        data[28] ^= 1;
        assertRefused(
                data, "record 2, offset 31: found the checksum 0x21f1576e, expected 0xfe1610ed for the data before it");
        var length = TfRecord.write(List.of(new byte[0], ABC));
        length[24] ^= 1;
        assertRefused(
                length,
                "record 2, offset 24: found the checksum 0x0e4999b1, expected 0x0e4999b0 for the length before it");
    }

    @Test
    void damagedBodiesAreReadOrRefused() {
        DamagedBytes.areReadOrRefused(TfRecord.write(List.of(ABC, new byte[0], new byte[20])), TfRecord::read);
    }

    private static byte[] bytes(String hex) {
        return HexFormat.of().parseHex(hex.replace(" ", ""));
    }

    private static void assertRefused(byte[] body, String message) {
        assertThatThrownBy(() -> TfRecord.read(body))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }
}
