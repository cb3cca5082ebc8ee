package dev.berth.memory;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SegmentAllocator;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;
import java.util.OptionalLong;

/// glibc's heap, in which libtorch and the tokenizer have their memory. Elsewhere than with glibc
/// it does nothing.
@SuppressWarnings("restricted")
public final class NativeHeap {

    /// `struct mallinfo2`: ten numbers of the size of a pointer. mallinfo(3)
    private static final MemoryLayout MALLINFO = MemoryLayout.sequenceLayout(10, ValueLayout.JAVA_LONG);

    private static final int MAPPED = 4;
    private static final int IN_USE = 7;

    private static final Optional<MethodHandle> TRIM =
            function("malloc_trim", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG));
    private static final Optional<MethodHandle> INFO =
            function("mallinfo2", FunctionDescriptor.of(MemoryLayout.structLayout(MALLINFO)));

    private NativeHeap() {}

    /// The bytes that native code has allocated and not freed, in all arenas.
    public static OptionalLong used() {
        if (INFO.isEmpty()) {
            return OptionalLong.empty();
        }
        try (var arena = Arena.ofConfined()) {
            var info = (MemorySegment) INFO.get().invokeExact((SegmentAllocator) arena);
            return OptionalLong.of(
                    info.getAtIndex(ValueLayout.JAVA_LONG, MAPPED) + info.getAtIndex(ValueLayout.JAVA_LONG, IN_USE));
        } catch (Throwable e) {
            throw new IllegalStateException("mallinfo2", e);
        }
    }

    /// Gives memory that was freed back to the system at once. glibc keeps much of it otherwise.
    public static void trim() {
        if (TRIM.isPresent()) {
            try {
                var ignored = (int) TRIM.get().invokeExact(0L);
            } catch (Throwable e) {
                throw new IllegalStateException("malloc_trim", e);
            }
        }
    }

    private static Optional<MethodHandle> function(String name, FunctionDescriptor descriptor) {
        var linker = Linker.nativeLinker();
        return linker.defaultLookup().find(name).map(address -> linker.downcallHandle(address, descriptor));
    }
}
