package dev.berth.engine.onnx;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;

/// What the processor can do, as Linux calls it.
public final class CpuFlags {

    private CpuFlags() {}

    /// The words of `/proc/cpuinfo`, such as `avx512_vnni`; empty where there is no such file.
    public static Set<String> read() {
        try {
            return new HashSet<>(
                    Arrays.asList(Files.readString(Path.of("/proc/cpuinfo")).split("\\s+")));
        } catch (IOException _) {
            return Set.of();
        }
    }
}
