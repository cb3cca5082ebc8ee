package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/// Progress that nobody looks at; only the job's states are kept.
final class Unwatched implements Progress {

    private final List<JobStatus> states = new CopyOnWriteArrayList<>();

    List<JobStatus> states() {
        return states;
    }

    @Override
    public void status(JobStatus status) {
        states.add(status);
    }

    @Override
    public void total(long objects, long bytes) {}

    @Override
    public void written(long records, long bytes) {}

    @Override
    public void ended(ObjectOutcome outcome, long bytes) {}

    /// Why the only object failed that did.
    static String failure(JobReport report) {
        assertThat(report.failures()).hasSize(1);
        return report.failures().getFirst().failure();
    }
}
