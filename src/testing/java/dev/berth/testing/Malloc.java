package dev.berth.testing;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;

/// What native code has allocated with glibc.
public final class Malloc {

    /// `struct mallinfo2`: ten numbers of the size of a pointer. mallinfo(3)
    private static final MemoryLayout INFO = MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG);

    private static final int MAPPED = 4;
    private static final int IN_USE = 7;

    private Malloc() {}

    /// The bytes that are not freed, in all arenas.
    @SuppressWarnings("restricted")
    public static long used() {
        var linker = Linker.nativeLinker();
        var mallinfo = linker.downcallHandle(
                linker.defaultLookup().findOrThrow("mallinfo2"),
                FunctionDescriptor.of(MemoryLayout.structLayout(INFO)));
        try (var arena = Arena.ofConfined()) {
            var info = (MemorySegment) mallinfo.invokeExact((SegmentAllocator) arena);
            return info.getAtIndex(ValueLayout.JAVA_LONG, MAPPED) + info.getAtIndex(ValueLayout.JAVA_LONG, IN_USE);
        } catch (Throwable e) {
            throw new IllegalStateException("mallinfo2", e);
        }
    }
}
