package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.BadInputException;
import java.util.Arrays;
import java.util.Random;
import java.util.function.Consumer;

/// Cuts and changes valid bytes at every place, and checks that a reader gives a value or says what
/// is wrong.
public final class DamagedBytes {

    private static final int CHANGES_PER_BYTE = 4;

    private DamagedBytes() {}

    public static void areReadOrRefused(byte[] valid, Consumer<byte[]> reader) {
        var random = new Random(42);
        for (int at = 0; at < valid.length; at++) {
            readOrRefuse(Arrays.copyOf(valid, at), reader);
            readOrRefuse(Arrays.copyOfRange(valid, at, valid.length), reader);
            for (int i = 0; i < CHANGES_PER_BYTE; i++) {
                var changed = valid.clone();
                changed[at] ^= (byte) (i == 0 ? 0x80 : 1 + random.nextInt(255));
                readOrRefuse(changed, reader);
            }
        }
    }

    private static void readOrRefuse(byte[] bytes, Consumer<byte[]> reader) {
        try {
            reader.accept(bytes);
        } catch (BadInputException e) {
            assertThat(e).hasMessageContaining("found").hasMessageContaining("expected");
        }
    }
}
