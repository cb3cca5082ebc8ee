package dev.berth.http.connections;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.Optional;

/// How many connections there may be at the same time: as many as the process has file descriptors
/// and memory for.
public final class ConnectionLimit {

    /// Beyond them, so many connections may ask `/ping`, and learn that there is no room for anything
    /// else.
    static final int RESERVE = 32;

    private static final int CAP = 10_000;

    /// For files and for what hooks connect to.
    private static final int OTHER_DESCRIPTORS = 64;

    /// An idle connection takes 4 KiB of the heap, and one that has sent nearly all of the largest
    /// head 41 KiB. As much of all bodies of a connection with streams may lie in Jetty's buffers,
    /// in which nobody counts it.
    public static final int HEAP_PER_CONNECTION = 256 << 10;

    /// A server with fewer could not work at all; a descriptor that is then missing makes a
    /// connection wait.
    private static final int FEWEST = 8;

    private ConnectionLimit() {}

    /// @param chosen lowers it
    static int ofThisJvm(Optional<Integer> chosen) {
        long heap = Runtime.getRuntime().maxMemory();
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                ? of(chosen, heap, system.getMaxFileDescriptorCount() - system.getOpenFileDescriptorCount())
                : of(chosen, heap, Long.MAX_VALUE);
    }

    /// @param descriptors those that are free before the first connection
    static int of(Optional<Integer> chosen, long heap, long descriptors) {
        long room = Math.min(heap / HEAP_PER_CONNECTION, descriptors - OTHER_DESCRIPTORS - RESERVE);
        return Math.min(chosen.orElse(CAP), Math.clamp(room, FEWEST, CAP));
    }
}
