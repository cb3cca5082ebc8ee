package dev.berth.transform.command;

import dev.berth.transform.JobReport;
import dev.berth.transform.JobStatus;
import dev.berth.transform.ObjectOutcome;
import dev.berth.transform.Progress;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import me.tongfei.progressbar.DelegatingProgressBarConsumer;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;
import org.jline.utils.Signals;

/// Shows how a job gets on: a bar of bytes with objects, records a second and failures behind it, drawn
/// again on a terminal, on a new line now and then elsewhere. Used by many threads.
final class ProgressDisplay implements Progress, AutoCloseable {

    /// Between two lines where there is no terminal.
    private static final Duration EVERY = Duration.ofSeconds(5);

    private static final int LINE_LENGTH = 160;

    /// Failures for one reason that are told.
    private static final int MOST_ALIKE = 3;

    /// Leaves the bar's line free.
    private static final String CLEAR_LINE = "\r\033[K";

    private final boolean isTerminal;
    private final ProgressBar bar;

    private long start;
    private OptionalLong objects = OptionalLong.empty();
    private long bytes;
    private long ended;
    private long failed;
    private final Map<String, Integer> failures = new HashMap<>();
    private long records;
    private long answered;

    /// What an earlier run has done, and what failed.
    private long passed;

    // It is null again since JDK 25; the check speaks of 22 to 24.
    @SuppressWarnings("SystemConsoleNull")
    ProgressDisplay() {
        var console = System.console();
        isTerminal = console != null && console.isTerminal();
        var builder = new ProgressBarBuilder()
                .setTaskName("transform")
                .setUnit(" kB", 1000)
                .setStyle(ProgressBarStyle.ASCII)
                .setInitialMax(-1)
                .setEtaFunction(_ -> left());
        if (!isTerminal) {
            builder.setUpdateIntervalMillis((int) EVERY.toMillis())
                    .continuousUpdate()
                    .setConsumer(new DelegatingProgressBarConsumer(this::print, LINE_LENGTH));
        }
        // The bar's terminal gives Ctrl-C back to the system, which ends a process on the spot.
        var ofJvm = Signals.register("INT", () -> {});
        Signals.unregister("INT", ofJvm);
        bar = builder.build();
        Signals.unregister("INT", ofJvm);
    }

    /// Nothing before the container is there.
    private synchronized void print(String line) {
        if (start != 0) {
            System.out.println(line);
        }
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
        answered   %d
        errors     %d
        time       %.1f s
        records/s  %.1f""".formatted(
                        report.status(),
                        report.tally().objects(),
                        report.tally().succeeded(),
                        report.tally().skipped(),
                        report.tally().failed(),
                        report.tally().records(),
                        report.tally().answered(),
                        report.tally().errors(),
                        report.seconds(),
                        perSecond(report.tally().answered(), report.seconds()));
    }

    @Override
    public synchronized void status(JobStatus status) {
        if (status == JobStatus.IN_PROGRESS) {
            // The server may have taken a while before.
            start = System.nanoTime();
        }
        if (isTerminal && status != JobStatus.STOPPING) {
            bar.setExtraMessage(" " + status);
        } else {
            // A bar that does not get on is not drawn.
            System.out.println((isTerminal ? CLEAR_LINE : "") + status);
        }
    }

    @Override
    public synchronized void total(long objects, long bytes) {
        this.objects = OptionalLong.of(objects);
        this.bytes = bytes;
        show();
    }

    @Override
    public synchronized void written(long records, long bytes) {
        this.records += records;
        if (records > 0) {
            answered += bytes;
        } else {
            passed += bytes;
        }
        show();
    }

    @Override
    public synchronized void ended(ObjectOutcome outcome, long bytes) {
        ended++;
        passed += bytes;
        if (outcome.status() == ObjectOutcome.Status.FAILED) {
            failed++;
            tell(outcome);
        }
        show();
    }

    /// Many objects may fail in the same way.
    private void tell(ObjectOutcome outcome) {
        int same = failures.merge(outcome.failure(), 1, Integer::sum);
        if (same <= MOST_ALIKE) {
            System.err.printf(
                    "%sfailed: %s: %s%s%n",
                    isTerminal ? CLEAR_LINE : "",
                    outcome.key(),
                    outcome.failure(),
                    same == MOST_ALIKE ? ". The report names further objects that fail like this" : "");
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            // The bar is drawn once more, and so would be a line.
            start = 0;
        }
        bar.close();
    }

    private void show() {
        if (bytes > 0) {
            bar.maxHint(bytes);
        }
        bar.stepTo(answered + passed);
        bar.setExtraMessage(" %s, %s".formatted(objects(), records()));
    }

    /// As fast as it went until now.
    private synchronized Optional<Duration> left() {
        long done = bytes > 0 ? answered : ended;
        long toDo = bytes > 0 ? bytes - answered - passed : objects.orElse(0) - ended;
        return objects.isEmpty() || start == 0 || done == 0
                ? Optional.empty()
                : Optional.of(Duration.ofSeconds(Math.round(Math.max(0, toDo) * seconds() / done)));
    }

    private double seconds() {
        return start == 0 ? 0 : (System.nanoTime() - start) / 1e9;
    }

    private String objects() {
        return "%d of %s objects".formatted(ended, objects.isPresent() ? objects.getAsLong() : "an unknown number of");
    }

    private String records() {
        return String.format(
                Locale.ROOT, "%d records, %.1f records/s, %d failed", records, perSecond(records, seconds()), failed);
    }

    private static double perSecond(long records, double seconds) {
        return seconds == 0 ? 0 : records / seconds;
    }
}
