package dev.berth.transform;

import java.util.Locale;

/// What a job says, as a flag of `transform` and as a field of `CreateTransformJob`.
public enum JobOption {
    INPUT(
            "TransformInput.DataSource.S3DataSource.S3Uri",
            "s3://… | DIR | FILE",
            "The objects: a prefix, a directory, an object, or a manifest"),
    DATA_TYPE(
            "TransformInput.DataSource.S3DataSource.S3DataType",
            "type",
            "S3Prefix (the default), or ManifestFile: the input lists a prefix and names behind it"),
    CONTENT_TYPE(
            "TransformInput.ContentType",
            "type",
            "Content type of the objects, and of the requests unless they are tables"),
    REQUEST_CONTENT_TYPE(
            "",
            "type",
            "For objects of Parquet or Arrow: application/jsonlines (the default), a line for each row; or as the objects, sent whole"),
    SPLIT_TYPE("TransformInput.SplitType", "type", "None (the default), Line, RecordIO or TFRecord: where records end"),
    COMPRESSION_TYPE(
            "TransformInput.CompressionType",
            "type",
            "None (the default), or Gzip: objects are unpacked before they are split"),
    OUTPUT(
            "TransformOutput.S3OutputPath",
            "s3://… | DIR",
            "Where outputs go, each under its object's name with .out behind it"),
    ACCEPT("TransformOutput.Accept", "type", "Content type to ask for; Berth answers with JSON unless set"),
    ASSEMBLE_WITH("TransformOutput.AssembleWith", "type", "None (the default), or Line: a newline after each answer"),
    BATCH_STRATEGY(
            "BatchStrategy", "strategy", "MultiRecord or SingleRecord; unset, as the container says, else MultiRecord"),
    MAX_PAYLOAD_IN_MB(
            "MaxPayloadInMB", "n", "Largest request in MiB, 0 for unlimited; unset, as the container says, else 6"),
    MAX_CONCURRENT_TRANSFORMS(
            "MaxConcurrentTransforms", "n", "Requests at the same time; unset or 0, as the container says, else 1"),
    INPUT_FILTER("DataProcessing.InputFilter", "path", "JSONPath of what is sent of a record"),
    OUTPUT_FILTER("DataProcessing.OutputFilter", "path", "JSONPath of what is kept of an answer"),
    JOIN_SOURCE(
            "DataProcessing.JoinSource",
            "source",
            "None (the default), or Input: answers are joined with their records"),
    INVOCATIONS_TIMEOUT(
            "ModelClientConfig.InvocationsTimeoutInSeconds", "seconds", "How long a request may take, 600 unless set"),
    INVOCATIONS_MAX_RETRIES(
            "ModelClientConfig.InvocationsMaxRetries", "n", "How often a request is sent again, 3 unless set"),
    PATIENCE("", "seconds", "How long the container may be away, 60 unless set, before the job gives up"),
    MAX_FAILURES("", "n", "Ends the job when more objects and records than these have failed; no limit unless set"),
    INSTANCE_COUNT(
            "TransformResources.InstanceCount",
            "n",
            "Machines that share the objects out; an array job's own variables say it too"),
    INSTANCE_INDEX("", "n", "Which of them this is, from 0; an array job's own variables say it too"),
    SHARD_BY(
            "",
            "size|key",
            "size (the default): largest object first; key: whatever else is added to the input meanwhile"),
    BAD_RECORDS(
            "",
            "reject|keep",
            "keep: a bad record becomes an error in its own place; reject (the default): its object fails"),
    FORMAT(
            "",
            "format",
            "sagemaker (the default), bedrock: JSON Lines of recordId and modelInput, or openai: of custom_id and body"),
    EXTRACT(
            "",
            "type",
            "With --format bedrock or openai: also writes images of this type to files, named by their records' ids; image/* for all"),
    PREVIEW(
            "",
            "s3://… | FILE",
            "With --format bedrock or openai: a PNG that shows the first 64 images of the answers"),
    MIN_RECORDS("", "n", "With --format bedrock: fewer records are refused, at the service 100"),
    MAX_RECORDS("", "n", "With --format bedrock: more records are refused, at the service 100000"),
    MAX_OBJECT_SIZE_IN_MB("", "n", "With --format bedrock: larger objects are refused, at the service 1024"),
    MAX_JOB_SIZE_IN_MB("", "n", "With --format bedrock: more MiB in all are refused, at the service 5120"),
    OVERWRITE("Does objects again whose output is there"),
    RETRY_ERRORS("Asks again for the records that have an error in an output that is there"),
    SPLIT_OBJECTS("Has instances share large objects too, by ranges of their lines"),
    INCLUSIVE_SLICES("Takes the end of a filter's slice as part of it");

    private final String field;
    private final String label;
    private final String meaning;

    /// A switch: its name says all.
    JobOption(String meaning) {
        this("", "", meaning);
    }

    JobOption(String field, String label, String meaning) {
        this.field = field;
        this.label = label;
        this.meaning = meaning;
    }

    /// `--max-payload-in-mb`.
    public String flag() {
        return "--" + name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /// The path of the API's field, with dots; empty where the API has none.
    public String field() {
        return field;
    }

    /// `--split-type (TransformInput.SplitType)`, to be found in a command and in a file.
    @Override
    public String toString() {
        return field.isEmpty() ? flag() : "%s (%s)".formatted(flag(), field);
    }

    /// What stands for the value; empty for a switch.
    public String label() {
        return label.isEmpty() ? "" : "<%s>".formatted(label);
    }

    public String meaning() {
        return meaning;
    }
}
