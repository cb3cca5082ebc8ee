package dev.berth.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The files are those of real machines, cut down to what is read.
class HostMemoryTest {

    private static final long MB = 1L << 20;

    @TempDir
    Path root;

    @Test
    void whatTheHeapMayStillGrowByIsNotFree() throws IOException {
        machine(2 << 20, 1 << 20);
        assertThat(memory(0).free()).isEqualTo((1024 - 128) * MB);
        assertThat(memory(500 * MB).free()).isEqualTo((1024 - 128 - 500) * MB);
        assertThat(memory(5000 * MB)).hasToString("0 MB free of 2048 MB (machine)");
    }

    /// Groups are their path, limit, use and, where there is one, high mark, in MB. Of the 80 MB of files
    /// of one in version 1 or with `files`, 60 are not mapped. A path in version 1 may be the host's: in a
    /// container only its own group is mounted. One that leads out is that of a namespace that was entered
    /// from without.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
          19336 | 0::/                              |                                     | 18312 MB free of 24105 MB (machine)
          2048  | 0::/a                             | /a 8192 100                         | 1024 MB free of 24105 MB (machine)
          19336 | 0::/                              | / 512 400 files                     | 108 MB free of 512 MB (cgroup)
          19336 | 0::/a                             | /a 1024 100 512                     | 348 MB free of 512 MB (cgroup)
          19336 | 0::/../../init.scope              | / 512 100                           | 348 MB free of 512 MB (cgroup)
          19336 | 0::/k/pod/berth                   | /k 8192 4096, /k/pod 2048 1900, /k/pod/berth max 1000 | 20 MB free of 2048 MB (cgroup)
          19336 | 9:name=systemd:/ 4:memory:/docker/1f2e 3:cpuset:/ 0::/ | /memory 512 400 | 108 MB free of 512 MB (cgroup)
          19336 | 4:cpu,memory:/docker/1f2e         | /memory/docker/1f2e max 400, /memory/docker 1024 800, /memory max 4000 | 220 MB free of 1024 MB (cgroup)
          """)
    void theLeastOfTheMachineAndOfAllGroupsCounts(long available, String lines, String groups, String left)
            throws IOException {
        machine(24_684_084, available << 10);
        file("proc/self/cgroup", lines.replace(' ', '\n') + "\n");
        for (var group : groups == null ? new String[0] : groups.split(", ")) {
            group(group.split(" "));
        }
        assertThat(memory(0)).hasToString(left);
    }

    @Test
    void nothingIsKnownWhereTheSystemDoesNotTell() throws IOException {
        assertThat(new HostMemory(root, () -> 0).read()).isEmpty();
        file("proc/meminfo", "MemTotal: much\n");
        file("proc/self/cgroup", "nonsense\n");
        assertThat(new HostMemory(root, () -> 0).read()).isEmpty();
        file("proc/self/cgroup", "0::/a\n");
        file("sys/fs/cgroup/a/memory.max", "12 elephants\n");
        file("sys/fs/cgroup/a/memory.current", "5\n");
        file("sys/fs/cgroup/a/memory.stat", "anon\n");
        assertThat(new HostMemory(root, () -> 0).read()).isEmpty();
    }

    @Test
    @EnabledOnOs(OS.LINUX)
    void thisMachineTells() {
        var reading = new HostMemory().read().orElseThrow();
        assertThat(reading.total()).isGreaterThan(256 * MB);
        assertThat(reading.free()).isLessThan(reading.total());
    }

    private MemoryReading memory(long heapGrowth) {
        return new HostMemory(root, () -> heapGrowth).read().orElseThrow();
    }

    private void machine(long totalKb, long availableKb) throws IOException {
        file(
                "proc/meminfo",
                "MemTotal:       %d kB\nMemFree:        17714036 kB\nMemAvailable:   %d kB\nHugePages_Total:       0\n"
                        .formatted(totalKb, availableKb));
    }

    private void group(String... words) throws IOException {
        var path = "sys/fs/cgroup" + words[0];
        boolean isFirst = words[0].startsWith("/memory");
        var none = isFirst ? "9223372036854771712" : "max";
        file(path + (isFirst ? "/memory.limit_in_bytes" : "/memory.max"), bytes(words[1], none));
        file(path + (isFirst ? "/memory.usage_in_bytes" : "/memory.current"), bytes(words[2], none));
        if (isFirst) {
            file(path + "/memory.stat", """
            cache 9715712
            mapped_file 7499776
            inactive_file 4096
            active_file 626688
            total_mapped_file 20971520
            total_inactive_file 52428800
            total_active_file 31457280
            """);
        } else if (words.length > 3 && words[3].equals("files")) {
            file(path + "/memory.stat", """
            anon 314572800
            file 104857600
            file_mapped 20971520
            inactive_file 52428800
            active_file 31457280
            slab_reclaimable 1048576
            """);
        } else {
            file(path + "/memory.high", words.length > 3 ? bytes(words[3], none) : "max\n");
        }
    }

    private static String bytes(String megabytes, String none) {
        return (megabytes.equals("max") ? none : Long.parseLong(megabytes) * MB) + "\n";
    }

    private void file(String path, String text) throws IOException {
        var file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
