package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.EnumMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ArrayJobTest {

    @ParameterizedTest
    @CsvSource(delimiter = '|', nullValues = "-", textBlock = """
        JOB_COMPLETION_INDEX=3                                       | --instance-count 8 | 3 | 8
        AWS_BATCH_JOB_ARRAY_INDEX=1 AWS_BATCH_JOB_ARRAY_SIZE=4       | -                  | 1 | 4
        SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_STEP=3 SLURM_ARRAY_TASK_COUNT=5 | - | 2 | 5
        AWS_BATCH_JOB_ARRAY_INDEX=1 AWS_BATCH_JOB_ARRAY_SIZE=4 | --instance-index 0 --instance-count 2 | 0 | 2
        # The option says what is wrong with it.
        SLURM_ARRAY_TASK_ID=x JOB_COMPLETION_INDEX=                  | -                  | x | -
        PATH=/bin                                                    | -                  | - | -
        """)
    void eachClusterSaysItInItsOwnWordsAndFlagsWin(String variables, String flags, String index, String count) {
        var environment = Stream.of(variables.split(" "))
                .map(variable -> variable.split("=", 2))
                .collect(Collectors.toMap(pair -> pair[0], pair -> pair[1]));
        var options = flags == null ? new EnumMap<JobOption, String>(JobOption.class) : JobFlags.of(flags);
        ArrayJob.read(environment, options);
        assertThat(options.get(JobOption.INSTANCE_INDEX)).isEqualTo(index);
        assertThat(options.get(JobOption.INSTANCE_COUNT)).isEqualTo(count);
    }
}
