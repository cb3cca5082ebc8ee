package dev.berth.transform.command;

import dev.berth.transform.JobRunner;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/// Stops the job where the process is told to end, and lets it end when the report is written.
final class JobSignals implements AutoCloseable {

    /// What the job needs to end, or a model to be loaded, which can't be interrupted.
    private static final Duration LONGEST_END = Duration.ofSeconds(20);

    private final CountDownLatch written = new CountDownLatch(1);
    private final Thread hook;

    /// From now on a signal stops the job.
    JobSignals(JobRunner runner) {
        hook = Thread.ofPlatform().name("transform-stop").unstarted(() -> {
            runner.stop();
            try {
                var _ = written.await(LONGEST_END.toSeconds(), TimeUnit.SECONDS);
            } catch (InterruptedException _) {
                Thread.currentThread().interrupt();
            }
        });
        Runtime.getRuntime().addShutdownHook(hook);
    }

    @Override
    public void close() {
        written.countDown();
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // It runs.
        }
    }
}
