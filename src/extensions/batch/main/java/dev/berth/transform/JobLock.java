package dev.berth.transform;

import com.fasterxml.jackson.core.type.TypeReference;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.storage.Location;
import dev.berth.storage.Marker;
import dev.berth.storage.StorageException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Keeps two processes from doing one instance's part of a job at the same time:
/// `.berth-lock-0-of-1` in the output, which says who does it.
///
/// A thread writes it again now and then. It no longer counts when that has not been done for a
/// while by the store's clock, or where its owner was a process of this machine that has ended.
final class JobLock implements AutoCloseable {

    /// @param renewal how often it is written again
    /// @param stale after how long without that it no longer counts
    record Timing(Duration renewal, Duration stale) {
        static final Timing DEFAULT = new Timing(Duration.ofSeconds(10), Duration.ofSeconds(60));
    }

    /// A process, so that others can tell whether it still runs.
    ///
    /// @param name for people
    /// @param system which machine it is, in which of its starts, and which of its namespaces of
    ///   processes: process 7 of a container is not that of another one
    /// @param started when it began, in milliseconds, as ids are given again; 0 where that is not known
    record Owner(String name, String system, long process, long started) {

        static Owner own() {
            var process = ProcessHandle.current();
            var host = ManagementFactory.getRuntimeMXBean().getName().replaceFirst(".*@", "");
            var system = host;
            try {
                system += Files.readString(Path.of("/proc/sys/kernel/random/boot_id"))
                        + Files.readSymbolicLink(Path.of("/proc/self/ns/pid"));
            } catch (IOException _) {
                // Only Linux has these.
            }
            return new Owner(
                    "process %d on %s".formatted(process.pid(), host), system, process.pid(), started(process));
        }

        private static long started(ProcessHandle process) {
            return process.info().startInstant().map(Instant::toEpochMilli).orElse(0L);
        }

        /// Whether the other process runs; nothing where it is of another machine.
        private Optional<Boolean> isRunning(Owner other) {
            return Optional.of(other)
                    .filter(one -> system.equals(one.system))
                    .map(one -> ProcessHandle.of(one.process)
                            .filter(found -> found.isAlive() && started(found) == one.started)
                            .isPresent());
        }
    }

    /// What the lock says.
    ///
    /// @param run differs from that of any other job
    /// @param renewals so that it differs each time
    record Text(Owner owner, String run, long renewals) {

        /// What an owner has left that was killed while it wrote.
        private static final Text TORN = new Text(new Owner("an unknown process", "", 0, 0), "", 0);

        private static Text of(Marker found) {
            try {
                var read = JsonText.as(
                        JsonText.read(found.text().getBytes(StandardCharsets.UTF_8)), new TypeReference<Text>() {});
                return read == null || read.owner == null || read.run == null ? TORN : read;
            } catch (NotJsonException | IllegalArgumentException e) {
                return TORN;
            }
        }

        private String write() {
            return JsonText.write(this);
        }
    }

    private static final Logger log = LoggerFactory.getLogger(JobLock.class);
    private static final Duration LOOK = Duration.ofSeconds(1);

    /// How often the lock may have gone, or another process may have taken it over, between two
    /// steps.
    private static final int MOST_MISSED = 5;

    private final Location location;
    private final Timing timing;
    private final Consumer<String> lost;
    private final Thread heart = Thread.ofVirtual().name("transform-lock").unstarted(this::renew);
    private volatile Text text;

    private JobLock(Location location, Timing timing, Text text, Consumer<String> lost) {
        this.location = location;
        this.timing = timing;
        this.text = text;
        this.lost = lost;
    }

    /// Takes the lock of a job's instance. The output must be there.
    ///
    /// @param isOver whether it is not to be waited for any longer
    /// @param lost is told when another process has taken it meanwhile
    /// @throws TransformException where another process has it
    static JobLock take(TransformJob job, BooleanSupplier isOver, Consumer<String> lost) throws InterruptedException {
        var location = job.output()
                .resolve(".berth-lock-%d-of-%d"
                        .formatted(job.part().index(), job.part().count()));
        return take(location, Owner.own(), Timing.DEFAULT, isOver, lost);
    }

    static JobLock take(Location location, Owner own, Timing timing, BooleanSupplier isOver, Consumer<String> lost)
            throws InterruptedException {
        var lock = new JobLock(location, timing, new Text(own, UUID.randomUUID().toString(), 0), lost);
        Optional<Marker> seen = Optional.empty();
        int missed = 0;
        while (true) {
            var found = location.marker();
            var end = found.flatMap(lock::whyItCountsNoMore);
            if (found.isPresent() && end.isEmpty()) {
                lock.requireIdle(found.get(), seen, isOver);
                seen = found;
            } else if (location.mark(lock.text.write(), found)) {
                end.ifPresent(why -> log.warn("{}: {} no longer counts: {}", location, described(found.get()), why));
                break;
            } else if (++missed == MOST_MISSED || isOver.getAsBoolean()) {
                throw new TransformException(
                        "%s: found a lock that can neither be read nor be taken over. Remove what is there, and do the job again"
                                .formatted(location));
            }
            Thread.sleep(LOOK);
        }
        lock.heart.start();
        return lock;
    }

    private static String described(Marker found) {
        return "the lock of %s, renewed %d s ago,"
                .formatted(Text.of(found).owner.name, found.age().toSeconds());
    }

    /// Nothing where it counts.
    private Optional<String> whyItCountsNoMore(Marker found) {
        if (!text.owner.isRunning(Text.of(found).owner).orElse(true)) {
            return Optional.of("the process has ended");
        }
        return Optional.of("it was not renewed for %d s".formatted(timing.stale.toSeconds()))
                .filter(_ -> found.age().compareTo(timing.stale) >= 0);
    }

    /// Refuses where a lock's owner lives, or the wait for its end is over.
    private void requireIdle(Marker found, Optional<Marker> seen, BooleanSupplier isOver) {
        boolean isRenewed =
                seen.filter(first -> !first.version().equals(found.version())).isPresent();
        if (isRenewed || text.owner.isRunning(Text.of(found).owner).orElse(false) || isOver.getAsBoolean()) {
            throw new TransformException(
                    "%s: found %s which does this job. Wait for its end or stop it; after %d s without renewal the lock no longer counts"
                            .formatted(location, described(found), timing.stale.toSeconds()));
        }
        if (seen.isEmpty()) {
            log.warn(
                    "{}: found {} which no longer counts in {} s, if it is not renewed",
                    location,
                    described(found),
                    timing.stale.minus(found.age()).toSeconds());
        }
    }

    private void renew() {
        try {
            while (true) {
                Thread.sleep(timing.renewal);
                var next = new Text(text.owner, text.run, text.renewals + 1);
                try {
                    var found = location.marker();
                    if (found.filter(this::isOwn).isEmpty() || !location.renew(next.write(), found.get())) {
                        lost.accept("%s: found the lock of %s, expected this job's: it was taken over"
                                .formatted(
                                        location,
                                        location.marker()
                                                .map(now -> Text.of(now).owner.name)
                                                .orElse("nobody")));
                        return;
                    }
                    text = next;
                } catch (StorageException e) {
                    log.warn("the lock is not renewed: {}", e.getMessage());
                }
            }
        } catch (InterruptedException _) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isOwn(Marker found) {
        return Text.of(found).run.equals(text.run);
    }

    /// Removes it, unless another process has it now.
    @Override
    public void close() throws InterruptedException {
        heart.interrupt();
        heart.join();
        try {
            if (location.marker().filter(this::isOwn).isPresent()) {
                location.delete();
            }
        } catch (StorageException e) {
            log.warn("the lock stays until it no longer counts: {}", e.getMessage());
        }
    }
}
