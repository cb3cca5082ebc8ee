package dev.berth.transform.command;

import dev.berth.transform.JobReport;
import dev.berth.transform.JobStatus;
import dev.berth.transform.ObjectOutcome;
import dev.berth.transform.Progress;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/// Shows how a job gets on: a bar on a terminal, a line now and then elsewhere. Used by many
/// threads.
abstract class ProgressDisplay implements Progress, AutoCloseable {

    private static final double MEGABYTE = 1e6;

    private long start;
    private OptionalLong objects = OptionalLong.empty();
    private long bytes;
    private long ended;
    private long failed;
    private long records;
    private long answered;

    /// Of objects that had their output already, or failed.
    private long passed;

    // It is null again since JDK 25; the check speaks of 22 to 24.
    @SuppressWarnings("SystemConsoleNull")
    static ProgressDisplay here() {
        var console = System.console();
        return console != null && console.isTerminal() ? new Bar() : new Lines();
    }

    /// A table of two columns.
    static String summary(JobReport report) {
        return """
        status     %s
        objects    %d
        succeeded  %d
        skipped    %d
        failed     %d
        records    %d
        errors     %d
        time       %.1f s
        records/s  %.1f""".formatted(
                        report.status(),
                        report.objects(),
                        report.succeeded(),
                        report.skipped(),
                        report.failed(),
                        report.records(),
                        report.errors(),
                        report.seconds(),
                        report.seconds() == 0 ? 0 : report.records() / report.seconds());
    }

    @Override
    public synchronized void status(JobStatus status) {
        if (status == JobStatus.IN_PROGRESS) {
            // The server may have taken a while before.
            start = System.nanoTime();
        }
        show(status);
    }

    @Override
    public synchronized void total(long objects, long bytes) {
        this.objects = OptionalLong.of(objects);
        this.bytes = bytes;
        show(answered + passed, bytes);
    }

    @Override
    public synchronized void answered(long records, long bytes) {
        this.records += records;
        answered += bytes;
        show(answered + passed, bytes);
    }

    @Override
    public synchronized void passed(long bytes) {
        passed += bytes;
        show(answered + passed, bytes);
    }

    @Override
    public synchronized void ended(ObjectOutcome outcome, long bytes) {
        ended++;
        passed += bytes;
        if (outcome.status() == ObjectOutcome.Status.FAILED) {
            failed++;
            say("failed: %s: %s".formatted(outcome.key(), outcome.failure()));
        }
        show(answered + passed, bytes);
    }

    @Override
    public abstract void close();

    abstract void show(JobStatus status);

    /// Shows what has changed.
    ///
    /// @param done bytes
    /// @param all 0 while nobody knows
    void show(long done, long all) {}

    /// Writes a line to stderr.
    abstract void say(String line);

    /// As fast as it went until now.
    synchronized Optional<Duration> left() {
        double seconds = seconds();
        if (objects.isEmpty() || seconds <= 0) {
            return Optional.empty();
        }
        long done = bytes > 0 ? answered : ended;
        long toDo = bytes > 0 ? bytes - answered - passed : objects.getAsLong() - ended;
        return done == 0
                ? Optional.empty()
                : Optional.of(Duration.ofSeconds(Math.round(Math.max(0, toDo) * seconds / done)));
    }

    private double seconds() {
        return start == 0 ? 0 : (System.nanoTime() - start) / 1e9;
    }

    /// How far it is; nothing before the container is there.
    synchronized Optional<String> line() {
        return start == 0
                ? Optional.empty()
                : Optional.of("%s, %s, %s%s"
                        .formatted(
                                objects(),
                                megabytes(),
                                records(),
                                left().map(left -> ", %d s left".formatted(left.toSeconds()))
                                        .orElse("")));
    }

    /// Called under the monitor.
    String objects() {
        return "%d of %s objects".formatted(ended, objects.isPresent() ? objects.getAsLong() : "an unknown number of");
    }

    String records() {
        return String.format(
                Locale.ROOT,
                "%d records, %.1f records/s, %d failed",
                records,
                seconds() == 0 ? 0 : records / seconds(),
                failed);
    }

    private String megabytes() {
        return bytes == 0
                ? String.format(Locale.ROOT, "%.1f MB", (answered + passed) / MEGABYTE)
                : String.format(Locale.ROOT, "%.1f of %.1f MB", (answered + passed) / MEGABYTE, bytes / MEGABYTE);
    }

    /// A bar of bytes, with objects, records a second and failures behind it.
    private static final class Bar extends ProgressDisplay {

        /// Leaves the bar's line free.
        private static final String CLEAR_LINE = "\r\033[K";

        private final ProgressBar bar = new ProgressBarBuilder()
                .setTaskName("transform")
                .setUnit(" kB", 1000)
                .setStyle(ProgressBarStyle.ASCII)
                .setInitialMax(-1)
                .setEtaFunction(_ -> left())
                .build();

        @Override
        void show(JobStatus status) {
            bar.setExtraMessage(" " + status);
        }

        @Override
        void show(long done, long all) {
            if (all > 0) {
                bar.maxHint(all);
            }
            bar.stepTo(done);
            bar.setExtraMessage(" %s, %s".formatted(objects(), records()));
        }

        @Override
        void say(String line) {
            System.err.println(CLEAR_LINE + line);
        }

        @Override
        public void close() {
            bar.close();
        }
    }

    /// A line every few seconds, whatever happens, once the container is there.
    private static final class Lines extends ProgressDisplay {

        private static final Duration EVERY = Duration.ofSeconds(5);

        private final Thread heart = Thread.ofVirtual()
                .name("transform-progress")
                .start(() -> {
                    try {
                        while (true) {
                            Thread.sleep(EVERY);
                            line().ifPresent(System.out::println);
                        }
                    } catch (InterruptedException _) {
                        Thread.currentThread().interrupt();
                    }
                });

        @Override
        void show(JobStatus status) {
            System.out.println(status);
        }

        @Override
        void say(String line) {
            System.err.println(line);
        }

        @Override
        public void close() {
            heart.interrupt();
        }
    }
}
