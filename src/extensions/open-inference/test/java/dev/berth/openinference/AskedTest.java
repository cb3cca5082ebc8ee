package dev.berth.openinference;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

class AskedTest {

    @Test
    void namesAreReadAsSoonAsTheyAreWhole() {
        var message = HexFormat.of().parseHex("0a0161" + "120131" + "2a05");
        for (int length = 0; length < message.length - 1; length++) {
            assertThat(Asked.first(Arrays.copyOf(message, length), false)).isEmpty();
        }
        assertThat(Asked.first(message, false)).contains(new Asked("a", "1"));
    }
}
