package dev.berth.memory;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.util.Optional;

/// glibc's heap, in which libtorch and the tokenizer have their memory. Elsewhere than with glibc
/// it does nothing.
@SuppressWarnings("restricted")
public final class NativeHeap {

    private static final Optional<MethodHandle> TRIM = Linker.nativeLinker()
            .defaultLookup()
            .find("malloc_trim")
            .map(trim -> Linker.nativeLinker()
                    .downcallHandle(trim, FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG)));

    private NativeHeap() {}

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
}
