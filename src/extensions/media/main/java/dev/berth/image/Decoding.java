package dev.berth.image;

import dev.berth.hooks.BadInputException;
import dev.berth.memory.RequestMemory;
import java.nio.BufferUnderflowException;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// From the bytes of a file to pixels: the list of formats, which are told apart by their first
/// bytes, and what all of them share. A new format is a line of [#format].
final class Decoding {

    /// As in libpng: rows of one pixel cost 20 times as much as others.
    private static final int LONGEST_SIDE = 1_000_000;

    private static final Logger log = LoggerFactory.getLogger(Decoding.class);

    private static final int CORES = Runtime.getRuntime().availableProcessors();

    /// Work as [EncodedImage#work] counts it: some 10 ms of a core.
    private static final long SMALL = 1_000_000;

    /// More than a photograph of 12 million pixels; from here on it takes up to some seconds.
    private static final long LARGE = 16_000_000;

    private static final Semaphore LARGE_ONES = new Semaphore(CORES, true);
    private static final Semaphore HUGE_ONES = new Semaphore(Math.max(1, CORES / 2), true);

    private Decoding() {}

    /// See [Image#read(byte[], long)].
    static Pixels read(byte[] bytes, long maxPixels) {
        var encoded = header(bytes);
        check(encoded.width(), encoded.height(), maxPixels);
        long count = (long) encoded.width() * encoded.height();
        Pixels pixels;
        try (var _ = turn(encoded.work());
                var _ = RequestMemory.hold(Pixels.BYTES_EACH * count)) {
            pixels = decode(encoded);
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
            throw new CancellationException("interrupted before an image could be decoded");
        }
        RequestMemory.charge(3 * count);
        return pixels;
    }

    /// Waits for the turn of a picture, which lasts until it is closed. Any threads take turns, in
    /// order of arrival.
    ///
    /// Small pictures never wait. As many large ones as there are cores are decoded at once, and half
    /// as many huge ones. So the pictures of one caller may fill neither the threads of hooks nor all
    /// cores, and a photograph does not wait for what takes seconds.
    static RequestMemory.Held turn(long work) throws InterruptedException {
        Pixels.stopIfInterrupted();
        if (work <= SMALL) {
            return () -> {};
        }
        var turns = work <= LARGE ? LARGE_ONES : HUGE_ONES;
        // Without a time, it would not heed those that wait already.
        if (!turns.tryAcquire(0, TimeUnit.SECONDS)) {
            RequestMemory.waiting();
            turns.acquire();
        }
        return turns::release;
    }

    private static Pixels decode(EncodedImage encoded) {
        try {
            return Orientation.turn(encoded.pixels().call(), encoded.orientation());
        } catch (CancellationException e) {
            throw e;
        } catch (Exception e) {
            throw damaged(e);
        }
    }

    static EncodedImage header(byte[] bytes) {
        try {
            return format(bytes);
        } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
            throw new BadInputException(
                    "image: found %d bytes that end too early, expected a whole picture".formatted(bytes.length), e);
        }
    }

    private static EncodedImage format(byte[] bytes) {
        var start = new String(bytes, 0, Math.min(bytes.length, 12), StandardCharsets.ISO_8859_1);
        if (start.startsWith("\u00ff\u00d8\u00ff")) {
            return new JpegSegments(bytes).image();
        }
        if (start.startsWith("\u0089PNG\r\n\u001a\n")) {
            return PngImage.of(bytes);
        }
        if (start.startsWith("GIF87a") || start.startsWith("GIF89a")) {
            return GifImage.of(bytes);
        }
        if (start.startsWith("BM")) {
            return BmpImage.of(bytes);
        }
        if (start.startsWith("RIFF") && start.startsWith("WEBP", 8)) {
            return WebpImage.of(bytes);
        }
        if (bytes.length == 0) {
            throw new BadInputException("image: found no bytes, expected JPEG, PNG, GIF, BMP or WebP");
        }
        var text = start.replaceAll("\\s", " ");
        boolean isText = text.chars().allMatch(c -> c >= ' ' && c < 127);
        throw new BadInputException("image: found %s, expected JPEG, PNG, GIF, BMP or WebP"
                .formatted(
                        isText
                                ? "the text \"%s%s\"".formatted(text, bytes.length > start.length() ? "…" : "")
                                : "the first bytes "
                                        + HexFormat.ofDelimiter(" ").formatHex(bytes, 0, Math.min(bytes.length, 8))));
    }

    /// Decoders meet damaged bytes with exceptions of all kinds, and wrap some. Most speak of their code,
    /// which clients don't know.
    private static BadInputException damaged(Exception e) {
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        if (root instanceof OutOfMemoryError memory) {
            throw memory;
        }
        log.debug("found damaged bytes", e);
        return new BadInputException("image: found damaged bytes, expected a whole picture", e);
    }

    static void check(long width, long height, long maxPixels) {
        if (width < 1 || height < 1) {
            throw new BadInputException("image: found %d x %d pixels, expected at least one".formatted(width, height));
        }
        if (width > maxPixels / height) {
            throw new BadInputException(
                    "image: found %d x %d pixels, expected at most %d".formatted(width, height, maxPixels));
        }
        if (Math.max(width, height) > LONGEST_SIDE) {
            throw new BadInputException(
                    "image: found %d x %d pixels, expected sides of at most %d".formatted(width, height, LONGEST_SIDE));
        }
    }
}
