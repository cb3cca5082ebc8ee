package dev.berth.image;

import dev.berth.memory.RequestMemory;
import java.awt.image.BufferedImage;
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
        // What is written is seldom larger than the pixels, which are copied.
        RequestMemory.charge(2L * BYTES_PER_PIXEL * image.width() * image.height());
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

    private static BufferedImage buffered(Pixels image) {
        var buffered = new BufferedImage(image.width(), image.height(), BufferedImage.TYPE_3BYTE_BGR);
        buffered.getRaster().setDataElements(0, 0, image.width(), image.height(), image.rgb());
        return buffered;
    }
}
