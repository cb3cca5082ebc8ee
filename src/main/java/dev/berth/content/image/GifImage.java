package dev.berth.content.image;

import dev.berth.hooks.BadInputException;
import java.awt.image.DataBufferByte;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/// The first picture of a GIF file, on the screen that the file declares.
///
/// @param frame where the picture is on the screen
/// @param palette red, green and blue of 256 colours
/// @param background the colour of what the picture leaves free, as Pillow chooses it
/// @param file a GIF of that picture alone, without palettes: it decodes to the numbers of colours
record GifImage(int width, int height, Frame frame, byte[] palette, int background, byte[] file)
    implements EncodedImage {

  record Frame(int left, int top, int width, int height) {}

  private static final JdkDecoder DECODER = new JdkDecoder("gif");

  private static final int SCREEN = 6;
  private static final int SCREEN_END = 13;
  private static final int PICTURE_BYTES = 9;
  private static final int TABLE_FLAG = 0x80;
  private static final int INTERLACE_FLAG = 0x40;
  private static final int PALETTE_BYTES = 3 * 256;
  private static final int EXTENSION = 0x21;
  private static final int CONTROL_EXTENSION = 0xf9;
  private static final int PICTURE = 0x2c;
  private static final int TRAILER = 0x3b;

  static GifImage of(byte[] bytes) {
    var in = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    in.position(SCREEN);
    int screenWidth = Short.toUnsignedInt(in.getShort());
    int screenHeight = Short.toUnsignedInt(in.getShort());
    int flags = in.get();
    // A background colour that nobody heeds, and the shape of pixels.
    in.getShort();
    var palette = palette(in, flags, greys());
    int background = 0;
    while (true) {
      int block = Byte.toUnsignedInt(in.get());
      if (block == PICTURE) {
        return picture(in, screenWidth, screenHeight, palette, background);
      }
      if (block == TRAILER) {
        throw new BadInputException("image: found a GIF without a picture");
      }
      if (block == EXTENSION && Byte.toUnsignedInt(in.get()) == CONTROL_EXTENSION) {
        boolean hasTransparency = (in.get(in.position() + 1) & 1) != 0;
        background = hasTransparency ? Byte.toUnsignedInt(in.get(in.position() + 4)) : 0;
      }
      if (block == EXTENSION) {
        skipBlocks(in);
      }
    }
  }

  private static GifImage picture(ByteBuffer in, int screenWidth, int screenHeight, byte[] palette, int background) {
    var frame = new Frame(
        Short.toUnsignedInt(in.getShort()),
        Short.toUnsignedInt(in.getShort()),
        Short.toUnsignedInt(in.getShort()),
        Short.toUnsignedInt(in.getShort()));
    int flags = in.get();
    var colours = palette(in, flags, palette);
    int data = in.position();
    // The first byte is the width of codes.
    in.get();
    skipBlocks(in);

    var header = ByteBuffer.allocate(SCREEN_END + 1 + PICTURE_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    header.put(in.array(), 0, SCREEN).putShort((short) frame.width).putShort((short) frame.height);
    header.position(SCREEN_END).put((byte) PICTURE).putInt(0);
    header.putShort((short) frame.width).putShort((short) frame.height).put((byte) (flags & INTERLACE_FLAG));
    var file = new ByteArrayOutputStream();
    file.writeBytes(header.array());
    file.write(in.array(), data, in.position() - data);
    file.write(TRAILER);
    // A picture that is larger than the screen makes it larger.
    return new GifImage(
        Math.max(screenWidth, frame.left + frame.width),
        Math.max(screenHeight, frame.top + frame.height),
        frame, colours, background, file.toByteArray());
  }

  /// The table that follows, if one does; black beyond its end.
  private static byte[] palette(ByteBuffer in, int flags, byte[] otherwise) {
    if ((flags & TABLE_FLAG) == 0) {
      return otherwise;
    }
    var palette = new byte[PALETTE_BYTES];
    in.get(palette, 0, 3 << (flags & 7) + 1);
    return palette;
  }

  /// What colours are where a file has no table.
  private static byte[] greys() {
    var palette = new byte[PALETTE_BYTES];
    for (int i = 0; i < PALETTE_BYTES; i++) {
      palette[i] = (byte) (i / 3);
    }
    return palette;
  }

  private static void skipBlocks(ByteBuffer in) {
    int length = Byte.toUnsignedInt(in.get());
    while (length > 0) {
      if (length > in.remaining()) {
        throw EncodedImage.endsEarly("GIF block", in.position(), in.remaining(), length);
      }
      in.position(in.position() + length);
      length = Byte.toUnsignedInt(in.get());
    }
  }

  @Override
  public Image decode() throws IOException {
    var numbers = ((DataBufferByte) DECODER.samples(file).getDataBuffer()).getData();
    var pixels = new byte[width * height * 3];
    for (int y = 0; y < height; y++) {
      for (int x = 0; x < width; x++) {
        int inX = x - frame.left;
        int inY = y - frame.top;
        boolean inside = inX >= 0 && inX < frame.width && inY >= 0 && inY < frame.height;
        int colour = inside ? numbers[inY * frame.width + inX] & 0xff : background;
        System.arraycopy(palette, colour * 3, pixels, (y * width + x) * 3, 3);
      }
    }
    return new Image(width, height, pixels);
  }
}
