package dev.berth.engine.onnx;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.SymbolLookup;
import java.lang.foreign.ValueLayout;
import java.util.NoSuchElementException;

/// The NVIDIA driver. ONNX Runtime does not say which GPUs there are.
final class CudaDriver {

    private CudaDriver() {}

    /// The GPUs that this process may use, by `CUDA_VISIBLE_DEVICES` too. None without a driver.
    @SuppressWarnings("restricted")
    static int devices() {
        try (var arena = Arena.ofConfined()) {
            var driver = SymbolLookup.libraryLookup("libcuda.so.1", Arena.global());
            var linker = Linker.nativeLinker();
            var initialise = linker.downcallHandle(
                    driver.findOrThrow("cuInit"), FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT));
            var count = linker.downcallHandle(
                    driver.findOrThrow("cuDeviceGetCount"),
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS));
            MemorySegment devices = arena.allocate(ValueLayout.JAVA_INT);
            boolean isThere = (int) initialise.invokeExact(0) == 0 && (int) count.invokeExact(devices) == 0;
            return isThere ? devices.get(ValueLayout.JAVA_INT, 0) : 0;
        } catch (IllegalArgumentException | NoSuchElementException _) {
            return 0;
        } catch (Throwable e) {
            throw new IllegalStateException("the NVIDIA driver can't be asked", e);
        }
    }
}
