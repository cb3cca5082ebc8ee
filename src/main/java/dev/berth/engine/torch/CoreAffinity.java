package dev.berth.engine.torch;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which core a thread runs on.
final class CoreAffinity {

  private static final Logger log = LoggerFactory.getLogger(CoreAffinity.class);

  private static final Path THREADS = Path.of("/proc/self/task");

  /// Of a `cpu_set_t`: CPU_SET(3).
  private static final int BYTES = 128;

  private CoreAffinity() {}

  /// Gives each thread of a name one of the cores that the process may use, and leaves it there, where there are as many
  /// of one as of the other. Where there are more cores it does nothing: other containers of the machine may choose the
  /// same ones, and the system finds idle ones. Elsewhere than on Linux it does nothing either.
  ///
  /// Threads that native code starts have the name of the one that asked for them.
  ///
  /// @param name of at most 15 characters, as Linux keeps no more
  static void spread(String name) {
    if (!Files.isDirectory(THREADS)) {
      return;
    }
    try {
      var threads = threads(name);
      var cores = cores().stream().boxed().toList();
      if (threads.size() == cores.size()) {
        for (int i = 0; i < cores.size(); i++) {
          pin(threads.get(i), cores.get(i));
        }
      }
    } catch (Throwable e) {
      log.warn("the threads of {} may share a core while another is idle", name, e);
    }
  }

  /// The threads of a name, the oldest first.
  private static List<Integer> threads(String name) throws IOException {
    try (var all = Files.list(THREADS)) {
      return all.filter(thread -> name.equals(nameOf(thread)))
          .map(thread -> Integer.valueOf(thread.getFileName().toString())).sorted().toList();
    }
  }

  private static String nameOf(Path thread) {
    try {
      return Files.readString(thread.resolve("comm")).strip();
    } catch (IOException _) {
      // It has ended.
      return "";
    }
  }

  /// The numbers of the cores that the process may use.
  private static BitSet cores() throws Throwable {
    try (var arena = Arena.ofConfined()) {
      var mask = arena.allocate(BYTES);
      // Of the process's first thread, which stays where it is.
      call("sched_getaffinity", Math.toIntExact(ProcessHandle.current().pid()), mask);
      return BitSet.valueOf(mask.toArray(ValueLayout.JAVA_BYTE));
    }
  }

  private static void pin(int thread, int core) throws Throwable {
    try (var arena = Arena.ofConfined()) {
      var mask = arena.allocate(BYTES);
      mask.set(ValueLayout.JAVA_BYTE, core / Byte.SIZE, (byte) (1 << core % Byte.SIZE));
      call("sched_setaffinity", thread, mask);
    }
  }

  /// `int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)`, or its sister: sched_setaffinity(2)
  private static void call(String function, int thread, MemorySegment mask) throws Throwable {
    int result = (int) handle(function).invokeExact(thread, mask.byteSize(), mask);
    if (result != 0) {
      throw new IOException("%s of thread %d failed".formatted(function, thread));
    }
  }

  @SuppressWarnings("restricted")
  private static MethodHandle handle(String function) {
    var linker = Linker.nativeLinker();
    return linker.downcallHandle(linker.defaultLookup().findOrThrow(function), FunctionDescriptor.of(
        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
  }
}
