package dev.berth.transform;

import dev.berth.content.BatchStrategy;
import dev.berth.hooks.MediaType;
import java.util.Optional;
import java.util.OptionalInt;

/// SageMaker's way: the records of an object are sent in payloads, and the answers are written.
///
/// @param formats the content types, how objects are split and how answers are put together
/// @param processing nothing where records and answers are left as they are
/// @param strategy empty: as the container says, else `MultiRecord`
/// @param maxPayloadInMb 0 is unlimited; empty: as the container says, else 6
/// @param keepsBadRecords whether a bad record becomes an error in its own place. Records are lines
///   then, of JSON or CSV
record Records(
        TransformFormats formats,
        Optional<RecordProcessing> processing,
        Optional<BatchStrategy> strategy,
        OptionalInt maxPayloadInMb,
        boolean keepsBadRecords)
        implements JobKind {

    private static final int MOST_PAYLOAD = 100;

    static Records read(JobReader options) {
        return read(
                new TransformFormats(
                        options.text(JobOption.CONTENT_TYPE),
                        options.text(JobOption.ACCEPT),
                        options.splitType(FramedSplit.all()),
                        options.isSecond(JobOption.ASSEMBLE_WITH, "None", "Line")),
                options.text(JobOption.JOIN_SOURCE).orElse("None"),
                options);
    }

    static Records read(TransformFormats formats, String joinSource, JobReader options) {
        boolean keeps = options.isSecond(JobOption.BAD_RECORDS, "reject", "keep");
        var processing = new DataProcessing(formats, options).read(joinSource, keeps);
        if (keeps && (formats.lines().isEmpty() || formats.answeredLines().isEmpty())) {
            options.problem(("%s: found keep, expected it with %s Line and lines of JSON or CSV as the %s and the %s:"
                            + " an error has its own line")
                    .formatted(
                            JobOption.BAD_RECORDS,
                            JobOption.SPLIT_TYPE.flag(),
                            JobOption.CONTENT_TYPE.flag(),
                            JobOption.ACCEPT.flag()));
        }
        return new Records(
                formats,
                processing,
                options.word(JobOption.BATCH_STRATEGY, BatchStrategy.class),
                options.number(JobOption.MAX_PAYLOAD_IN_MB, 0, MOST_PAYLOAD),
                keeps);
    }

    @Override
    public Records records() {
        return this;
    }

    @Override
    public Optional<String> outputType() {
        return formats.accept();
    }

    @Override
    public String madeBy() {
        return "%s %s %s".formatted(formats, processing, keepsBadRecords);
    }

    @Override
    public boolean findsErrors() {
        return keepsBadRecords
                && formats.answeredLines()
                        .filter(type -> !type.equals(MediaType.CSV))
                        .isPresent();
    }

    @Override
    public void requireSplittable(JobReader options) {
        if (!formats.splitType().areLines()) {
            options.cannotSplit(
                    JobOption.SPLIT_TYPE,
                    formats.splitType().toString(),
                    "Line: only lines have ends that can be found");
        }
        if (maxPayloadInMb.equals(OptionalInt.of(0))) {
            options.cannotSplit(JobOption.MAX_PAYLOAD_IN_MB, "0", "1 to 100: an object in one request is not split");
        }
        if (!strategy.equals(Optional.of(BatchStrategy.SINGLE_RECORD))
                && (formats.accept().isEmpty() || formats.answeredLines().isEmpty())) {
            options.cannotSplit(
                    JobOption.ACCEPT,
                    formats.accept().orElse("nothing"),
                    "application/jsonlines or text/csv, or %s SingleRecord: the answer to several records must be a line for each"
                            .formatted(JobOption.BATCH_STRATEGY.flag()));
        }
    }
}
