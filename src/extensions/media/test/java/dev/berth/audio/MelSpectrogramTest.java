package dev.berth.audio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Expected values are those of `spectrogram` and `WhisperFeatureExtractor` of transformers 5.18.0.
class MelSpectrogramTest {

    private static final MelSpectrogram WHISPER = new MelSpectrogram(16_000, 400, 160, 80);

    /// A tone of 440 Hz, and a weaker one that rises.
    private static float[] sound(int length) {
        var samples = new float[length];
        for (int i = 0; i < length; i++) {
            double second = i / 16_000.0;
            samples[i] = (float)
                    (0.5 * Math.sin(2 * Math.PI * 440 * second) + 0.1 * Math.sin(2 * Math.PI * 2000 * second * second));
        }
        return samples;
    }

    @ParameterizedTest
    @CsvSource({
        "16000, 400, 160, 80, 3201, 0, 0, 8.052022e-01",
        "16000, 400, 160, 80, 3201, 11, 0, 2.794890e+00",
        "16000, 400, 160, 80, 3201, 11, 10, 6.879562e+01",
        "16000, 400, 160, 80, 3201, 12, 20, 2.109043e+01",
        "16000, 400, 160, 80, 3201, 10, 20, 2.328211e+01",
        "16000, 400, 160, 80, 3201, 30, 13, 7.530371e-10",
        "22050, 1024, 256, 64, 3000, 5, 0, 2.835793e+00",
        "22050, 1024, 256, 64, 3000, 20, 5, 1.202359e-07",
        "22050, 1024, 256, 64, 3000, 63, 11, 4.708854e-05"
    })
    void powersAreThoseOfPython(
            int rate, int window, int step, int bands, int length, int band, int column, double power) {
        var picture = new MelSpectrogram(rate, window, step, bands).of(sound(length));
        assertThat(picture).hasDimensions(bands, 1 + length / step);
        assertThat((double) picture[band][column]).isCloseTo(power, within(1e-9 + 1e-5 * power));
    }

    @ParameterizedTest
    @CsvSource({
        "0, 0, 0.976476",
        "11, 0, 1.111591",
        "11, 50, 1.438204",
        "40, 90, -0.538118",
        "79, 99, -0.481856",
        "20, 101, 0.172700",
        "20, 2999, -0.538118"
    })
    void whispersFeaturesAreThoseOfPython(int band, int column, double feature) {
        var picture = WHISPER.forWhisper(Arrays.copyOf(sound(16_000), 480_000));
        assertThat(picture).hasDimensions(80, 3000);
        assertThat((double) picture[band][column]).isCloseTo(feature, within(1e-5));
    }

    @Test
    void tooLittleIsRefused() {
        assertThatThrownBy(() -> WHISPER.of(new float[200])).hasMessage("samples: found 200, expected more than 200");
        assertThatThrownBy(() -> new MelSpectrogram(16_000, 400, 0, 80))
                .hasMessage("rate, window, step, bands: found 16000, 400, 0, 80, expected at least 1, 2, 1, 1");
    }
}
