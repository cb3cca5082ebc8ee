package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ArrayJobTest {

    @Test
    void eachClusterSaysItInItsOwnWords() {
        assertThat(read(Map.of("JOB_COMPLETION_INDEX", "3"), Map.of(JobOption.INSTANCE_COUNT, "8")))
                .containsOnly(Map.entry(JobOption.INSTANCE_INDEX, "3"), Map.entry(JobOption.INSTANCE_COUNT, "8"));
        assertThat(read(Map.of("AWS_BATCH_JOB_ARRAY_INDEX", "1", "AWS_BATCH_JOB_ARRAY_SIZE", "4"), Map.of()))
                .containsOnly(Map.entry(JobOption.INSTANCE_INDEX, "1"), Map.entry(JobOption.INSTANCE_COUNT, "4"));
        var slurm = Map.of(
                "SLURM_ARRAY_TASK_ID",
                "7",
                "SLURM_ARRAY_TASK_MIN",
                "1",
                "SLURM_ARRAY_TASK_STEP",
                "3",
                "SLURM_ARRAY_TASK_COUNT",
                "5");
        assertThat(read(slurm, Map.of()))
                .containsOnly(Map.entry(JobOption.INSTANCE_INDEX, "2"), Map.entry(JobOption.INSTANCE_COUNT, "5"));
    }

    @Test
    void flagsWinAndWhatIsNoNumberIsLeftToTheOption() {
        var byHand = Map.of(JobOption.INSTANCE_INDEX, "0", JobOption.INSTANCE_COUNT, "2");
        assertThat(read(Map.of("AWS_BATCH_JOB_ARRAY_INDEX", "1", "AWS_BATCH_JOB_ARRAY_SIZE", "4"), byHand))
                .isEqualTo(byHand);
        assertThat(read(Map.of("SLURM_ARRAY_TASK_ID", "x", "JOB_COMPLETION_INDEX", " "), Map.of()))
                .containsEntry(JobOption.INSTANCE_INDEX, "x");
        assertThat(read(Map.of(), Map.of())).isEmpty();
    }

    private static Map<JobOption, String> read(Map<String, String> environment, Map<JobOption, String> given) {
        var options = new EnumMap<JobOption, String>(JobOption.class);
        options.putAll(given);
        ArrayJob.read(environment, options);
        return options;
    }
}
