package dev.berth.image;

import dev.berth.hooks.BadInputException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.function.UnaryOperator;

/// Walks through the segments of one JPEG file, and keeps those that hold the picture. Used once,
/// by one thread.
///
/// ITU-T T.81, annex B. Which colours a file has is no part of it: those rules are libjpeg's
/// (`default_decompress_parms`).
final class JpegSegments {

    private static final int START_OF_SCAN = 0xda;
    private static final int END_OF_IMAGE = 0xd9;

    /// A progressive file has about ten.
    private static final int MOST_SCANS = 100;

    private final byte[] bytes;
    private final ByteBuffer in;
    private final ByteArrayOutputStream kept;

    private int width;
    private int height;
    private String components;
    private boolean isJfif;
    private int adobeTransform = -1;
    private int orientation = Orientation.UPRIGHT;
    private int scans;

    JpegSegments(byte[] bytes) {
        this.bytes = bytes;
        this.in = ByteBuffer.wrap(bytes).position(2);
        this.kept = new ByteArrayOutputStream(bytes.length);
        kept.write(bytes, 0, 2);
    }

    EncodedImage image() {
        int marker = nextMarker();
        while (marker != END_OF_IMAGE) {
            readSegment(marker);
            marker = nextMarker();
        }
        if (components == null) {
            throw new BadInputException("image: found a JPEG without a picture");
        }
        kept.write(0xff);
        kept.write(END_OF_IMAGE);
        var colours = colours();
        var file = kept.toByteArray();
        // After each scan the JDK's decoder makes a whole picture, for 4 to 6 ns of a core a pixel. It
        // can't be told to make only the last: with `setSourceProgressivePasses` it makes one of the
        // first scan alone.
        long work = (long) width * height * scans;
        if (work > EncodedImage.MOST_WORK) {
            throw new BadInputException(
                    "image: found a JPEG of %d x %d pixels in %d scans, expected at most %d in all scans"
                            .formatted(width, height, scans, EncodedImage.MOST_WORK));
        }
        return new EncodedImage(width, height, orientation, work, () -> JpegImage.decode(file, colours));
    }

    /// Skips what is between two segments, where nothing ought to be but markers that stand alone.
    private int nextMarker() {
        int marker;
        do {
            while (in.get() != (byte) 0xff) {}
            do {
                marker = Byte.toUnsignedInt(in.get());
            } while (marker == 0xff);
        } while (marker == 0 || standsAlone(marker));
        return marker;
    }

    /// Restart markers, and one that means nothing.
    private static boolean standsAlone(int marker) {
        return (marker >= 0xd0 && marker <= 0xd7) || marker == 0x01;
    }

    private void readSegment(int marker) {
        int start = in.position();
        int length = Short.toUnsignedInt(in.getShort());
        if (length > bytes.length - start) {
            throw EncodedImage.endsEarly("JPEG segment", start, bytes.length - start, length);
        }
        var data = in.slice(start + 2, Math.max(length - 2, 0));
        switch (marker) {
            case 0xc0, 0xc1, 0xc2 -> readFrame(data);
            case 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf ->
                throw new BadInputException(
                        "image: offset %d: found lossless or arithmetic JPEG (0x%x), expected baseline or progressive"
                                .formatted(start, marker));
            case 0xe0 -> isJfif |= length >= 16 && text(data, 5).equals("JFIF\0");
            case 0xe1 -> {
                if (Orientation.startsWithPrefix(data) && orientation == Orientation.UPRIGHT) {
                    orientation = Orientation.of(data);
                }
            }
            case 0xee -> {
                if (length >= 14 && text(data, 5).equals("Adobe")) {
                    adobeTransform = Byte.toUnsignedInt(data.get(11));
                }
            }
            case START_OF_SCAN -> scans++;
            default -> {}
        }
        if (scans > MOST_SCANS) {
            throw new BadInputException("image: found a JPEG of more than %d scans".formatted(MOST_SCANS));
        }
        in.position(start + Math.max(length, 2));
        if (marker == START_OF_SCAN) {
            skipScan();
        }
        boolean isApplicationsOrComment = (marker >= 0xe0 && marker <= 0xef) || marker == 0xfe;
        if (!isApplicationsOrComment) {
            kept.write(0xff);
            kept.write(marker);
            kept.write(bytes, start, in.position() - start);
        }
    }

    /// Up to the next marker that does not belong to the compressed data.
    private void skipScan() {
        for (int at = in.position(); at < bytes.length - 1; at++) {
            int next = Byte.toUnsignedInt(bytes[at + 1]);
            if (bytes[at] == (byte) 0xff && next != 0 && next != 0xff && !standsAlone(next)) {
                in.position(at);
                return;
            }
        }
        throw new BadInputException(
                "image: found the end of %d bytes within a JPEG, expected an end marker".formatted(bytes.length));
    }

    private void readFrame(ByteBuffer data) {
        if (components != null) {
            throw new BadInputException("image: found a JPEG of several frames, expected one");
        }
        int bits = data.get(0);
        if (bits != 8) {
            throw new BadInputException("image: found a JPEG of %d bits, expected 8".formatted(bits));
        }
        height = Short.toUnsignedInt(data.getShort(1));
        width = Short.toUnsignedInt(data.getShort(3));
        var identifiers = new StringBuilder();
        for (int i = 0; i < data.get(5); i++) {
            identifiers.append((char) Byte.toUnsignedInt(data.get(6 + 3 * i)));
        }
        components = identifiers.toString();
    }

    private UnaryOperator<byte[]> colours() {
        return switch (components.length()) {
            case 1 -> JpegImage::ofGrey;
            case 3 ->
                !isJfif && (adobeTransform == 0 || (adobeTransform < 0 && components.equals("RGB")))
                        ? UnaryOperator.identity()
                        : JpegImage::ofYcc;
            case 4 -> adobeTransform <= 0 ? JpegImage::ofCmyk : JpegImage::ofYcck;
            default ->
                throw new BadInputException(
                        "image: found a JPEG of %d components, expected 1, 3 or 4".formatted(components.length()));
        };
    }

    private static String text(ByteBuffer data, int length) {
        var text = new byte[length];
        data.get(0, text);
        return new String(text, StandardCharsets.ISO_8859_1);
    }
}
