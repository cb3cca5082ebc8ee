package dev.berth.openinference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ServingException;
import dev.berth.memory.RequestMemory;
import dev.berth.memory.RequestMemory.ProcessMemory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.HexFormat;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The prefix of a message, as no client writes it wrong.
class GrpcMessageTest {

    /// `ab`, packed by zlib.
    private static final String DEFLATED = "789c4b4c0200012600c4";

    @AutoClose
    private final RequestMemory memory = new RequestMemory(ProcessMemory.ofThisProcess(), System.nanoTime(), () -> {});

    private InputStream message(InputStream body, String coding, boolean isOnly) throws IOException {
        return new GrpcMessage(body, isOnly).inflated(coding, memory);
    }

    private static InputStream bytes(String hex) {
        return new ByteArrayInputStream(HexFormat.of().parseHex(hex));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        ''               | identity | found 0 bytes, expected a message behind the 5 of its prefix
        00000000         | identity | found 4 bytes, expected a message behind the 5 of its prefix
        0100000000       | identity | found a compressed message, expected one that is not
        000000000201     | identity | found its end, expected 1 more bytes of its message
        00000000010102   | identity | found more bytes behind its message, expected one message
        00ffffffff0102   | identity | found its end, expected 4294967293 more bytes
        0100000000       | gzip     | it is not whole gzip, as grpc-encoding says:
        01000000020102   | gzip     | it is not whole gzip, as grpc-encoding says:
        01000000020102   | deflate  | it is not whole deflate, as grpc-encoding says:
        """)
    void aBrokenOneIsNamed(String body, String coding, String message) {
        assertThatThrownBy(() -> message(bytes(body), coding, true).readAllBytes())
                .isInstanceOf(ServingException.class)
                .hasMessageContaining(message);
    }

    @Test
    void theRestOfAMessageIsSkipped() throws Exception {
        var body = bytes("00000000036162" + "63" + "010000000a" + DEFLATED + "00000000017a");
        var first = new GrpcMessage(body, false);
        assertThat(first.read()).isEqualTo('a');
        assertThat(first.readAllBytes()).hasSize(2);
        assertThat(new GrpcMessage(body, false).readAllBytes()).hasSize(10);
        assertThat(message(body, "deflate", true).read()).isEqualTo('z');
    }
}
