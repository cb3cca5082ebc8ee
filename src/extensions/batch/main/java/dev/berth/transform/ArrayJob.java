package dev.berth.transform;

import java.util.Map;
import java.util.Optional;

/// What a cluster tells each process of an array job by variables: which of them it is, and mostly
/// how many there are.
public final class ArrayJob {

    private ArrayJob() {}

    /// Adds to a job's options what the variables say and the options do not.
    ///
    /// | cluster | index | count |
    /// |---|---|---|
    /// | Kubernetes, a Job with `completionMode: Indexed` | `JOB_COMPLETION_INDEX` | by the flag |
    /// | AWS Batch | `AWS_BATCH_JOB_ARRAY_INDEX` | `AWS_BATCH_JOB_ARRAY_SIZE` |
    /// | Slurm, from `…_MIN` in steps of `…_STEP` | `SLURM_ARRAY_TASK_ID` | `SLURM_ARRAY_TASK_COUNT` |
    ///
    /// Where an index is given by hand, no variable counts.
    public static void read(Map<String, String> environment, Map<JobOption, String> options) {
        if (options.containsKey(JobOption.INSTANCE_INDEX)) {
            return;
        }
        var index = text(environment, "JOB_COMPLETION_INDEX")
                .or(() -> text(environment, "AWS_BATCH_JOB_ARRAY_INDEX"))
                .or(() -> slurmIndex(environment));
        index.ifPresent(text -> {
            options.put(JobOption.INSTANCE_INDEX, text);
            text(environment, "AWS_BATCH_JOB_ARRAY_SIZE")
                    .or(() -> text(environment, "SLURM_ARRAY_TASK_COUNT"))
                    .ifPresent(count -> options.putIfAbsent(JobOption.INSTANCE_COUNT, count));
        });
    }

    private static Optional<String> slurmIndex(Map<String, String> environment) {
        return text(environment, "SLURM_ARRAY_TASK_ID").map(id -> {
            try {
                int first = Integer.parseInt(
                        text(environment, "SLURM_ARRAY_TASK_MIN").orElse("0"));
                int step = Integer.parseInt(
                        text(environment, "SLURM_ARRAY_TASK_STEP").orElse("1"));
                return String.valueOf((Integer.parseInt(id) - first) / Math.max(1, step));
            } catch (NumberFormatException _) {
                // The option says what is wrong with it.
                return id;
            }
        });
    }

    private static Optional<String> text(Map<String, String> environment, String name) {
        return Optional.ofNullable(environment.get(name)).filter(text -> !text.isBlank());
    }
}
