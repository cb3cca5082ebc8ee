package dev.berth.memory;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/// Looks whether the heap has room for large files, and for what native code is about to allocate in
/// it.
///
/// Native code can't fail as Java does: the tokenizer's aborts the process when there is no room, and
/// libtorch's writes to where there is nothing. Hooks of one's own may fill the heap without a word
/// to any account, so the account alone does not say that there is room.
public final class HeapRoom {

    /// What must be left besides, because other threads allocate at the same time.
    private static final long RESERVE = Math.clamp(Runtime.getRuntime().maxMemory() / 16, 8L << 20, 256L << 20);

    private HeapRoom() {}

    /// @param bytes that native code will allocate in the heap
    /// @throws ServingException `MEMORY_TAKEN` when there may be no room for them
    public static void require(long bytes) {
        long needed = bytes + RESERVE;
        if (free() < needed && !collectFor(needed)) {
            throw ErrorType.MEMORY_TAKEN.because("the heap is full; try again later");
        }
    }

    /// Reads a file of a model artifact that is needed as a whole. A sparse one may have any size without
    /// taking any of a disk.
    ///
    /// @param share of the heap that the file may have: one in so many bytes
    /// @throws IOException also when it has more
    public static byte[] read(Path file, int share) throws IOException {
        long most = Runtime.getRuntime().maxMemory() / share;
        long size = Files.size(file);
        if (size > most) {
            throw new IOException(
                    "%s: found %d MB, expected at most %d MB; raise -Xmx in JAVA_OPTS if it has to be so large"
                            .formatted(file, size >> 20, most >> 20));
        }
        return Files.readAllBytes(file);
    }

    /// Garbage counts as used until it is collected. An allocation of that size has it collected, and
    /// fails as Java does.
    private static boolean collectFor(long bytes) {
        try {
            return new byte[Math.toIntExact(bytes)].length > 0;
        } catch (OutOfMemoryError | ArithmeticException _) {
            return false;
        }
    }

    private static long free() {
        var runtime = Runtime.getRuntime();
        return runtime.maxMemory() - runtime.totalMemory() + runtime.freeMemory();
    }
}
