package dev.berth.engine.cores;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which core a thread runs on.
///
/// A hypervisor may have withdrawn an idle core. So the kernel of a virtual machine avoids it, and
/// wakes all threads of a forward on one core after a pause: a question took 24 to 31 ms on two
/// cores, and 19 ms with a core for each thread. `OMP_PROC_BIND` can't do it: libgomp then pins the
/// thread that loads it, and every thread that it works for, to the first core.
final class CoreAffinity {

    private static final Logger log = LoggerFactory.getLogger(CoreAffinity.class);

    private static final Path THREADS = Path.of("/proc/self/task");

    /// Of a `cpu_set_t`: CPU_SET(3).
    private static final int BYTES = 128;

    private CoreAffinity() {}

    /// Gives each thread of a name a core of its own, where there are as many threads as cores that
    /// the process may use. Where there are more cores it does nothing: other containers of the
    /// machine may choose the same ones, and the system finds idle ones. Native threads have the name
    /// of the thread that started them.
    ///
    /// @param name of at most 15 characters, as Linux keeps no more
    static void spread(String name) {
        if (!Files.isDirectory(THREADS)) {
            return;
        }
        try (var all = Files.list(THREADS);
                var arena = Arena.ofConfined()) {
            var threads = all.filter(thread -> name.equals(nameOf(thread)))
                    .mapToInt(thread -> Integer.parseInt(thread.getFileName().toString()))
                    .sorted()
                    .toArray();
            var mask = arena.allocate(BYTES);
            // Of the process's first thread, which stays where it is.
            call("sched_getaffinity", Math.toIntExact(ProcessHandle.current().pid()), mask);
            var cores =
                    BitSet.valueOf(mask.toArray(ValueLayout.JAVA_BYTE)).stream().toArray();
            for (int i = 0; i < threads.length && threads.length == cores.length; i++) {
                mask.fill((byte) 0)
                        .set(ValueLayout.JAVA_BYTE, cores[i] / Byte.SIZE, (byte) (1 << cores[i] % Byte.SIZE));
                call("sched_setaffinity", threads[i], mask);
            }
        } catch (Throwable e) {
            log.warn("the threads of {} may share a core while another is idle", name, e);
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

    /// `int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)`, or its sister:
    /// sched_setaffinity(2)
    @SuppressWarnings("restricted")
    private static void call(String function, int thread, MemorySegment mask) throws Throwable {
        var linker = Linker.nativeLinker();
        var handle = linker.downcallHandle(
                linker.defaultLookup().findOrThrow(function),
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.ADDRESS));
        if ((int) handle.invokeExact(thread, mask.byteSize(), mask) != 0) {
            throw new IOException("%s of thread %d failed".formatted(function, thread));
        }
    }
}
