package dev.berth.batching;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which threads have the cores when there are not enough for all.
///
/// A forward takes a core for tens of milliseconds; what accepts a request, refuses it or answers
/// `/ping` needs one for one, and would wait for its turn each time. The JVM itself sets priorities
/// on Linux for root only, and raises those of its compilers then.
public final class ThreadPriority {

    private static final Logger log = LoggerFactory.getLogger(ThreadPriority.class);

    /// A thread with 5 has a third of what one with 0 has, where both want a core.
    private static final int INCREMENT = 5;

    private ThreadPriority() {}

    /// Has the calling thread, and those that it starts from now on, give way to others. Elsewhere
    /// than on Linux, where `nice` is of the whole process, it does nothing.
    @SuppressWarnings("restricted")
    public static void lower() {
        if (!System.getProperty("os.name").equals("Linux")) {
            return;
        }
        try {
            var linker = Linker.nativeLinker();
            // int nice(int inc), of the calling thread: nice(2)
            var ignored = (int) linker.downcallHandle(
                            linker.defaultLookup().findOrThrow("nice"),
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT))
                    .invokeExact(INCREMENT);
        } catch (Throwable e) {
            log.warn("{} keeps its priority", Thread.currentThread().getName(), e);
        }
    }
}
