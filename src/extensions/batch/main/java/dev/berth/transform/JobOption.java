package dev.berth.transform;

import java.util.Locale;

/// What a job says, as a flag of `transform` and as a field of `CreateTransformJob`. What it means is in
/// the command's `flags.properties`.
public enum JobOption {
    INPUT("TransformInput.DataSource.S3DataSource.S3Uri", "s3://… | DIR | FILE"),
    DATA_TYPE("TransformInput.DataSource.S3DataSource.S3DataType", "type"),
    CONTENT_TYPE("TransformInput.ContentType", "type"),
    REQUEST_CONTENT_TYPE("type"),
    SPLIT_TYPE("TransformInput.SplitType", "type"),
    COMPRESSION_TYPE("TransformInput.CompressionType", "type"),
    OUTPUT("TransformOutput.S3OutputPath", "s3://… | DIR"),
    ACCEPT("TransformOutput.Accept", "type"),
    ASSEMBLE_WITH("TransformOutput.AssembleWith", "type"),
    BATCH_STRATEGY("BatchStrategy", "strategy"),
    MAX_PAYLOAD_IN_MB("MaxPayloadInMB", "n"),
    MAX_CONCURRENT_TRANSFORMS("MaxConcurrentTransforms", "n"),
    INPUT_FILTER("DataProcessing.InputFilter", "path"),
    OUTPUT_FILTER("DataProcessing.OutputFilter", "path"),
    JOIN_SOURCE("DataProcessing.JoinSource", "source"),
    INVOCATIONS_TIMEOUT("ModelClientConfig.InvocationsTimeoutInSeconds", "seconds"),
    INVOCATIONS_MAX_RETRIES("ModelClientConfig.InvocationsMaxRetries", "n"),
    PATIENCE("seconds"),
    MAX_FAILURES("n"),
    INSTANCE_COUNT("TransformResources.InstanceCount", "n"),
    INSTANCE_INDEX("n"),
    SHARD_BY("size|key"),
    BAD_RECORDS("reject|keep"),
    FORMAT("format"),
    EXTRACT("type"),
    MIN_RECORDS("n"),
    MAX_RECORDS("n"),
    MAX_OBJECT_SIZE_IN_MB("n"),
    MAX_JOB_SIZE_IN_MB("n"),
    OVERWRITE,
    RETRY_ERRORS,
    SPLIT_OBJECTS,
    INCLUSIVE_SLICES;

    private final String field;
    private final String label;

    /// A switch: its name says all.
    JobOption() {
        this("");
    }

    /// One that the API does not have.
    JobOption(String label) {
        this("", label);
    }

    JobOption(String field, String label) {
        this.field = field;
        this.label = label;
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
}
