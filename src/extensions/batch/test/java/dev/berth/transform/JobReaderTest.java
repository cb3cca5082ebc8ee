package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.storage.Storage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JobReaderTest {

    @TempDir
    private Path directory;

    @Test
    @Tag("BAT-05")
    void whatIsNotSaidIsThePlatformsDefault() throws Exception {
        var job = TransformJob.read(
                new Storage(), Map.of(JobOption.INPUT, "in", JobOption.OUTPUT, "s3://bucket/out"), Map.of(), Map.of());
        assertThat(job.kind().records().formats().splitType()).isEqualTo(FramedSplit.NONE);
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
        assertThat(catchThrowableOfType(
                                JobException.class,
                                () -> TransformJob.read(new Storage(), read.options(), Map.of(), Map.of()))
                        .problems())
                .as("each of four machines would do all of it")
                .singleElement()
                .asString()
                .startsWith("--instance-index: found nothing, expected which of the 4 instances this is");
        read.options().put(JobOption.INSTANCE_INDEX, "3");
        var job = TransformJob.read(new Storage(), read.options(), Map.of(), read.environment());
        assertThat(job.manifest()).isTrue();
        assertThat(job.gzip()).isTrue();
        assertThat(job.input()).hasToString("s3://bucket/manifest");
        assertThat(job.output()).hasToString("s3://bucket/out");
        assertThat(job.kind().records().maxPayloadInMb()).hasValue(1);
        assertThat(job.invocations().maxConcurrent()).hasValue(64);
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

    private static final String BEDROCK = """
      {
        "jobName": "pictures-1", "modelId": "amazon.titan-image-generator-v1", "roleArn": "arn:aws:iam::1:role/batch", "timeoutDurationInHours": 24,
        "tags": [{"key": "a", "value": "b"}], "vpcConfig": {"subnetIds": ["s"], "securityGroupIds": ["g"]},
        "inputDataConfig": {"s3InputDataConfig": {"s3Uri": "s3://bucket/prompts/", "s3InputFormat": "JSONL", "s3BucketOwner": "1"}},
        "outputDataConfig": {"s3OutputDataConfig": {"s3Uri": "s3://bucket/pictures/", "s3EncryptionKeyId": "k"}}
      }\
      """;

    @Test
    void theJsonOfACreateModelInvocationJobCallIsTakenAsItIs() throws Exception {
        var job = TransformJob.read(new Storage(), bedrock(BEDROCK), Map.of(), Map.of());
        assertThat(job.isBedrock()).isTrue();
        assertThat(job.input()).hasToString("s3://bucket/prompts/");
        assertThat(job.output().toString()).matches("s3://bucket/pictures/[0-9a-z]{12}");
        assertThat(bedrock(BEDROCK.replace("24", "48")).get(JobOption.OUTPUT))
                .as("the same job has the same folder")
                .hasToString(job.output().toString());
        var others = List.of(
                BEDROCK,
                BEDROCK.replace("pictures-1", "pictures-2"),
                BEDROCK.replace("titan", "nova"),
                BEDROCK.replace("/prompts/", "/other/"),
                BEDROCK.replace("\"jobName\"", "\"clientRequestToken\": \"t\", \"jobName\""));
        var outputs = new java.util.HashSet<String>();
        for (var other : others) {
            outputs.add(bedrock(other).get(JobOption.OUTPUT));
        }
        assertThat(outputs).as("another job has another one").hasSize(others.size());
    }

    @Test
    void whatIsWrongWithABedrockJobIsSaid() {
        var text = BEDROCK.replace("JSONL", "CSV")
                .replace("\"jobName\"", "\"modelInvocationType\": \"Converse\", \"name\"");
        assertThat(catchThrowableOfType(JobException.class, () -> bedrock(text)).problems())
                .satisfiesExactlyInAnyOrder(
                        problem -> assertThat(problem).contains("jobName: found nothing, expected a name"),
                        problem -> assertThat(problem)
                                .contains(": name: found a field that CreateModelInvocationJob does not have"),
                        problem -> assertThat(problem)
                                .contains("modelInvocationType: found Converse, expected InvokeModel"),
                        problem -> assertThat(problem).contains("s3InputFormat: found CSV, expected JSONL"));
    }

    private Map<JobOption, String> bedrock(String text) throws Exception {
        return JobFile.read(Files.writeString(directory.resolve("bedrock.json"), text))
                .options();
    }

    @Test
    void everythingThatIsWrongIsSaid() {
        var options = new java.util.HashMap<>(Map.of(
                JobOption.OUTPUT,
                "ftp://host/x",
                JobOption.SPLIT_TYPE,
                "Lines",
                JobOption.MAX_PAYLOAD_IN_MB,
                "101",
                JobOption.DATA_TYPE,
                "Prefix",
                JobOption.INSTANCE_INDEX,
                "2",
                JobOption.INSTANCE_COUNT,
                "2",
                JobOption.INVOCATIONS_MAX_RETRIES,
                "many",
                JobOption.INPUT_FILTER,
                "id",
                JobOption.JOIN_SOURCE,
                "All"));
        options.put(JobOption.BATCH_STRATEGY, "MULTI_RECORD");
        var problems = catchThrowableOfType(
                        JobException.class, () -> TransformJob.read(new Storage(), options, Map.of(), Map.of()))
                .problems();
        assertThat(problems)
                .anyMatch(problem ->
                        problem.startsWith("--input (TransformInput.DataSource.S3DataSource.S3Uri): found nothing"))
                .anyMatch(problem -> problem.startsWith("--output (TransformOutput.S3OutputPath): "))
                .anyMatch(problem ->
                        problem.startsWith("--split-type (TransformInput.SplitType): found Lines, expected None, Line,"
                                + " RecordIO or TFRecord"))
                .anyMatch(problem -> problem.startsWith(
                        "--max-payload-in-mb (MaxPayloadInMB): found 101, expected a whole number from" + " 0 to 100"))
                .anyMatch(problem -> problem.startsWith(
                        "--data-type (TransformInput.DataSource.S3DataSource.S3DataType): found Prefix,"
                                + " expected S3Prefix or ManifestFile"))
                .anyMatch(problem -> problem.startsWith("--instance-index: found 2, expected less than"))
                .anyMatch(problem -> problem.startsWith(
                        "--invocations-max-retries (ModelClientConfig.InvocationsMaxRetries): found" + " many"))
                .anyMatch(problem -> problem.startsWith(
                        "--batch-strategy (BatchStrategy): found MULTI_RECORD, expected SingleRecord or"
                                + " MultiRecord"))
                .anyMatch(problem -> problem.contains("DataProcessing.InputFilter"))
                .anyMatch(problem -> problem.contains("DataProcessing.JoinSource"));
    }

    @Test
    void anIndexNeedsACountAndBedrocksRecordsNoFormat() {
        var options = new java.util.HashMap<>(Map.of(
                JobOption.INPUT,
                "in",
                JobOption.OUTPUT,
                "out",
                JobOption.INSTANCE_INDEX,
                "0",
                JobOption.FORMAT,
                "bedrock",
                JobOption.SPLIT_TYPE,
                "Line",
                JobOption.BAD_RECORDS,
                "keep"));
        assertThat(catchThrowableOfType(
                                JobException.class, () -> TransformJob.read(new Storage(), options, Map.of(), Map.of()))
                        .problems())
                .satisfiesExactlyInAnyOrder(
                        problem -> assertThat(problem)
                                .startsWith("--split-type (TransformInput.SplitType): found Line, expected none with"
                                        + " --format bedrock"),
                        problem -> assertThat(problem)
                                .startsWith("--bad-records: found keep, expected none with --format bedrock"),
                        problem -> assertThat(problem)
                                .startsWith("--instance-count (TransformResources.InstanceCount): found nothing"));
    }

    @Test
    void whatIsSplitHasOutputsThatDependOnItsRecordsAlone() throws Exception {
        var options = new java.util.HashMap<>(Map.of(
                JobOption.INPUT,
                "in",
                JobOption.OUTPUT,
                "out",
                JobOption.SPLIT_TYPE,
                "TFRecord",
                JobOption.COMPRESSION_TYPE,
                "Gzip",
                JobOption.DATA_TYPE,
                "ManifestFile",
                JobOption.MAX_PAYLOAD_IN_MB,
                "0",
                JobOption.INSTANCE_INDEX,
                "0",
                JobOption.INSTANCE_COUNT,
                "2"));
        options.put(JobOption.SPLIT_OBJECTS, "true");
        options.put(JobOption.OVERWRITE, "true");
        assertThat(catchThrowableOfType(
                                JobException.class, () -> TransformJob.read(new Storage(), options, Map.of(), Map.of()))
                        .problems())
                .satisfiesExactlyInAnyOrder(
                        problem -> assertThat(problem)
                                .startsWith("--split-type (TransformInput.SplitType): found TFRecord with"
                                        + " --split-objects, expected Line"),
                        problem -> assertThat(problem).contains("found Gzip with --split-objects, expected None"),
                        problem -> assertThat(problem)
                                .contains("found ManifestFile with --split-objects, expected S3Prefix"),
                        problem -> assertThat(problem).contains("found 0 with --split-objects, expected 1 to 100"),
                        problem -> assertThat(problem)
                                .startsWith("--accept (TransformOutput.Accept): found nothing with --split-objects,"
                                        + " expected application/jsonlines"),
                        problem -> assertThat(problem).startsWith("--overwrite: found it with --split-objects"));
        options.keySet()
                .removeAll(Set.of(
                        JobOption.COMPRESSION_TYPE,
                        JobOption.DATA_TYPE,
                        JobOption.MAX_PAYLOAD_IN_MB,
                        JobOption.OVERWRITE));
        options.put(JobOption.SPLIT_TYPE, "Line");
        options.put(JobOption.ACCEPT, "application/json");
        assertThat(catchThrowableOfType(
                                JobException.class, () -> TransformJob.read(new Storage(), options, Map.of(), Map.of()))
                        .problems())
                .singleElement()
                .asString()
                .contains("found application/json with --split-objects");
        for (var lines : List.of("text/csv", "application/jsonlines")) {
            options.put(JobOption.ACCEPT, lines);
            assertThat(TransformJob.read(new Storage(), options, Map.of(), Map.of())
                            .has(JobOption.SPLIT_OBJECTS))
                    .isTrue();
        }
        options.put(JobOption.ACCEPT, "application/json");
        options.put(JobOption.BATCH_STRATEGY, "SingleRecord");
        assertThat(TransformJob.read(new Storage(), options, Map.of(), Map.of()).has(JobOption.SPLIT_OBJECTS))
                .isTrue();
        options.keySet().removeAll(Set.of(JobOption.ACCEPT, JobOption.BATCH_STRATEGY, JobOption.SPLIT_TYPE));
        for (var images : Map.of(JobOption.EXTRACT, "image/png", JobOption.PREVIEW, "sheet.png")
                .entrySet()) {
            var more = new java.util.HashMap<>(options);
            more.put(JobOption.FORMAT, "bedrock");
            more.put(images.getKey(), images.getValue());
            assertThat(catchThrowableOfType(
                                    JobException.class,
                                    () -> TransformJob.read(new Storage(), more, Map.of(), Map.of()))
                            .problems())
                    .singleElement()
                    .asString()
                    .startsWith(images.getKey() + ": found it with --split-objects, expected none");
        }
        for (var format : List.of("bedrock", "openai")) {
            options.put(JobOption.FORMAT, format);
            assertThat(TransformJob.read(new Storage(), options, Map.of(), Map.of())
                            .has(JobOption.SPLIT_OBJECTS))
                    .isTrue();
        }
    }

    @Test
    void anOutputWithinTheInputIsRefused() {
        for (var places : List.of(
                List.of("in", "in/out"),
                List.of("in", "./in"),
                List.of("s3://b/in", "s3://b/in/out"),
                List.of("s3://b", "s3://b/x"))) {
            var options = Map.of(JobOption.INPUT, places.getFirst(), JobOption.OUTPUT, places.getLast());
            assertThat(catchThrowableOfType(
                                    JobException.class,
                                    () -> TransformJob.read(new Storage(), options, Map.of(), Map.of()))
                            .problems())
                    .singleElement()
                    .asString()
                    .contains("within the input");
        }
    }

    @Test
    void aFileThatIsNoJobIsNamed() throws Exception {
        for (var text :
                List.of("", "[1]", "{\"TransformInputs\": {\"x\": 1}}", "{", "{\"Tags\": []}{}", "{\"Tags\": []},")) {
            var file = Files.writeString(directory.resolve("job.json"), text);
            assertThat(catchThrowableOfType(JobException.class, () -> JobFile.read(file))
                            .problems())
                    .isNotEmpty()
                    .allMatch(problem -> problem.startsWith(file.toString()));
        }
        assertThat(catchThrowableOfType(JobException.class, () -> JobFile.read(directory.resolve("none")))
                        .problems())
                .hasSize(1);
    }

    @Test
    void anOutputAmongTheInputsIsRefusedHoweverItIsWritten() throws Exception {
        var in = Files.createDirectory(directory.resolve("in"));
        Files.createSymbolicLink(directory.resolve("link"), in);
        for (var places : List.of(
                List.of("s3://b/same/", "s3://b/same"),
                List.of("s3://b/same", "s3://b/same/out"),
                List.of("s3://b", "s3://b/out"),
                List.of(in.toString(), directory.resolve("link/out").toString()),
                List.of(directory.resolve("link").toString(), in.toString()))) {
            assertThat(catchThrowableOfType(
                                    JobException.class,
                                    () -> TransformJob.read(
                                            new Storage(),
                                            Map.of(
                                                    JobOption.INPUT, places.getFirst(),
                                                    JobOption.OUTPUT, places.getLast()),
                                            Map.of(),
                                            Map.of()))
                            .problems())
                    .singleElement()
                    .asString()
                    .contains("found %s within the input".formatted(places.getLast()));
        }
    }

    @Test
    void errorsAreAskedAgainWhereTheyCanBeFound() throws Exception {
        var options = new EnumMap<>(Map.of(
                JobOption.INPUT, "in",
                JobOption.OUTPUT, "out",
                JobOption.SPLIT_TYPE, "Line",
                JobOption.CONTENT_TYPE, "text/csv",
                JobOption.BAD_RECORDS, "keep"));
        options.put(JobOption.RETRY_ERRORS, "true");
        assertThat(catchThrowableOfType(
                                JobException.class, () -> TransformJob.read(new Storage(), options, Map.of(), Map.of()))
                        .problems())
                .singleElement()
                .asString()
                .startsWith("--format: found nothing, expected bedrock or openai with --retry-errors");
        options.put(JobOption.CONTENT_TYPE, "application/jsonlines");
        assertThat(TransformJob.read(new Storage(), options, Map.of(), Map.of()).has(JobOption.RETRY_ERRORS))
                .isTrue();
    }
}
