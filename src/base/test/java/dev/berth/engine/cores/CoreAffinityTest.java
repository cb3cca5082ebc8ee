package dev.berth.engine.cores;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class CoreAffinityTest {

    private static final String NAME = "affinity-test";

    @Test
    void asManyThreadsAsCoresHaveOneEach() throws Exception {
        int cores = coresOf(allowed());
        var before = allowed();
        var found = afterSpreading(cores);
        assertThat(found).hasSize(cores).doesNotHaveDuplicates().allMatch(list -> coresOf(list) == 1, "is one core");
        assertThat(allowed()).as("no other thread's").isEqualTo(before);
    }

    @Test
    void fewerGoWhereThereIsRoom() throws Exception {
        int cores = coresOf(allowed());
        assumeTrue(cores > 1, "there is one core");
        assertThat(afterSpreading(cores - 1)).containsOnly(allowed());
    }

    /// What so many threads of a name may run on once they have been spread.
    private static List<String> afterSpreading(int count) throws Exception {
        var threads = Stream.generate(() -> Executors.newSingleThreadExecutor(
                        Thread.ofPlatform().name(NAME).factory()))
                .limit(count)
                .toList();
        try {
            for (var thread : threads) {
                thread.submit(() -> {}).get();
            }
            CoreAffinity.spread(NAME);
            var found = new ArrayList<String>();
            for (var thread : threads) {
                found.add(thread.submit(CoreAffinityTest::allowed).get());
            }
            return found;
        } finally {
            threads.forEach(ExecutorService::close);
        }
    }

    /// How many cores a list such as `0-1,3` names.
    private static int coresOf(String list) {
        return Stream.of(list.split(","))
                .map(range -> range.split("-"))
                .mapToInt(ends -> Integer.parseInt(ends[ends.length - 1]) - Integer.parseInt(ends[0]) + 1)
                .sum();
    }

    /// The calling thread's cores, such as `0-1`.
    private static String allowed() throws IOException {
        try (var lines = Files.lines(Path.of("/proc/thread-self/status"))) {
            return lines.filter(line -> line.startsWith("Cpus_allowed_list:"))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElseThrow();
        }
    }
}
