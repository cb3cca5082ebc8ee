package dev.berth.memory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/// How much memory a model may take before the kernel ends a process or the machine swaps.
///
/// The least of what the machine has left, and of what each control group around this process has
/// left, counts. Two things are not free although nobody has them yet: what the Java heap may still
/// grow by, and a reserve.
///
/// Safe for use by many threads. Each look reads a few small files of `/proc` and `/sys`.
public final class HostMemory {

    /// For what grows while models serve: what forwards take meanwhile, compiled code, classes and
    /// stacks. Twelve contexts of 1,000 words at once took 55 MB with the sample on two workers.
    private static final long LEAST_RESERVE = 64L << 20;

    private static final long MOST_RESERVE = 1L << 30;

    /// The larger the memory, the larger the models.
    private static final int SHARE_OF_THE_RESERVE = 16;

    /// In version 1 a group without a limit has one of nearly 2^63 bytes.
    private static final long NO_LIMIT = 1L << 60;

    private final Path root;
    private final LongSupplier heapGrowth;

    /// Of the machine and the container that this process runs in.
    public HostMemory() {
        this(
                Path.of("/"),
                () -> Runtime.getRuntime().maxMemory() - Runtime.getRuntime().totalMemory());
    }

    /// @param root what stands for `/`
    /// @param heapGrowth how many bytes the Java heap may still take
    public HostMemory(Path root, LongSupplier heapGrowth) {
        this.root = root;
        this.heapGrowth = heapGrowth;
    }

    /// What is left; nothing where the system does not tell, as elsewhere than on Linux.
    public Optional<MemoryReading> read() {
        return Stream.concat(machine().stream(), groups())
                .map(reading -> reading.minus(reserve(reading.total()) + heapGrowth.getAsLong()))
                .min(Comparator.comparingLong(MemoryReading::free));
    }

    private static long reserve(long total) {
        return Math.clamp(total / SHARE_OF_THE_RESERVE, LEAST_RESERVE, MOST_RESERVE);
    }

    private Optional<MemoryReading> machine() {
        var facts = facts(root.resolve("proc/meminfo"));
        var available = facts.get("MemAvailable:");
        var total = facts.get("MemTotal:");
        return available == null || total == null
                ? Optional.empty()
                : Optional.of(new MemoryReading(available << 10, total << 10, "machine"));
    }

    /// The groups of this process that have a limit, of either version: `4:memory:/docker/1f2e` in
    /// version 1, `0::/system.slice/berth.service` in version 2.
    private Stream<MemoryReading> groups() {
        return lines(root.resolve("proc/self/cgroup")).stream()
                .map(line -> line.split(":", 3))
                .filter(parts -> parts.length == 3)
                .flatMap(parts -> List.of(parts[1].split(",")).contains("memory")
                        ? groups(root.resolve("sys/fs/cgroup/memory"), parts[2])
                        : parts[1].isEmpty() ? groups(root.resolve("sys/fs/cgroup"), parts[2]) : Stream.empty());
    }

    /// The group and those around it. In a container its path may be that of the host: the
    /// container's own group is then where the others are mounted, and the rest of the path is not
    /// there.
    private static Stream<MemoryReading> groups(Path mount, String path) {
        var group = mount.resolve("./" + path).normalize();
        return Stream.iterate(group.startsWith(mount) ? group : mount, at -> at.startsWith(mount), Path::getParent)
                .flatMap(at -> group(at).stream());
    }

    /// What files have left in memory counts as used, and is given back when it is needed. What is
    /// mapped counts as needed: it is the code of libtorch. Beyond `memory.high` the kernel slows a
    /// group down until it has given memory back.
    private static Optional<MemoryReading> group(Path group) {
        var limit = numbers(group, "memory.limit_in_bytes", "memory.max", "memory.high")
                .min();
        var used = numbers(group, "memory.usage_in_bytes", "memory.current").findFirst();
        if (limit.isEmpty() || limit.getAsLong() >= NO_LIMIT || used.isEmpty()) {
            return Optional.empty();
        }
        var facts = facts(group.resolve("memory.stat"));
        long files = fact(facts, "total_inactive_file", "inactive_file")
                + fact(facts, "total_active_file", "active_file")
                - fact(facts, "total_mapped_file", "file_mapped");
        long free = limit.getAsLong() - used.getAsLong() + Math.max(0, files);
        return Optional.of(new MemoryReading(free, limit.getAsLong(), "cgroup"));
    }

    /// @param second its name in version 2; version 1 has it too, for the group without those below
    private static long fact(Map<String, Long> facts, String first, String second) {
        return facts.getOrDefault(first, facts.getOrDefault(second, 0L));
    }

    /// The numbers that files hold. A file that is not there, or holds `max`, has none.
    private static LongStream numbers(Path group, String... files) {
        return Stream.of(files)
                .flatMap(file -> lines(group.resolve(file)).stream())
                .map(String::strip)
                .filter(line -> line.matches("\\d{1,18}|9\\d{18}"))
                .mapToLong(Long::parseLong);
    }

    /// The lines `name number`, whatever stands behind.
    private static Map<String, Long> facts(Path file) {
        return lines(file).stream()
                .map(line -> line.split("\\s+"))
                .filter(line -> line.length > 1 && line[1].matches("\\d{1,18}"))
                .collect(Collectors.toMap(line -> line[0], line -> Long.parseLong(line[1]), (first, _) -> first));
    }

    /// A group may vanish while it is read, and a container may hide any of the files.
    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException _) {
            return List.of();
        }
    }
}
