package dev.berth.image;

import java.awt.image.DataBufferByte;
import java.io.IOException;

/// A JPEG file of 8 bits: baseline or progressive, grey, in colour, or in the four inks of print.
///
/// The JDK's decoder is libjpeg, as is Pillow's. It is asked for the samples alone: what colours
/// they are is found out and computed here, since the JDK goes by rules of its own.
record JpegImage(Colours colours, byte[] file) {

    enum Colours {
        GREY,
        RGB,
        YCC,
        CMYK,
        YCCK
    }

    private static final JdkDecoder DECODER = new JdkDecoder("jpeg");

    Pixels decode() throws IOException {
        var raster = DECODER.samples(file);
        var samples = ((DataBufferByte) raster.getDataBuffer()).getData();
        var pixels = switch (colours) {
            case GREY -> spread(samples);
            case RGB -> samples;
            case YCC -> toRgb(samples, 3);
            case CMYK -> print(samples);
            case YCCK -> print(inverted(toRgb(samples, 4)));
        };
        return new Pixels(raster.getWidth(), raster.getHeight(), pixels);
    }

    private static byte[] spread(byte[] grey) {
        var pixels = new byte[Math.multiplyExact(grey.length, 3)];
        for (int i = 0, to = 0; i < grey.length; i++, to += 3) {
            pixels[to] = grey[i];
            pixels[to + 1] = grey[i];
            pixels[to + 2] = grey[i];
        }
        return pixels;
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

    /// The first three of four samples are now light, and were ink.
    private static byte[] inverted(byte[] samples) {
        for (int i = 0; i < samples.length; i++) {
            if (i % 4 != 3) {
                samples[i] = (byte) ~samples[i];
            }
        }
        return samples;
    }

    /// Inks on paper, which files hold inverted: 255 is none.
    private static byte[] print(byte[] inks) {
        var pixels = new byte[inks.length / 4 * 3];
        for (int from = 0, to = 0; from < inks.length; from += 4) {
            int paper = inks[from + 3] & 0xff;
            for (int ink = 0; ink < 3; ink++) {
                // 255 - ink, times paper, through 255: Pillow's rounding.
                int product = (255 - (inks[from + ink] & 0xff)) * paper + 128;
                pixels[to++] = (byte) (paper - (((product >> 8) + product) >> 8));
            }
        }
        return pixels;
    }
}
