package dev.berth.engine.torch;

import java.io.IOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The machine code of libtorch in this process's memory.
///
/// While it is loaded, libtorch registers thousands of operators, and loading a model touches more. All that code stays
/// in memory afterwards, 56 MB of it, of which the forwards of one model run 20.
public final class EngineCode {

  private static final Logger log = LoggerFactory.getLogger(EngineCode.class);

  private static final Path MAPPINGS = Path.of("/proc/self/maps");
  /// `7f1c8a600000-7f1c9ee00000 r-xp 05400000 08:01 1234  /opt/libtorch_cpu.so`: proc(5).
  private static final Pattern LIBTORCH_CODE = Pattern.compile("(\\w+)-(\\w+) r-xp .*/libtorch_[^/]*");
  /// madvise(2)
  private static final int MADV_DONTNEED = 4;

  private EngineCode() {}

  /// Lets go of the code that has run so far. What runs again comes back from the system's cache of the file, page by
  /// page; threads that run it meanwhile notice nothing else. Without effect where there is no libtorch, or no Linux.
  public static void release() {
    try {
      var mappings = mappings();
      if (!mappings.isEmpty()) {
        release(mappings);
      }
    } catch (Throwable e) {
      // It would only have saved memory.
      log.debug("libtorch's code stays in memory", e);
    }
  }

  private static List<MemorySegment> mappings() throws IOException {
    if (!Files.isReadable(MAPPINGS)) {
      return List.of();
    }
    try (var lines = Files.lines(MAPPINGS)) {
      return lines.map(LIBTORCH_CODE::matcher).filter(mapping -> mapping.matches()).map(mapping -> {
        long begin = HexFormat.fromHexDigitsToLong(mapping.group(1));
        return segment(begin, HexFormat.fromHexDigitsToLong(mapping.group(2)) - begin);
      }).toList();
    }
  }

  @SuppressWarnings("restricted")
  private static MemorySegment segment(long begin, long bytes) {
    return MemorySegment.ofAddress(begin).reinterpret(bytes);
  }

  @SuppressWarnings("restricted")
  private static void release(List<MemorySegment> mappings) throws Throwable {
    var linker = Linker.nativeLinker();
    var madvise = linker.downcallHandle(
        linker.defaultLookup().findOrThrow("madvise"),
        FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    for (var mapping : mappings) {
      int _ = (int) madvise.invokeExact(mapping, mapping.byteSize(), MADV_DONTNEED);
    }
  }
}
