package dev.berth.fuzz;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import com.sun.management.ThreadMXBean;
import java.io.ByteArrayOutputStream;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Each decoder reads or refuses what several random changes make of valid bytes, and takes memory
/// in proportion to them. `tools/reliability/decoders` does the same for as long as one likes, and
/// finds new paths by itself.
class DecoderTest {

    private static final int INPUTS = 4_000;

    /// What a decoder may allocate for an input: some times its bytes, and a picture or an archive of
    /// the largest size that the decoders are told to take.
    private static final long FACTOR = 200;

    private static final long CONSTANT = 8 * Decoder.MEBIBYTE;

    private static final ThreadMXBean MEMORY = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @ParameterizedTest
    @EnumSource
    void readsOrRefusesWithinItsMemory(Decoder decoder) throws Exception {
        var random = new Random(19);
        for (var example : decoder.examples()) {
            decoder.readOrRefuse(example);
        }
        for (int i = 0; i < INPUTS; i++) {
            var bytes = changed(
                    decoder.examples().get(random.nextInt(decoder.examples().size())), random);
            long before = MEMORY.getCurrentThreadAllocatedBytes();
            try {
                decoder.readOrRefuse(bytes);
            } catch (Throwable e) {
                fail("input %d, %s".formatted(i, HexFormat.of().formatHex(bytes)), e);
            }
            assertThat(MEMORY.getCurrentThreadAllocatedBytes() - before)
                    .as("bytes allocated for input %d, %s", i, HexFormat.of().formatHex(bytes))
                    .isLessThan(FACTOR * bytes.length + CONSTANT);
        }
    }

    private static byte[] changed(byte[] example, Random random) {
        var bytes = example;
        for (int i = random.nextInt(6); i >= 0; i--) {
            int from = random.nextInt(bytes.length + 1);
            int to = Math.min(bytes.length, from + (1 << random.nextInt(6)));
            var taken = Arrays.copyOfRange(bytes, from, to);
            bytes = switch (random.nextInt(5)) {
                case 0 -> joined(Arrays.copyOf(bytes, from));
                case 1 -> joined(Arrays.copyOf(bytes, from), Arrays.copyOfRange(bytes, to, bytes.length));
                case 2 -> joined(Arrays.copyOf(bytes, to), taken, taken, Arrays.copyOfRange(bytes, from, bytes.length));
                default -> {
                    // Lengths and offsets that nobody means are made of these.
                    Arrays.fill(
                            taken,
                            List.of((byte) 0, (byte) 0xff, (byte) 0x7f, (byte) random.nextInt())
                                    .get(random.nextInt(4)));
                    yield joined(Arrays.copyOf(bytes, from), taken, Arrays.copyOfRange(bytes, to, bytes.length));
                }
            };
        }
        return bytes;
    }

    private static byte[] joined(byte[]... parts) {
        var all = new ByteArrayOutputStream();
        for (var part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }
}
