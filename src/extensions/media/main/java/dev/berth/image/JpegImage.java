package dev.berth.image;

import java.awt.image.DataBufferByte;
import java.io.IOException;
import java.util.function.UnaryOperator;

/// The pixels of a JPEG file of 8 bits: baseline or progressive, grey, in colour, or in the four inks
/// of print.
///
/// The JDK's decoder is libjpeg, as is Pillow's. It is asked for the samples alone: what colours
/// they are is found out and computed here, since the JDK goes by rules of its own.
final class JpegImage {

    private static final JdkDecoder DECODER = new JdkDecoder("jpeg");

    private JpegImage() {}

    /// @param colours makes red, green and blue of the samples of all pixels
    static Pixels decode(byte[] file, UnaryOperator<byte[]> colours) throws IOException {
        var raster = DECODER.samples(file);
        var samples = ((DataBufferByte) raster.getDataBuffer()).getData();
        return new Pixels(raster.getWidth(), raster.getHeight(), colours.apply(samples));
    }

    static byte[] ofGrey(byte[] grey) {
        var pixels = new byte[Math.multiplyExact(grey.length, 3)];
        for (int i = 0, to = 0; i < grey.length; i++, to += 3) {
            pixels[to] = grey[i];
            pixels[to + 1] = grey[i];
            pixels[to + 2] = grey[i];
        }
        return pixels;
    }

    static byte[] ofYcc(byte[] samples) {
        return toRgb(samples, 3);
    }

    /// Inks on paper, which files hold inverted: 255 is none.
    static byte[] ofCmyk(byte[] samples) {
        return onPaper(samples, 255);
    }

    /// The first three samples become light, and so what is left where there is ink.
    static byte[] ofYcck(byte[] samples) {
        return onPaper(toRgb(samples, 4), 0);
    }

    /// In place, in libjpeg's fixed-point numbers. A fourth sample stays as it is.
    private static byte[] toRgb(byte[] samples, int channels) {
        for (int i = 0; i < samples.length; i += channels) {
            int luma = samples[i] & 0xff;
            int blue = (samples[i + 1] & 0xff) - 128;
            int red = (samples[i + 2] & 0xff) - 128;
            samples[i] = value(luma + ((91881 * red + 0x8000) >> 16));
            samples[i + 1] = value(luma + ((-22554 * blue - 46802 * red + 0x8000) >> 16));
            samples[i + 2] = value(luma + ((116130 * blue + 0x8000) >> 16));
        }
        return samples;
    }

    private static byte value(int value) {
        return (byte) Math.clamp(value, 0, 255);
    }

    /// @param none the sample of the first three that is no ink
    private static byte[] onPaper(byte[] samples, int none) {
        var pixels = new byte[samples.length / 4 * 3];
        for (int from = 0, to = 0; from < samples.length; from += 4) {
            int paper = samples[from + 3] & 0xff;
            for (int ink = 0; ink < 3; ink++) {
                // Ink times paper, through 255: Pillow's rounding.
                int product = (none ^ (samples[from + ink] & 0xff)) * paper + 128;
                pixels[to++] = (byte) (paper - (((product >> 8) + product) >> 8));
            }
        }
        return pixels;
    }
}
