package dev.berth.hub;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Base64;
import java.util.Random;

/// What models of pictures are asked while they are packed: colours that run into each other.
final class TrialPicture {

    private static final int WIDTH = 40;
    private static final int HEIGHT = 32;

    private TrialPicture() {}

    /// A BMP in base64.
    static String of(int seed) {
        var bmp = ByteBuffer.allocate(54 + 3 * WIDTH * HEIGHT).order(ByteOrder.LITTLE_ENDIAN);
        bmp.put((byte) 'B').put((byte) 'M').putInt(bmp.capacity()).putInt(0).putInt(54);
        bmp.putInt(40).putInt(WIDTH).putInt(HEIGHT).putShort((short) 1).putShort((short) 24);
        bmp.position(54);
        var corners = new Random(seed).ints(12, 0, 256).toArray();
        for (int y = 0; y < HEIGHT; y++) {
            for (int x = 0; x < WIDTH; x++) {
                for (int c = 0; c < 3; c++) {
                    int top = corners[c] * (WIDTH - x) + corners[c + 3] * x;
                    int bottom = corners[c + 6] * (WIDTH - x) + corners[c + 9] * x;
                    bmp.put((byte) ((top * (HEIGHT - y) + bottom * y) / (WIDTH * HEIGHT)));
                }
            }
        }
        return Base64.getEncoder().encodeToString(bmp.array());
    }
}
