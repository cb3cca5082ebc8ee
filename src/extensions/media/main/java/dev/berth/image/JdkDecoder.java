package dev.berth.image;

import java.awt.image.BufferedImage;
import java.awt.image.IndexColorModel;
import java.awt.image.Raster;
import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.event.IIOReadUpdateListener;
import javax.imageio.spi.IIORegistry;
import javax.imageio.spi.ImageReaderSpi;
import javax.imageio.stream.MemoryCacheImageInputStream;

/// One of the decoders that the JDK has, whatever others are on the class path. Looked up once,
/// used by any threads.
///
/// Pixels are taken as they are stored: Java's own conversions would apply gamma curves and
/// profiles.
///
/// A decoder stops when its thread is interrupted: when it reads on in the file, and after each
/// row.
final class JdkDecoder {

    /// Told of each row that a reader has written, and of what else the interface has. It is not told
    /// of progress: the JPEG reader reports none after the 20th scan. Nor does it call
    /// [ImageReader#abort], after which that reader goes through the remaining scans.
    private static final IIOReadUpdateListener ROWS = (IIOReadUpdateListener) Proxy.newProxyInstance(
            JdkDecoder.class.getClassLoader(), new Class<?>[] {IIOReadUpdateListener.class}, (_, _, _) -> {
                Pixels.stopIfInterrupted();
                return null;
            });

    private final ImageReaderSpi provider;

    /// @param format the JDK's name for it, such as `png`
    JdkDecoder(String format) {
        this.provider = IIORegistry.getDefaultInstance()
                .getServiceProviders(
                        ImageReaderSpi.class, candidate -> isOfTheJdk((ImageReaderSpi) candidate, format), true)
                .next();
    }

    private static boolean isOfTheJdk(ImageReaderSpi candidate, String format) {
        return candidate.getClass().getModule() == ImageIO.class.getModule()
                && Arrays.asList(candidate.getFormatNames()).contains(format);
    }

    private interface Reading<T> {
        T from(ImageReader reader) throws IOException;
    }

    /// The samples as they are stored, before any conversion of colours.
    Raster samples(byte[] file) throws IOException {
        return read(file, reader -> reader.readRaster(0, null));
    }

    /// The picture: palettes looked up, grey spread over three channels, alpha left out, 16 bits cut
    /// to the upper 8.
    Pixels rgb(byte[] file) throws IOException {
        return picture(read(file, reader -> reader.read(0)));
    }

    private <T> T read(byte[] file, Reading<T> reading) throws IOException {
        var reader = provider.createReaderInstance();
        try (var input = new MemoryCacheImageInputStream(new Bytes(file))) {
            reader.setInput(input, true, true);
            reader.addIIOReadUpdateListener(ROWS);
            return reading.from(reader);
        } finally {
            reader.dispose();
        }
    }

    /// A file, unless the thread is interrupted.
    private static final class Bytes extends FilterInputStream {

        Bytes(byte[] file) {
            super(new ByteArrayInputStream(file));
        }

        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
            Pixels.stopIfInterrupted();
            return super.read(target, offset, length);
        }
    }

    private static Pixels picture(BufferedImage image) {
        var raster = image.getRaster();
        int width = image.getWidth();
        int channels = raster.getNumBands();
        var values = image.getColorModel() instanceof IndexColorModel palette ? colours(palette) : values(raster);
        var pixels = new byte[width * image.getHeight() * 3];
        var row = new int[width * channels];
        int to = 0;
        for (int y = 0; y < image.getHeight(); y++) {
            Pixels.stopIfInterrupted();
            raster.getPixels(0, y, width, 1, row);
            for (int from = 0; from < row.length; from += channels) {
                for (int channel = 0; channel < 3; channel++) {
                    pixels[to++] = values[channel][row[channels < 3 ? from : from + channel]];
                }
            }
        }
        return new Pixels(width, image.getHeight(), pixels);
    }

    /// For each channel, what its samples become; black for those beyond the palette.
    private static byte[][] colours(IndexColorModel palette) {
        var colours = new byte[3][1 << palette.getPixelSize()];
        palette.getReds(colours[0]);
        palette.getGreens(colours[1]);
        palette.getBlues(colours[2]);
        return colours;
    }

    /// For each channel, what its samples become.
    private static byte[][] values(Raster raster) {
        var values = new byte[3][];
        for (int channel = 0; channel < 3; channel++) {
            int bits = raster.getSampleModel().getSampleSize(raster.getNumBands() < 3 ? 0 : channel);
            int most = (1 << bits) - 1;
            values[channel] = new byte[most + 1];
            for (int sample = 0; sample <= most; sample++) {
                values[channel][sample] = (byte) (bits > 8 ? sample >> (bits - 8) : sample * 255 / most);
            }
        }
        return values;
    }
}
