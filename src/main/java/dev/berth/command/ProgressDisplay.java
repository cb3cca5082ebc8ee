package dev.berth.command;

import dev.berth.transform.JobReport;
import dev.berth.transform.JobStatus;
import dev.berth.transform.ObjectOutcome;
import dev.berth.transform.Progress;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicLong;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarStyle;

/// Shows how a job gets on: a bar on a terminal, a line now and then elsewhere. Used by many threads.
interface ProgressDisplay extends Progress, AutoCloseable {

  @Override
  void close();

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
        time       %.1f s
        records/s  %.1f""".formatted(
        report.status(), report.objects(), report.succeeded(), report.skipped(), report.failed(), report.records(), report.seconds(),
        report.seconds() == 0 ? 0 : report.records() / report.seconds());
  }

  /// A bar of objects, with records a second and failures behind it.
  final class Bar implements ProgressDisplay {

    private final ProgressBar bar = new ProgressBarBuilder()
        .setTaskName("transform")
        .setUnit(" objects", 1)
        .setStyle(ProgressBarStyle.ASCII)
        .setInitialMax(0)
        .build();
    private final AtomicLong start = new AtomicLong();
    private final AtomicLong records = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();

    @Override
    public void status(JobStatus status) {
      if (bar.getCurrent() == 0) {
        bar.setExtraMessage(" " + status);
      }
    }

    @Override
    public void found(long objects) {
      // The server may have taken a while before.
      start.compareAndSet(0, System.nanoTime());
      bar.maxHint(objects);
    }

    @Override
    public void records(long count) {
      long all = records.addAndGet(count);
      bar.setExtraMessage(String.format(
          Locale.ROOT, " %.1f records/s, %d failed", all / ((System.nanoTime() - start.get()) / 1e9), failed.get()));
    }

    @Override
    public void ended(ObjectOutcome outcome) {
      if (outcome.status() == ObjectOutcome.Status.FAILED) {
        failed.incrementAndGet();
      }
      bar.step();
    }

    @Override
    public void close() {
      bar.close();
    }
  }

  /// A line at most every few seconds.
  final class Lines implements ProgressDisplay {

    private static final long EVERY_NANOS = Duration.ofSeconds(5).toNanos();

    private final AtomicLong start = new AtomicLong();
    private final AtomicLong shown = new AtomicLong(System.nanoTime());
    private final AtomicLong found = new AtomicLong();
    private final AtomicLong ended = new AtomicLong();
    private final AtomicLong records = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();

    @Override
    public void status(JobStatus status) {
      System.out.println(status);
    }

    @Override
    public void found(long objects) {
      start.compareAndSet(0, System.nanoTime());
      found.set(objects);
    }

    @Override
    public void records(long count) {
      records.addAndGet(count);
      show();
    }

    @Override
    public void ended(ObjectOutcome outcome) {
      ended.incrementAndGet();
      if (outcome.status() == ObjectOutcome.Status.FAILED) {
        failed.incrementAndGet();
      }
      show();
    }

    private void show() {
      long now = System.nanoTime();
      long last = shown.get();
      if (now - last >= EVERY_NANOS && shown.compareAndSet(last, now)) {
        System.out.printf(Locale.ROOT, "%d of %d objects, %d records, %.1f records/s, %d failed%n",
            ended.get(), found.get(), records.get(), records.get() / ((now - start.get()) / 1e9), failed.get());
      }
    }

    @Override
    public void close() {}
  }
}
