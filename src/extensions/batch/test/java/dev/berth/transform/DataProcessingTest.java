package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DataProcessingTest {

    private static final String JOB = "--input in --output out --split-type Line --assemble-with Line ";
    private static final String CSV = JOB + "--content-type text/csv --accept text/csv ";
    private static final String LINES = JOB + "--content-type application/jsonlines --accept application/jsonlines ";
    private static final String PICTURES = JOB + "--split-type None --content-type application/x-image ";
    private static final String INPUT_FILTER = "--input-filter (DataProcessing.InputFilter): found ";
    private static final String OUTPUT_FILTER = "--output-filter (DataProcessing.OutputFilter): found ";
    private static final String COLUMNS = ", expected columns of text/csv by their indexes alone, such as $[0,5:]";
    private static final String ACCEPT = "--accept (TransformOutput.Accept): found ";
    private static final String SPLIT = "--split-type (TransformInput.SplitType): found ";
    private static final String ASSEMBLE = "--assemble-with (TransformOutput.AssembleWith): found ";
    private static final String SPLIT_TYPE = " as the --split-type with DataProcessing";
    private static final String CONTENT_TYPE = "--content-type (TransformInput.ContentType): found ";
    private static final String TYPES =
            ", expected text/csv, application/json or application/jsonlines, the types that DataProcessing can read";

    /// Behind the flags, what is wrong with them.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                LINES
                        + "--input-filter $.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa --output-filter id|"
                        + INPUT_FILTER + "64 characters, expected at most 63;"
                        + OUTPUT_FILTER + "\"id\" at offset 0 of \"id\", expected $ at the beginning",
                LINES + "--input-filter $['a','b.c']|" + INPUT_FILTER
                        + "\"['a','b.c']\" at offset 1 of \"$['a','b.c']\", expected .name, ['name'], [0], [1:] or [*]",
                CSV + "--join-source Input --output-filter $.name|" + OUTPUT_FILTER + "\"$.name\"" + COLUMNS,
                CSV + "--join-source Input --output-filter $['name']|" + OUTPUT_FILTER + "\"$['name']\"" + COLUMNS,
                CSV + "--input-filter $[0].name|" + INPUT_FILTER + "\"$[0].name\"" + COLUMNS,
                CSV + "--input-filter $[0][0]|" + INPUT_FILTER + "\"$[0][0]\"" + COLUMNS,
                CSV + "--input-filter $[0:]['a','b']|" + INPUT_FILTER + "\"$[0:]['a','b']\"" + COLUMNS,
                CSV + "--accept application/json --join-source Input|" + ACCEPT
                        + "\"application/json\", expected \"text/csv\" as the --content-type with DataProcessing",
                JOB + "--content-type text/csv --join-source Input|" + ACCEPT
                        + "nothing, expected \"text/csv\" as the --content-type with DataProcessing",
                CSV + "--assemble-with None --join-source Input|" + ASSEMBLE + "None, expected Line" + SPLIT_TYPE,
                LINES + "--split-type None --join-source Input|" + ASSEMBLE + "Line, expected None" + SPLIT_TYPE,
                CSV + "--split-type None --assemble-with None --join-source Input|"
                        + SPLIT + "None, expected Line for text/csv with DataProcessing;"
                        + ASSEMBLE + "None, expected Line" + SPLIT_TYPE,
                LINES + "--split-type RecordIO --join-source Input|" + SPLIT
                        + "RecordIO, expected None or Line for application/jsonlines with DataProcessing",
                PICTURES + "--join-source Input|" + CONTENT_TYPE + "\"application/x-image\"" + TYPES,
                JOB + "--content-type text --accept text --join-source Input|" + CONTENT_TYPE + "\"text\"" + TYPES,
                JOB + "--join-source Input|" + CONTENT_TYPE + "nothing" + TYPES,
            })
    @Tag("JOIN-08")
    @Tag("JOIN-09")
    void whatIsWrongIsNamed(String flags, String problems) {
        assertThat(JobFlags.problems(JobFlags.of(flags))).containsExactly(problems.split(";"));
    }

    @Test
    void parametersOfATypeDoNotMatter() {
        var flags = JobFlags.of(CSV + "--join-source Input --content-type %s", "TEXT/csv; header=present");
        assertThat(JobFlags.read(flags).kind().records().processing()).isPresent();
    }

    @Test
    void allProblemsAreReportedAtOnce() {
        assertThat(JobFlags.problems(JobFlags.of(CSV + "--accept application/json --split-type TFRecord"
                        + " --assemble-with None --input-filter $.a --join-source Output --output-filter a")))
                .extracting(problem -> problem.substring(0, problem.indexOf(':')))
                .containsExactly(
                        "--join-source (DataProcessing.JoinSource)",
                        "--input-filter (DataProcessing.InputFilter)",
                        "--output-filter (DataProcessing.OutputFilter)",
                        "--accept (TransformOutput.Accept)",
                        "--split-type (TransformInput.SplitType)",
                        "--assemble-with (TransformOutput.AssembleWith)");
    }

    /// As the platform's documents have it, whichever of the three is set.
    @ParameterizedTest
    @ValueSource(strings = {"--input-filter $[0]", "--join-source Input", "--output-filter $[0]"})
    void theRulesHoldForEachFieldOfItsOwn(String flag) {
        assertThat(JobFlags.problems(JobFlags.of(PICTURES + flag))).hasSize(1);
    }
}
