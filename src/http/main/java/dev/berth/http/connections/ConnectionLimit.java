package dev.berth.http.connections;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.OptionalInt;

/// How many connections there may be at the same time: as many as the process has file descriptors
/// and memory for.
///
/// @param most connections that serve requests
/// @param because what it follows from, in words
public record ConnectionLimit(int most, String because) {

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

    /// @param chosen lowers it
    static ConnectionLimit ofThisJvm(OptionalInt chosen) {
        long heap = Runtime.getRuntime().maxMemory();
        return ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean system
                ? of(chosen, heap, system.getMaxFileDescriptorCount(), system.getOpenFileDescriptorCount())
                : of(chosen, heap, Long.MAX_VALUE, 0);
    }

    /// @param descriptors the limit of the process, as `ulimit -n` prints it
    /// @param open those of them that are in use before the first connection
    static ConnectionLimit of(OptionalInt chosen, long heap, long descriptors, long open) {
        var limit = new ConnectionLimit(CAP, "there are never more")
                .orLess(heap / HEAP_PER_CONNECTION, "the heap has %d MiB".formatted(heap >> 20))
                .orLess(descriptors - open - OTHER_DESCRIPTORS - RESERVE, "ulimit -n is " + descriptors);
        return chosen.isPresent() && chosen.getAsInt() < limit.most
                ? new ConnectionLimit(chosen.getAsInt(), "max-connections is %d".formatted(chosen.getAsInt()))
                : limit;
    }

    private ConnectionLimit orLess(long other, String because) {
        return other < most ? new ConnectionLimit((int) Math.max(FEWEST, other), because) : this;
    }
}
