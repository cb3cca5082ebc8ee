package dev.berth.audio;

import java.util.Arrays;

/// The picture of a sound that models for speech and sounds take: how strong each band of
/// frequencies is, step by step. Bands are triangles of Slaney's mel scale with equal areas,
/// windows are Hann's, and stand around the sample that they are of; sounds are mirrored at both
/// ends. So do librosa with `pad_mode="reflect"` and the feature extractors of transformers. Used
/// by many threads.
public final class MelSpectrogram {

    /// Mel of 1,000 Hz: below it they are in proportion.
    private static final double MELS_OF_1000 = 15;

    private static final double LOG_STEP = Math.log(6.4) / 27;

    private final int window;
    private final int step;

    /// Of the Hann window, and of the circle that the window's samples are turned on.
    private final double[] weights;

    private final double[] cosines;
    private final double[] sines;

    /// What a band takes of each frequency.
    private final double[][] bands;

    /// @param rate samples in a second
    /// @param window how many samples are looked at together; its prime factors should be small
    /// @param step samples from one column to the next
    /// @param bands how many there are between 0 Hz and half of the rate
    public MelSpectrogram(int rate, int window, int step, int bands) {
        if (rate < 1 || window < 2 || step < 1 || bands < 1) {
            throw new IllegalArgumentException(
                    "rate, window, step, bands: found %d, %d, %d, %d, expected at least 1, 2, 1, 1"
                            .formatted(rate, window, step, bands));
        }
        this.window = window;
        this.step = step;
        this.weights = new double[window];
        this.cosines = new double[window];
        this.sines = new double[window];
        for (int i = 0; i < window; i++) {
            double angle = 2 * Math.PI * i / window;
            weights[i] = 0.5 - 0.5 * Math.cos(angle);
            cosines[i] = Math.cos(angle);
            sines[i] = -Math.sin(angle);
        }
        this.bands = bands(rate, window, bands);
    }

    /// The power of each band, `[bands][1 + samples / step]`.
    ///
    /// @param samples more than half of a window
    public float[][] of(float[] samples) {
        if (samples.length <= window / 2) {
            throw new IllegalArgumentException(
                    "samples: found %d, expected more than %d".formatted(samples.length, window / 2));
        }
        var picture = new float[bands.length][1 + samples.length / step];
        var part = new double[window];
        for (int column = 0; column < picture[0].length; column++) {
            int begin = column * step - window / 2;
            for (int i = 0; i < window; i++) {
                int at = Math.abs(begin + i);
                at = at < samples.length ? at : 2 * (samples.length - 1) - at;
                part[i] = samples[at] * weights[i];
            }
            var frequencies = transform(part, 0, 1);
            for (int band = 0; band < bands.length; band++) {
                double sum = 0;
                for (int f = 0; f < bands[band].length; f++) {
                    double re = frequencies[0][f];
                    double im = frequencies[1][f];
                    sum += bands[band][f] * (re * re + im * im);
                }
                picture[band][column] = (float) sum;
            }
        }
        return picture;
    }

    /// As Whisper takes it, without the last column: the logarithm to base 10, at most 8 below the
    /// largest, plus 4 and divided by 4. Whisper's own are `new MelSpectrogram(16_000, 400, 160, 80)`
    /// of 480,000 samples; zeros make up what a sound lacks.
    public float[][] forWhisper(float[] samples) {
        var picture = of(samples);
        double largest = -10;
        for (int band = 0; band < picture.length; band++) {
            picture[band] = Arrays.copyOf(picture[band], picture[band].length - 1);
            for (int column = 0; column < picture[band].length; column++) {
                picture[band][column] = (float) Math.log10(Math.max(picture[band][column], 1e-10));
                largest = Math.max(largest, picture[band][column]);
            }
        }
        for (var row : picture) {
            for (int column = 0; column < row.length; column++) {
                row[column] = (float) ((Math.max(row[column], largest - 8) + 4) / 4);
            }
        }
        return picture;
    }

    /// The discrete Fourier transform of every `stride`th sample: real and imaginary parts.
    private double[][] transform(double[] samples, int first, int stride) {
        int length = samples.length / stride;
        if (length == 1) {
            return new double[][] {{samples[first]}, {0}};
        }
        int factor = 2;
        while (length % factor != 0) {
            factor++;
        }
        var result = new double[2][length];
        for (int i = 0; i < factor; i++) {
            var part = transform(samples, first + i * stride, stride * factor);
            for (int f = 0; f < length; f++) {
                int turn = i * f % length * stride;
                double re = part[0][f % (length / factor)];
                double im = part[1][f % (length / factor)];
                result[0][f] += re * cosines[turn] - im * sines[turn];
                result[1][f] += re * sines[turn] + im * cosines[turn];
            }
        }
        return result;
    }

    private static double[][] bands(int rate, int window, int count) {
        var edges = new double[count + 2];
        double mels = mel(rate / 2.0);
        for (int i = 0; i < edges.length; i++) {
            edges[i] = hertz(mels * i / (count + 1));
        }
        var bands = new double[count][window / 2 + 1];
        for (int band = 0; band < count; band++) {
            double low = edges[band];
            double middle = edges[band + 1];
            double high = edges[band + 2];
            for (int f = 0; f <= window / 2; f++) {
                double frequency = (double) rate * f / window;
                double up = (frequency - low) / (middle - low);
                double down = (high - frequency) / (high - middle);
                bands[band][f] = Math.max(0, Math.min(up, down)) * 2 / (high - low);
            }
        }
        return bands;
    }

    private static double mel(double hertz) {
        return hertz < 1000 ? hertz * MELS_OF_1000 / 1000 : MELS_OF_1000 + Math.log(hertz / 1000) / LOG_STEP;
    }

    private static double hertz(double mel) {
        return mel < MELS_OF_1000 ? mel * 1000 / MELS_OF_1000 : 1000 * Math.exp((mel - MELS_OF_1000) * LOG_STEP);
    }
}
