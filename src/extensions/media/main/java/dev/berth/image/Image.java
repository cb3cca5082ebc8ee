package dev.berth.image;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.concurrent.CancellationException;

/// A picture, from the bytes of a payload to the tensor that a model takes:
///
/// ```java
/// var pixels = Image.read(request.bytes()).resize(224, 224).rgb();
/// var normalized = Image.read(request.bytes()).resizeShorterSide(256).centerCrop(224, 224).rgb(MEAN, DEVIATION);
/// var digit = Image.read(request.bytes()).resize(28, 28).grey();
/// ```
///
/// The numbers are those that Pillow 13 and torchvision give, which models are trained with:
/// `exif_transpose` and `convert("RGB")` when it is read, bilinear filtering when it is resized. As
/// there, alpha is left out rather than blended with anything, and colour profiles are ignored.
/// Otherwise than there, 16-bit grey keeps its high byte.
///
/// A picture that a model has made leaves as `InvocationResponse.of(Image.of(tensor).png(), type)`.
///
/// It reads JPEG, PNG, GIF, BMP and WebP, whatever the content type says, and the first picture of
/// an animation.
public final class Image {

    private static final int CHANNELS = 3;
    private static final int VALUES = 256;

    private final Pixels stored;
    private final int width;
    private final int height;
    private final byte[] pixels;

    /// @param pixels red, green and blue of one pixel after the other, row by row; not copied
    Image(int width, int height, byte[] pixels) {
        this(new Pixels(width, height, pixels));
    }

    private Image(Pixels stored) {
        this.stored = stored;
        this.width = stored.width();
        this.height = stored.height();
        this.pixels = stored.rgb();
    }

    /// Decodes a picture and turns it as its EXIF orientation asks.
    ///
    /// @throws BadInputException for bytes that are no whole picture of a format that is read here,
    ///   and for more than 100 million pixels; for fewer where decoding that many would take more
    ///   than a third of the heap, or more than some four seconds of a core: for a JPEG of many scans
    ///   and a PNG of 16 bits
    /// @throws CancellationException when the thread is interrupted, as a hook's is at the deadline
    ///   of its request
    public static Image read(byte[] bytes) {
        return read(bytes, Pixels.MOST);
    }

    /// The same with another limit, which is checked before anything is decoded. A pixel takes up to
    /// 12 bytes of heap while it is decoded and 3 afterwards. Pictures that many threads read wait
    /// until a third of the heap has room for them, and those of more than a million pixels until a
    /// core has.
    public static Image read(byte[] bytes, long maxPixels) {
        return new Image(Decoding.read(bytes, maxPixels));
    }

    public int width() {
        return width;
    }

    public int height() {
        return height;
    }

    /// The whole picture in another size, with Pillow's bilinear filter: where it shrinks, every
    /// pixel counts.
    public Image resize(int width, int height) {
        return resize(width, height, Filter.BILINEAR);
    }

    /// The same with another of Pillow's filters.
    public Image resize(int width, int height, Filter filter) {
        checkLengths(width, height);
        long between = Math.max((long) width * this.height, (long) this.width * height);
        RequestMemory.charge(CHANNELS * ((long) width * height + between));
        return new Image(Resampling.resize(stored, width, height, filter));
    }

    /// The whole picture, its shape kept, with a shorter side of this length, as torchvision's
    /// `Resize(length)` does.
    ///
    /// @throws BadInputException where it is so much longer than wide that the result would be too
    ///   large
    public Image resizeShorterSide(int length) {
        return resizeShorterSide(length, Filter.BILINEAR);
    }

    /// The same with another of Pillow's filters.
    public Image resizeShorterSide(int length, Filter filter) {
        checkLengths(length, length);
        long longer = (long) length * Math.max(width, height) / Math.min(width, height);
        Decoding.check(longer, length, Pixels.MOST);
        return width <= height ? resize(length, (int) longer, filter) : resize((int) longer, length, filter);
    }

    /// The middle of the picture, as torchvision's `CenterCrop` does it: black is added where it is
    /// too small.
    public Image centerCrop(int width, int height) {
        return crop(cropStart(this.width, width), cropStart(this.height, height), width, height);
    }

    /// A part of the picture, black where that reaches beyond it.
    ///
    /// @param left where it begins; negative to the left of the picture
    /// @param top where it begins; negative above the picture
    public Image crop(int left, int top, int width, int height) {
        checkLengths(width, height);
        RequestMemory.charge((long) CHANNELS * width * height);
        var cropped = new byte[Math.multiplyExact(Math.multiplyExact(width, height), CHANNELS)];
        int from = Math.max(left, 0);
        int count = Math.min(left + width, this.width) - from;
        for (int y = Math.max(top, 0); count > 0 && y < Math.min(top + height, this.height); y++) {
            System.arraycopy(
                    pixels,
                    (y * this.width + from) * CHANNELS,
                    cropped,
                    ((y - top) * width + from - left) * CHANNELS,
                    count * CHANNELS);
        }
        return new Image(width, height, cropped);
    }

    /// The whole picture, its shape kept, as large as fits into this size, in the middle of black.
    public Letterbox letterbox(int width, int height) {
        checkLengths(width, height);
        double scale = Math.min((double) width / this.width, (double) height / this.height);
        var resized = resize(
                (int) Math.max(1, Math.rint(this.width * scale)), (int) Math.max(1, Math.rint(this.height * scale)));
        int left = (width - resized.width) / 2;
        int top = (height - resized.height) / 2;
        return new Letterbox(resized.crop(-left, -top, width, height), scale, left, top);
    }

    /// uint8 `[height, width, 3]`: red, green and blue from 0 to 255, as NumPy makes it of a Pillow
    /// image.
    public Tensor rgb() {
        return Tensor.of(ElementType.UINT8, ByteBuffer.wrap(pixels), height, width, CHANNELS);
    }

    /// float32 `[3, height, width]`: `(value / 255 - mean) / standardDeviation` for red, green and
    /// blue, as torchvision's `ToTensor` and `Normalize` make it. With means of 0 and deviations of
    /// 1, values from 0 to 1.
    public Tensor rgb(float[] mean, float[] standardDeviation) {
        if (mean.length != CHANNELS || standardDeviation.length != CHANNELS) {
            throw new IllegalArgumentException("found %d means and %d standard deviations, expected 3 of each"
                    .formatted(mean.length, standardDeviation.length));
        }
        return normalized(pixels, mean, standardDeviation);
    }

    /// uint8 `[height, width]`: brightness from 0 to 255, as Pillow's `convert("L")` makes it.
    public Tensor grey() {
        return Tensor.of(ElementType.UINT8, ByteBuffer.wrap(brightness()), height, width);
    }

    /// float32 `[1, height, width]`: `(value / 255 - mean) / standardDeviation` of the brightness.
    public Tensor grey(float mean, float standardDeviation) {
        return normalized(brightness(), new float[] {mean}, new float[] {standardDeviation});
    }

    /// The picture of what a model has made: uint8 `[height, width, 3]` or `[height, width]`, as
    /// [#rgb()] and [#grey()] return them, or float32 `[3, height, width]` or `[1, height, width]` of
    /// values from 0 to 1, as torchvision's `save_image` takes them. What is beyond that range
    /// becomes its end, and NaN 0.
    ///
    /// @throws IllegalArgumentException when the tensor is of another type or shape
    public static Image of(Tensor tensor) {
        var shape = tensor.shape();
        boolean bytes = tensor.type() == ElementType.UINT8;
        boolean fits = bytes
                ? shape.length == 2 || (shape.length == 3 && shape[2] == CHANNELS)
                : tensor.type() == ElementType.FLOAT32 && shape.length == 3 && (shape[0] == CHANNELS || shape[0] == 1);
        if (!fits) {
            throw new IllegalArgumentException(
                    "found %s %s, expected uint8 [height, width, 3] or [height, width], or float32 "
                                    .formatted(tensor.type(), Arrays.toString(shape))
                            + "[3, height, width] or [1, height, width]");
        }
        int height = shape[bytes ? 0 : 1];
        int width = shape[bytes ? 1 : 2];
        checkLengths(width, height);
        int size = Math.multiplyExact(width, height);
        int channels = tensor.size() / size;
        RequestMemory.charge((long) CHANNELS * size);
        var pixels = new byte[Math.multiplyExact(size, CHANNELS)];
        var floats = bytes ? null : tensor.floats();
        var data = bytes ? tensor.data() : null;
        for (int i = 0; i < size; i++) {
            for (int channel = 0; channel < CHANNELS; channel++) {
                int own = Math.min(channel, channels - 1);
                pixels[i * CHANNELS + channel] = bytes
                        ? data.get(data.position() + i * channels + own)
                        : (byte) Math.clamp((int) (floats[own * size + i] * 255 + 0.5f), 0, 255);
            }
        }
        return new Image(width, height, pixels);
    }

    /// The picture as a PNG.
    public byte[] png() {
        return PictureWriter.png(stored);
    }

    /// The picture as a JPEG.
    ///
    /// @param quality from 1 to 100; Pillow's default is 75
    public byte[] jpeg(int quality) {
        return PictureWriter.jpeg(stored, quality);
    }

    /// ITU-R 601-2, in the fixed-point numbers of Pillow.
    private byte[] brightness() {
        RequestMemory.charge((long) width * height);
        var brightness = new byte[width * height];
        for (int i = 0, at = 0; i < brightness.length; i++, at += CHANNELS) {
            int sum = (pixels[at] & 0xff) * 19595 + (pixels[at + 1] & 0xff) * 38470 + (pixels[at + 2] & 0xff) * 7471;
            brightness[i] = (byte) ((sum + 0x8000) >> 16);
        }
        return brightness;
    }

    /// float32 `[channels, height, width]` of values that stand pixel by pixel.
    private Tensor normalized(byte[] from, float[] mean, float[] standardDeviation) {
        int size = width * height;
        int channels = mean.length;
        RequestMemory.charge((long) Float.BYTES * from.length);
        var values = new float[from.length];
        for (int channel = 0; channel < channels; channel++) {
            var normalized = new float[VALUES];
            for (int value = 0; value < VALUES; value++) {
                normalized[value] = (value / 255f - mean[channel]) / standardDeviation[channel];
            }
            for (int i = 0; i < size; i++) {
                values[channel * size + i] = normalized[from[i * channels + channel] & 0xff];
            }
        }
        return Tensor.of(values, channels, height, width);
    }

    /// Where a crop begins; negative where it is larger than the picture. Python, and so torchvision,
    /// rounds a half to the even neighbour.
    private static int cropStart(int length, int cropped) {
        return cropped > length ? -((cropped - length) / 2) : (int) Math.rint((length - cropped) / 2.0);
    }

    private static void checkLengths(int width, int height) {
        if (width < 1 || height < 1) {
            throw new IllegalArgumentException(
                    "found the size %d x %d, expected lengths from 1".formatted(width, height));
        }
    }
}
