package dev.berth.batching;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class ThreadPriorityTest {

    /// Where `/proc/thread-self/stat` has it, counted from behind the thread's name.
    private static final int NICE = 16;

    @Test
    void aThreadAndThoseThatItStartsGiveWayAndNoOthers() throws Exception {
        int usual = nice();
        try (var worker = Executors.newSingleThreadExecutor()) {
            worker.submit(ThreadPriority::lower).get();
            assertThat(worker.submit(ThreadPriorityTest::nice).get()).isEqualTo(usual + 5);
            assertThat(worker.submit(() -> onAThread(ThreadPriorityTest::nice)).get())
                    .isEqualTo(usual + 5);
        }
        assertThat(nice()).isEqualTo(usual);
        assertThat(onAThread(ThreadPriorityTest::nice)).isEqualTo(usual);
    }

    private static <T> T onAThread(Callable<T> call) throws Exception {
        try (var thread = Executors.newSingleThreadExecutor()) {
            return thread.submit(call).get();
        }
    }

    private static int nice() throws IOException {
        var statistics = Files.readString(Path.of("/proc/thread-self/stat"));
        return Integer.parseInt(
                statistics.substring(statistics.lastIndexOf(')') + 2).split(" ")[NICE]);
    }
}
