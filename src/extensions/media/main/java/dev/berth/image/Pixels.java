package dev.berth.image;

import dev.berth.memory.RequestMemory.ProcessMemory;
import java.util.concurrent.CancellationException;

/// What decoders make and filters change: red, green and blue of one pixel after the other, row by
/// row.
///
/// @param rgb not copied; whoever has it only reads it
record Pixels(int width, int height, byte[] rgb) {

    /// Of heap, while a picture is decoded and turned.
    static final long BYTES_EACH = 12;

    /// The most that a picture may have, unless its reader says otherwise: 100 million pixels, or
    /// fewer where decoding that many would take more than a request may.
    static final long MOST =
            Math.min(100_000_000, ProcessMemory.ofThisProcess().large().bytes() / BYTES_EACH);

    Pixels {
        if (rgb.length != Math.multiplyExact(Math.multiplyExact(width, height), 3)) {
            throw new IllegalArgumentException(
                    "found %d bytes for %d x %d pixels".formatted(rgb.length, width, height));
        }
    }

    /// To be called at least once for a row.
    static void stopIfInterrupted() {
        if (Thread.currentThread().isInterrupted()) {
            throw new CancellationException("interrupted while an image was decoded");
        }
    }
}
