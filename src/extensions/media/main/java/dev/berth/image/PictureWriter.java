package dev.berth.image;

import dev.berth.memory.RequestMemory;
import java.awt.color.ColorSpace;
import java.awt.image.BufferedImage;
import java.awt.image.ComponentColorModel;
import java.awt.image.DataBuffer;
import java.awt.image.DataBufferByte;
import java.awt.image.Raster;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import javax.imageio.stream.MemoryCacheImageOutputStream;

/// Encodes pictures with the writers of the JDK.
final class PictureWriter {

    private static final int BYTES_PER_PIXEL = 3;
    private static final int[] RED_GREEN_BLUE = {0, 1, 2};

    private PictureWriter() {}

    static byte[] png(Pixels image) {
        return write(image, "png", 1);
    }

    static byte[] jpeg(Pixels image, int quality) {
        if (quality < 1 || quality > 100) {
            throw new IllegalArgumentException("quality: found %d, expected a number from 1 to 100".formatted(quality));
        }
        return write(image, "jpeg", quality / 100f);
    }

    private static byte[] write(Pixels image, String format, float quality) {
        // What is written is seldom larger than the pixels.
        RequestMemory.charge((long) BYTES_PER_PIXEL * image.width() * image.height());
        var writer = ImageIO.getImageWritersByFormatName(format).next();
        var bytes = new ByteArrayOutputStream();
        try (var out = new MemoryCacheImageOutputStream(bytes)) {
            writer.setOutput(out);
            var parameters = writer.getDefaultWriteParam();
            if (format.equals("jpeg")) {
                parameters.setCompressionMode(ImageWriteParam.MODE_EXPLICIT);
                parameters.setCompressionQuality(quality);
            }
            writer.write(null, new IIOImage(buffered(image), null, null), parameters);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            writer.dispose();
        }
        return bytes.toByteArray();
    }

    /// The same pixels, not copied.
    private static BufferedImage buffered(Pixels image) {
        var pixels = new DataBufferByte(image.rgb(), image.rgb().length);
        var raster = Raster.createInterleavedRaster(
                pixels,
                image.width(),
                image.height(),
                BYTES_PER_PIXEL * image.width(),
                BYTES_PER_PIXEL,
                RED_GREEN_BLUE,
                null);
        var colours = new ComponentColorModel(
                ColorSpace.getInstance(ColorSpace.CS_sRGB),
                false,
                false,
                ComponentColorModel.OPAQUE,
                DataBuffer.TYPE_BYTE);
        return new BufferedImage(colours, raster, false, null);
    }
}
