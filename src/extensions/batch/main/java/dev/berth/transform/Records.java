package dev.berth.transform;

import dev.berth.content.BatchStrategy;
import java.util.List;
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
        var formats = new TransformFormats(
                options.text(JobOption.CONTENT_TYPE),
                options.text(JobOption.ACCEPT),
                options.word(JobOption.SPLIT_TYPE, List.of(SplitType.values())),
                options.isSecond(JobOption.ASSEMBLE_WITH, "None", "Line"));
        return read(formats, joinsInput(options), options);
    }

    /// Whether answers are joined with their records.
    static boolean joinsInput(JobReader options) {
        return options.isSecond(JobOption.JOIN_SOURCE, "None", "Input");
    }

    static Records read(TransformFormats formats, boolean joinsInput, JobReader options) {
        boolean keeps = options.isSecond(JobOption.BAD_RECORDS, "reject", "keep");
        var processing = RecordProcessing.read(formats, joinsInput, keeps, options);
        if (keeps && (formats.lines().isEmpty() || formats.answeredLines().isEmpty())) {
            options.wrong(
                    JobOption.BAD_RECORDS,
                    "keep",
                    "it with --split-type Line and lines of JSON or CSV as the --content-type and the --accept: an error has its own line");
        }
        var strategy = options.text(JobOption.BATCH_STRATEGY)
                .map(_ -> options.word(JobOption.BATCH_STRATEGY, List.of(BatchStrategy.values())));
        var payload = options.number(JobOption.MAX_PAYLOAD_IN_MB, 0, MOST_PAYLOAD);
        options.requireToSplit(
                formats.splitType().areLines(),
                JobOption.SPLIT_TYPE,
                formats.splitType(),
                "Line: only lines have ends that can be found");
        options.requireToSplit(
                !payload.equals(OptionalInt.of(0)),
                JobOption.MAX_PAYLOAD_IN_MB,
                0,
                "1 to 100: an object in one request is not split");
        options.requireToSplit(
                strategy.equals(Optional.of(BatchStrategy.SINGLE_RECORD)) || formats.asksForLines(),
                JobOption.ACCEPT,
                formats.accept().orElse("nothing"),
                "application/jsonlines or text/csv, or --batch-strategy SingleRecord: the answer to several records must be a line for each");
        return new Records(formats, processing, strategy, payload, keeps);
    }

    @Override
    public Records records() {
        return this;
    }
}
