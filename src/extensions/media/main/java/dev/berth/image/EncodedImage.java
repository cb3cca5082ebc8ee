package dev.berth.image;

import dev.berth.hooks.BadInputException;
import java.util.concurrent.Callable;

/// A picture whose header has been read and whose pixels have not been decoded yet.
///
/// A format takes its file apart by itself as far as it must: to know the size before anything is
/// allocated, and to hand the decoder the parts that hold the picture and nothing else. Colour
/// profiles, previews and comments are no decoder's business then, whatever is in them.
///
/// @param width before it is turned
/// @param height before it is turned
/// @param orientation of EXIF: from 1, which is upright, to 8
/// @param work what it costs to decode: its pixels, each as often as a decoder goes through it. No
///   more than [#MOST_WORK]
/// @param pixels decodes them as they are stored. Damaged bytes make it throw exceptions of any kind
record EncodedImage(int width, int height, int orientation, long work, Callable<Pixels> pixels) {

    /// Some four seconds of a core. A JPEG of 60 million pixels may have ten scans, which is more
    /// than cameras and editors make.
    static final long MOST_WORK = 600_000_000;

    /// Each of whose pixels is decoded once.
    EncodedImage(int width, int height, int orientation, Callable<Pixels> pixels) {
        this(width, height, orientation, (long) width * height, pixels);
    }

    /// What a file says about itself that is not there.
    static BadInputException endsEarly(String part, long offset, long found, long expected) {
        return new BadInputException(
                "image: %s at offset %d: found %d bytes, expected %d".formatted(part, offset, found, expected));
    }
}
