package dev.berth.image;

import static dev.berth.image.DamagedImageTest.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import dev.berth.memory.RequestMemory.ProcessMemory;
import java.awt.image.BufferedImage;
import java.awt.image.DataBufferByte;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.imageio.IIOImage;
import javax.imageio.ImageIO;
import javax.imageio.ImageWriteParam;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Small files that are much work: what is too much is refused, the rest waits its turn and stops
/// when it is interrupted.
class HostileImageTest {

    private static final Path IMAGES = Path.of("src/test/resources/images");

    @Test
    void muchWorkForADecoderIsRefused() {
        assertRefused(
                HostileImages.progressiveJpeg(9990, 9990, 100),
                "found a JPEG of 9990 x 9990 pixels in 100 scans, expected at most 600000000 in all scans");
        assertRefused(
                HostileImages.progressiveJpeg(3000, 3000, 67),
                "found a JPEG of 3000 x 3000 pixels in 67 scans, expected at most 600000000 in all scans");
        assertRefused(
                HostileImages.png(40_001, 1000, 16, 0),
                "found a PNG of 40001 x 1000 pixels of 16 bits, expected at most 40000000 of so many bits");
    }

    @Test
    void whatCamerasMakeIsLessThanTheLimits() {
        assertThat(Decoding.header(HostileImages.progressiveJpeg(8688, 5792, 10))
                        .work())
                .isEqualTo(503_208_960);
    }

    @Test
    void longSidesAreRefused() throws Exception {
        assertRefused(
                HostileImages.png(1, 1_000_001, 8, 0), "found 1 x 1000001 pixels, expected sides of at most 1000000");
        var bmp = Files.readAllBytes(IMAGES.resolve("rgb.bmp"));
        ByteBuffer.wrap(bmp).order(ByteOrder.LITTLE_ENDIAN).putInt(18, 1_000_001);
        assertRefused(bmp, "found 1000001 x 11 pixels, expected sides of at most 1000000");
        assertThat(Image.read(HostileImages.png(1, 1_000_000, 8, 0)).height()).isEqualTo(1_000_000);
    }

    /// They are read, and take no longer than their pixels do.
    @Test
    void whatIsMostlyEmptyIsRead() {
        assertBlack(HostileImages.progressiveJpeg(300, 200, 100), 128);
        assertBlack(HostileImages.gif(300, 200, 1, 1, 2, 2, 0x44, 1, 0), 0);
        assertBlack(HostileImages.gif(300, 200), 0);
    }

    private static void assertBlack(byte[] bytes, int value) {
        var pixels = Image.read(bytes).rgb();
        assertThat(pixels.shape()).containsExactly(200, 300, 3);
        assertThat(pixels.longs()).containsOnly(value);
    }

    /// 8 MB of codes may be 20 billion of them.
    @Test
    void pixelsBeyondTheLastRowOfAGifAreNotDecoded() {
        var bytes = HostileImages.gif(1, 1, 1, 1, 8, 4, 0, 1, 0xfc, 7, 0);
        assertThat(Image.read(bytes).rgb().longs()).containsExactly(0, 0, 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {ImageWriteParam.MODE_DEFAULT, ImageWriteParam.MODE_DISABLED})
    void aGifWhoseTableOfCodesIsFullIsReadAsItWasWritten(int interlaced) throws Exception {
        var image = new BufferedImage(500, 300, BufferedImage.TYPE_BYTE_GRAY);
        var greys = ((DataBufferByte) image.getRaster().getDataBuffer()).getData();
        new Random(1).nextBytes(greys);
        // The second half repeats itself, in codes for more and more pixels.
        for (int i = greys.length / 2; i < greys.length; i++) {
            greys[i] = greys[i % 7];
        }
        var file = new ByteArrayOutputStream();
        var writer = ImageIO.getImageWritersByFormatName("gif").next();
        try (var output = ImageIO.createImageOutputStream(file)) {
            writer.setOutput(output);
            var parameters = writer.getDefaultWriteParam();
            parameters.setProgressiveMode(interlaced);
            writer.write(null, new IIOImage(image, null, null), parameters);
        } finally {
            writer.dispose();
        }
        var read = Image.read(file.toByteArray());
        assertThat(read.grey()).isEqualTo(Tensor.ofUnsigned(greys, 300, 500));
    }

    @Test
    void gifCodesThatCannotBeAreRefused() {
        assertRefused(HostileImages.gif(1, 1, 1, 1, 9, 0), "found damaged bytes, expected a whole picture");
        assertRefused(
                HostileImages.gif(1, 1, 1, 1, 8, 3, 0, 0xff, 3, 0), "found damaged bytes, expected a whole picture");
    }

    @ParameterizedTest
    @ValueSource(strings = {"baseline.jpg", "progressive.jpg", "rgb.png", "still.gif", "rgb.bmp", "lossless.webp"})
    void noFormatIsDecodedOnAnInterruptedThread(String name) throws Exception {
        var bytes = Files.readAllBytes(IMAGES.resolve(name));
        var encoded = Decoding.header(bytes);
        Thread.currentThread().interrupt();
        assertThatThrownBy(encoded.pixels()::call).isInstanceOf(CancellationException.class);
        assertThatThrownBy(() -> Image.read(bytes)).isInstanceOf(CancellationException.class);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(Image.read(bytes).width()).isPositive();
    }

    @Test
    void neitherTurningNorResizingGoesOnWhenInterrupted() {
        var pixels = new Pixels(300, 200, new byte[300 * 200 * 3]);
        var image = new Image(300, 200, pixels.rgb());
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> Orientation.turn(pixels, 6)).isInstanceOf(CancellationException.class);
        assertThatThrownBy(() -> image.resize(200, 200)).isInstanceOf(CancellationException.class);
        assertThatThrownBy(() -> image.resize(300, 100)).isInstanceOf(CancellationException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    /// Who reads on finds out that the end is damaged.
    @Test
    void jpegsAndPngsStopAmongTheirScansAndRowsWhenInterrupted() throws Exception {
        assertRefused(
                HostileImages.progressiveJpeg(30, 30, 24, HostileImages.NO_CODES),
                "found damaged bytes, expected a whole picture");
        assertStops(HostileImages.progressiveJpeg(5000, 5000, 24, HostileImages.NO_CODES), "readImage");
        assertRefused(HostileImages.png(30, 30, 16, 5), "found damaged bytes, expected a whole picture");
        assertStops(HostileImages.png(5000, 5000, 16, 5), "decodePass");
    }

    private static void assertStops(byte[] bytes, String method) throws Exception {
        var small = Files.readAllBytes(IMAGES.resolve("rgb.png"));
        var thrown = new AtomicReference<Throwable>();
        var afterwards = new AtomicReference<Image>();
        var thread = Thread.ofPlatform().start(() -> {
            thrown.set(catchThrowable(() -> Image.read(bytes)));
            Thread.interrupted();
            afterwards.set(Image.read(small));
        });
        await().until(() -> Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals(method)));
        thread.interrupt();
        thread.join();
        assertThat(thrown.get()).isInstanceOf(CancellationException.class);
        assertThat(afterwards.get().width()).isEqualTo(13);
    }

    @Test
    void largePicturesTakeTurnsAndSmallOnesDoNotWait() throws Exception {
        int cores = Runtime.getRuntime().availableProcessors();
        var turns = new ArrayList<RequestMemory.Held>();
        for (int i = 0; i < cores; i++) {
            turns.add(Decoding.turn(2_000_000));
        }
        var told = new AtomicInteger();
        var ended = new CountDownLatch(1);
        var memory = new RequestMemory(ProcessMemory.ofThisProcess(), Long.MAX_VALUE, told::incrementAndGet);
        var large = HostileImages.gif(2000, 1000);
        var thread = Thread.ofPlatform()
                .start(() -> memory.call(() -> {
                    Image.read(large);
                    ended.countDown();
                    return large;
                }));
        await().until(() -> thread.getState() == Thread.State.WAITING && told.get() == 1);
        assertThat(ended.getCount()).isOne();
        assertThat(Image.read(HostileImages.gif(300, 200)).rgb().type()).isEqualTo(ElementType.UINT8);
        try (var huge = Decoding.turn(20_000_000)) {
            assertThat(huge).isNotNull();
        }
        turns.removeLast().close();
        ended.await();
        thread.join();
        memory.close();
        turns.forEach(RequestMemory.Held::close);
    }

    @Test
    void whoWaitsForItsTurnCanBeInterrupted() throws Exception {
        var turns = new ArrayList<RequestMemory.Held>();
        for (int i = 0; i < Math.max(1, Runtime.getRuntime().availableProcessors() / 2); i++) {
            turns.add(Decoding.turn(20_000_000));
        }
        var thrown = new AtomicReference<Throwable>();
        var huge = HostileImages.gif(5000, 4000);
        var thread = Thread.ofPlatform().start(() -> thrown.set(catchThrowable(() -> Image.read(huge))));
        await().until(() -> thread.getState() == Thread.State.WAITING);
        thread.interrupt();
        thread.join();
        assertThat(thrown.get()).isInstanceOf(CancellationException.class);
        turns.forEach(RequestMemory.Held::close);
        assertThat(Image.read(huge).width()).isEqualTo(5000);
    }
}
