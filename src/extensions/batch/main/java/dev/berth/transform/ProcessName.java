package dev.berth.transform;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;

/// A process, so that others can tell whether it still runs.
///
/// @param host the machine's name, which several may have
/// @param system which start of which machine it is, and which of its namespaces of processes:
///   process 7 of a container is not that of another one. Empty where the system has no `/proc`
/// @param started when it began, in milliseconds, as ids are given again; 0 where that is not known
record ProcessName(String host, String system, long process, long started) {

    static final ProcessName UNKNOWN = new ProcessName("", "", 0, 0);

    static ProcessName own() {
        return new ProcessName(ownHost(), ownSystem(), ProcessHandle.current().pid(), started(ProcessHandle.current()));
    }

    /// Whether the other process runs; nothing where it is of another machine.
    Optional<Boolean> isRunning(ProcessName other) {
        return Optional.of(other)
                .filter(one -> host.equals(one.host) && system.equals(one.system))
                .map(one -> ProcessHandle.of(one.process)
                        .filter(found -> found.isAlive() && started(found) == one.started)
                        .isPresent());
    }

    private static long started(ProcessHandle process) {
        return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
    }

    private static String ownHost() {
        try {
            return InetAddress.getLocalHost().getHostName();
        } catch (UnknownHostException e) {
            // Its message begins with the name, for which there is no address.
            return e.getMessage().replaceFirst(":.*", "");
        }
    }

    private static String ownSystem() {
        try {
            return Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip()
                    + " "
                    + Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
        } catch (IOException e) {
            return "";
        }
    }

    @Override
    public String toString() {
        return equals(UNKNOWN) ? "an unknown process" : "process %d on %s".formatted(process, host);
    }
}
