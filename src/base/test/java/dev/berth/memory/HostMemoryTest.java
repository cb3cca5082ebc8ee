package dev.berth.memory;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/// The files are those of real machines, cut down to what is read.
class HostMemoryTest {

    private static final long MB = 1L << 20;

    @TempDir
    Path root;

    @Test
    void aMachineWithoutAContainerHasWhatTheKernelSays() throws IOException {
        machine(24_684_084, 19_800_468);
        file("proc/self/cgroup", "0::/\n");
        // Less 1 GB that stay free.
        assertThat(memory(0)).hasToString("18312 MB free of 24105 MB (machine)");
    }

    @Test
    void whatTheHeapMayStillGrowByIsNotFree() throws IOException {
        machine(2 << 20, 1 << 20);
        assertThat(memory(0).free()).isEqualTo((1024 - 128) * MB);
        assertThat(memory(500 * MB).free()).isEqualTo((1024 - 128 - 500) * MB);
        assertThat(memory(5000 * MB)).hasToString("0 MB free of 2048 MB (machine)");
    }

    /// As `docker run --memory 512m` shows it from within, in a namespace of its own.
    @Test
    void theGroupOfAContainerInVersion2() throws IOException {
        machine(24_684_084, 19_800_468);
        file("proc/self/cgroup", "0::/\n");
        group("sys/fs/cgroup", 512 * MB + "", 400 * MB, """
        anon 314572800
        file 104857600
        file_mapped 20971520
        inactive_file 52428800
        active_file 31457280
        slab_reclaimable 1048576
        """);
        // 112 and, of the 80 of files, the 60 that are not mapped.
        assertThat(memory(0)).isEqualTo(new MemoryReading((112 + 60 - 64) * MB, 512 * MB, "cgroup"));
    }

    @Test
    void theTightestOfNestedGroupsCounts() throws IOException {
        machine(24_684_084, 19_800_468);
        file("proc/self/cgroup", "0::/kubepods.slice/pod1.slice/berth.scope\n");
        group("sys/fs/cgroup/kubepods.slice", 8192 * MB + "", 4096 * MB, "");
        group("sys/fs/cgroup/kubepods.slice/pod1.slice", 2048 * MB + "", 1900 * MB, "");
        group("sys/fs/cgroup/kubepods.slice/pod1.slice/berth.scope", "max", 1000 * MB, "");
        assertThat(memory(0)).isEqualTo(new MemoryReading((148 - 128) * MB, 2048 * MB, "cgroup"));
    }

    @Test
    void theMachineCountsWhereItHasLessThanTheGroup() throws IOException {
        machine(24_684_084, 2 << 20);
        file("proc/self/cgroup", "0::/a\n");
        group("sys/fs/cgroup/a", 8192 * MB + "", 100 * MB, "");
        assertThat(memory(0).source()).isEqualTo("machine");
    }

    @Test
    void beyondTheHighMarkAGroupIsSlowedDown() throws IOException {
        file("proc/self/cgroup", "0::/a\n");
        group("sys/fs/cgroup/a", 1024 * MB + "", 100 * MB, "");
        file("sys/fs/cgroup/a/memory.high", 512 * MB + "\n");
        assertThat(memory(0)).isEqualTo(new MemoryReading((512 - 100 - 64) * MB, 512 * MB, "cgroup"));
    }

    /// The path is the host's. In the container only the container's own group is mounted.
    @Test
    void theGroupOfAContainerInVersion1() throws IOException {
        machine(24_684_084, 19_800_468);
        file("proc/self/cgroup", "9:name=systemd:/\n4:memory:/docker/1f2e\n3:cpuset:/\n0::/\n");
        version1("sys/fs/cgroup/memory", 512 * MB, 400 * MB);
        assertThat(memory(0)).isEqualTo(new MemoryReading((112 + 60 - 64) * MB, 512 * MB, "cgroup"));
    }

    @Test
    void nestedGroupsInVersion1() throws IOException {
        file("proc/self/cgroup", "4:cpu,memory:/docker/1f2e\n");
        version1("sys/fs/cgroup/memory/docker/1f2e", 9223372036854771712L, 400 * MB);
        version1("sys/fs/cgroup/memory/docker", 1024 * MB, 800 * MB);
        version1("sys/fs/cgroup/memory", 9223372036854771712L, 4000 * MB);
        assertThat(memory(0)).isEqualTo(new MemoryReading((224 + 60 - 64) * MB, 1024 * MB, "cgroup"));
    }

    /// As in a namespace that was entered from without.
    @Test
    void aPathThatLeadsOutOfTheMountIsTheMount() throws IOException {
        file("proc/self/cgroup", "0::/../../init.scope\n");
        group("sys/fs/cgroup", 512 * MB + "", 100 * MB, "");
        assertThat(memory(0).total()).isEqualTo(512 * MB);
    }

    @Test
    void nothingIsKnownWhereTheSystemDoesNotTell() throws IOException {
        assertThat(new HostMemory(root, () -> 0).read()).isEmpty();
        file("proc/meminfo", "MemTotal: much\n");
        file("proc/self/cgroup", "nonsense\n");
        assertThat(new HostMemory(root, () -> 0).read()).isEmpty();
        file("proc/self/cgroup", "0::/a\n");
        group("sys/fs/cgroup/a", "12 elephants", 5, "anon\n");
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

    private void group(String path, String max, long current, String stat) throws IOException {
        file(path + "/memory.max", max + "\n");
        file(path + "/memory.high", "max\n");
        file(path + "/memory.current", current + "\n");
        file(path + "/memory.stat", stat);
    }

    private void version1(String path, long limit, long usage) throws IOException {
        file(path + "/memory.limit_in_bytes", limit + "\n");
        file(path + "/memory.usage_in_bytes", usage + "\n");
        file(path + "/memory.stat", """
        cache 9715712
        mapped_file 7499776
        inactive_file 4096
        active_file 626688
        total_mapped_file 20971520
        total_inactive_file 52428800
        total_active_file 31457280
        """);
    }

    private void file(String path, String text) throws IOException {
        var file = root.resolve(path);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }
}
