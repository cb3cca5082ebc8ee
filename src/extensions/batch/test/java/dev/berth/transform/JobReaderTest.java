package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.config.ConfigurationException;
import dev.berth.storage.Storage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JobReaderTest {

    private static final String SPLIT =
            "--input in --output out --instance-index 0 --instance-count 2 --split-objects true ";

    private static final String JOB = "--input in --output out --split-type Line --assemble-with Line ";
    private static final String CSV = JOB + "--content-type text/csv --accept text/csv ";
    private static final String LINES = JOB + "--content-type application/jsonlines --accept application/jsonlines ";

    @TempDir
    private Path directory;

    @Test
    @Tag("BAT-05")
    void whatIsNotSaidIsThePlatformsDefault() throws Exception {
        var job = JobFlags.read(JobFlags.of("--input in --output s3://bucket/out"));
        assertThat(job.kind().records().formats().splitType()).isEqualTo(SplitType.NONE);
        assertThat(job.kind().records().formats().endsLines()).isFalse();
        assertThat(job.invocations().timeout()).isEqualTo(Duration.ofMinutes(10));
        assertThat(job.invocations().retries()).isEqualTo(3);
        assertThat(job.kind().records().strategy()).isEmpty();
        assertThat(job.kind().records().maxPayloadInMb()).isEmpty();
        assertThat(job.part().count()).isEqualTo(1);
        assertThat(job.serverVariables(Map.of()))
                .containsEntry("SAGEMAKER_BATCH", "true")
                .containsEntry("BERTH_BAD_RECORDS", "reject")
                .doesNotContainKey("SAGEMAKER_BATCH_STRATEGY");
        assertThat(job.serverVariables(Map.of())).containsEntry("BERTH_TRAILING_NEWLINE", "true");
    }

    @Test
    void theJsonOfACreateTransformJobCallIsTakenAsItIs() throws Exception {
        var file = Files.writeString(directory.resolve("job.json"), """
            {
              "TransformJobName": "digits", "ModelName": "mnist", "Tags": [{"Key": "a", "Value": "b"}],
              "BatchStrategy": "SingleRecord", "MaxPayloadInMB": 1, "MaxConcurrentTransforms": 64,
              "Environment": {"BERTH_BAD_RECORDS": "keep"},
              "ModelClientConfig": {"InvocationsTimeoutInSeconds": 30, "InvocationsMaxRetries": 1},
              "TransformInput": {
                "DataSource": {"S3DataSource": {"S3DataType": "ManifestFile", "S3Uri": "s3://bucket/manifest"}},
                "ContentType": "text/csv", "CompressionType": "Gzip", "SplitType": "Line"},
              "TransformOutput": {"S3OutputPath": "s3://bucket/out", "Accept": "text/csv", "AssembleWith": "Line", "KmsKeyId": "k"},
              "DataProcessing": {"InputFilter": "$[1:]", "OutputFilter": "$[0,-1]", "JoinSource": "Input"},
              "TransformResources": {"InstanceType": "ml.m5.large", "InstanceCount": 4}
            }\
            """);
        var read = JobFile.read(file);
        assertThat(JobFlags.problems(read.options()))
                .as("each of four machines would do all of it")
                .singleElement()
                .asString()
                .startsWith("--instance-index: found nothing, expected which of the 4 instances this is");
        read.options().put(JobOption.INSTANCE_INDEX, "3");
        var job = TransformJob.read(new Storage(), read.options(), read.environment());
        assertThat(job.source().manifest()).isTrue();
        assertThat(job.source().gzip()).isTrue();
        assertThat(job.source().input()).hasToString("s3://bucket/manifest");
        assertThat(job.output()).hasToString("s3://bucket/out");
        assertThat(job.kind().records().maxPayloadInMb()).hasValue(1);
        assertThat(job.invocations().maxConcurrent()).isEqualTo(64);
        assertThat(job.invocations().timeout()).isEqualTo(Duration.ofSeconds(30));
        var processing = job.kind().records().processing().orElseThrow();
        assertThat(processing.inputFilter().text()).isEqualTo("$[1:]");
        assertThat(processing.joinsInput()).isTrue();
        assertThat(processing.outputFilter().text()).isEqualTo("$[0,-1]");
        assertThat(job.part().count()).isEqualTo(4);
        assertThat(job.serverVariables(Map.of()))
                .containsEntry("BERTH_BAD_RECORDS", "keep")
                .containsEntry("SAGEMAKER_BATCH_STRATEGY", "SINGLE_RECORD")
                .containsEntry("SAGEMAKER_MAX_PAYLOAD_IN_MB", "1");
        assertThat(job.serverVariables(Map.of())).containsEntry("BERTH_TRAILING_NEWLINE", "false");
    }

    /// Behind the flags, what each problem begins with, or has.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "--output ftp://host/x --split-type Lines --max-payload-in-mb 101 --data-type Prefix --instance-index 2"
                        + " --instance-count 2 --invocations-max-retries many --input-filter id --join-source All"
                        + " --batch-strategy MULTI_RECORD"
                        + "|--input (TransformInput.DataSource.S3DataSource.S3Uri): found nothing"
                        + ";--output (TransformOutput.S3OutputPath): "
                        + ";--split-type (TransformInput.SplitType): found Lines, expected None, Line, RecordIO or TFRecord"
                        + ";--max-payload-in-mb (MaxPayloadInMB): found 101, expected a whole number from 0 to 100"
                        + ";--data-type (TransformInput.DataSource.S3DataSource.S3DataType): found Prefix, expected S3Prefix or ManifestFile"
                        + ";--instance-index: found 2, expected less than"
                        + ";--invocations-max-retries (ModelClientConfig.InvocationsMaxRetries): found many"
                        + ";--batch-strategy (BatchStrategy): found MULTI_RECORD, expected SingleRecord or MultiRecord"
                        + ";DataProcessing.InputFilter;DataProcessing.JoinSource;--content-type",
                "--input in --output out --instance-index 0 --format bedrock --split-type Line --bad-records keep"
                        + "|--split-type (TransformInput.SplitType): found it with --format bedrock, expected none"
                        + ";--bad-records: found it with --format bedrock, expected none"
                        + ";--instance-count (TransformResources.InstanceCount): found nothing",
                SPLIT + "--split-type TFRecord --compression-type Gzip --data-type ManifestFile --max-payload-in-mb 0"
                        + " --overwrite true"
                        + "|--split-type (TransformInput.SplitType): found TFRecord with --split-objects, expected Line"
                        + ";found Gzip with --split-objects, expected None"
                        + ";found ManifestFile with --split-objects, expected S3Prefix"
                        + ";found 0 with --split-objects, expected 1 to 100"
                        + ";--accept (TransformOutput.Accept): found nothing with --split-objects, expected application/jsonlines"
                        + ";--overwrite: found it with --split-objects",
                SPLIT + "--split-type Line --accept application/json|found application/json with --split-objects",
                SPLIT + "--format bedrock --extract image/png|--extract: found it with --split-objects, expected none",
                "--input in --output out --split-type Line --content-type text/csv --bad-records keep --retry-errors true"
                        + "|--format: found sagemaker, expected bedrock or openai with --retry-errors",
                "--input in --output out --format sagemaker --retry-errors true|--format: found sagemaker, expected bedrock or",
                "--input in --output out --format foo --extract image/png --retry-errors true"
                        + "|--format: found foo, expected sagemaker, bedrock or openai",
                "--input in --output out --format bedrock --extract text/plain"
                        + "|--extract: found text/plain, expected image/* or one of [image/png, image/jpeg, image/gif, image/webp]",
                "--input in --output out --format bedrock --extract */*|--extract: found */*",
                "--input in --output out --format openai --min-records 1|--min-records: found it with --format openai",
                "--input in --output out --extract image/png"
                        + "|--extract: found it with --format sagemaker, expected none",
                "--input in --output in/out|within the input",
                "--input in --output ./in|within the input",
                "--input s3://b/in --output s3://b/in/out|within the input",
                "--input s3://b/same/ --output s3://b/same|found s3://b/same within the input",
                "--input s3://b --output s3://b/x|found s3://b/x within the input",
            })
    void everythingThatIsWrongIsSaid(String flags, String problems) {
        requireProblems(flags, problems);
    }

    /// The rules of `DataProcessing`, which hold for each of its fields.
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                LINES
                        + "--input-filter $.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa --output-filter id"
                        + "|--input-filter (DataProcessing.InputFilter): found 64 characters, expected at most 63"
                        + ";--output-filter (DataProcessing.OutputFilter): found \"id\" at offset 0 of \"id\", expected $",
                LINES + "--input-filter $['a','b.c']|found \"['a','b.c']\" at offset 1",
                CSV + "--join-source Input --output-filter $.name|found \"$.name\", expected columns of text/csv",
                CSV + "--join-source Input --output-filter $['name']|found \"$['name']\", expected columns",
                CSV + "--input-filter $[0].name|found \"$[0].name\", expected columns",
                CSV + "--input-filter $[0][0]|found \"$[0][0]\", expected columns",
                CSV + "--input-filter $[0:]['a','b']|found \"$[0:]['a','b']\", expected columns",
                CSV + "--accept application/json --join-source Input"
                        + "|--accept (TransformOutput.Accept): found \"application/json\", expected \"text/csv\" as the --content-type",
                CSV + "--assemble-with None --join-source Input"
                        + "|--assemble-with (TransformOutput.AssembleWith): found None, expected Line as the --split-type",
                LINES + "--split-type None --join-source Input|found Line, expected None as the --split-type",
                CSV + "--split-type None --assemble-with None --join-source Input"
                        + "|--split-type (TransformInput.SplitType): found None, expected Line for text/csv"
                        + ";found None, expected Line as the --split-type",
                LINES + "--split-type RecordIO --join-source Input"
                        + "|found RecordIO, expected None or Line for application/jsonlines",
                JOB
                        + "--content-type text/csv --join-source Input|found nothing, expected \"text/csv\" as the --content-type",
                JOB
                        + "--content-type application/x-image --input-filter $[0]|found \"application/x-image\", expected text/csv, application/json",
                JOB + "--content-type application/x-image --output-filter $[0]|found \"application/x-image\"",
                JOB
                        + "--content-type text --accept text --join-source Input|--content-type (TransformInput.ContentType): found \"text\"",
                JOB + "--join-source Input|--content-type (TransformInput.ContentType): found nothing",
                CSV + "--accept application/json --split-type TFRecord --assemble-with None --input-filter $.a"
                        + " --join-source Output --output-filter a"
                        + "|--input-filter;--join-source;--output-filter;--accept;--split-type;--assemble-with",
            })
    @Tag("JOIN-08")
    @Tag("JOIN-09")
    void whatDataProcessingCantDoIsSaid(String flags, String problems) {
        requireProblems(flags, problems);
    }

    @Test
    void parametersOfATypeDoNotMatterToDataProcessing() {
        var flags = JobFlags.of(CSV + "--join-source Input --content-type %s", "TEXT/csv; header=present");
        assertThat(JobFlags.read(flags).kind().records().processing()).isPresent();
    }

    private static void requireProblems(String flags, String problems) {
        var expected = problems.split(";");
        assertThat(JobFlags.problems(JobFlags.of(flags)))
                .hasSize(expected.length)
                .satisfies(said -> assertThat(expected)
                        .allSatisfy(problem ->
                                assertThat(said).anyMatch(one -> one.startsWith(problem) || one.contains(problem))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                SPLIT + "--split-type Line --accept text/csv",
                SPLIT + "--split-type Line --accept application/jsonlines",
                SPLIT + "--split-type Line --accept application/json --batch-strategy SingleRecord",
                SPLIT + "--format bedrock",
                SPLIT + "--format openai",
                "--input in --output out --split-type Line --content-type application/jsonlines --bad-records keep"
                        + " --retry-errors true",
            })
    void whatHasOutputsThatDependOnItsRecordsAloneIsSplit(String flags) throws Exception {
        assertThat(JobFlags.read(JobFlags.of(flags)).given())
                .containsAnyOf(JobOption.SPLIT_OBJECTS, JobOption.RETRY_ERRORS);
    }

    @Test
    void aFileThatIsNoJobIsNamed() throws Exception {
        for (var text :
                List.of("", "[1]", "{\"TransformInputs\": {\"x\": 1}}", "{", "{\"Tags\": []}{}", "{\"Tags\": []},")) {
            var file = Files.writeString(directory.resolve("job.json"), text);
            assertThat(catchThrowableOfType(ConfigurationException.class, () -> JobFile.read(file))
                            .problems())
                    .isNotEmpty()
                    .allMatch(problem -> problem.startsWith(file.toString()));
        }
        assertThat(catchThrowableOfType(ConfigurationException.class, () -> JobFile.read(directory.resolve("none")))
                        .problems())
                .hasSize(1);
    }

    @Test
    void anOutputAmongTheInputsIsRefusedHoweverItIsWritten() throws Exception {
        var in = Files.createDirectory(directory.resolve("in"));
        var link = Files.createSymbolicLink(directory.resolve("link"), in);
        for (var places : List.of(List.of(in, link.resolve("out")), List.of(link, in))) {
            assertThat(JobFlags.problems(JobFlags.of("--input %s --output %s", places.getFirst(), places.getLast())))
                    .singleElement()
                    .asString()
                    .contains("found %s within the input".formatted(places.getLast()));
        }
    }
}
