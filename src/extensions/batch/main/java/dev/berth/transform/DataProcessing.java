package dev.berth.transform;

import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.MediaType;
import dev.berth.transform.RecordProcessing.Unit;
import dev.berth.transform.filter.JsonPathFilter;
import dev.berth.transform.filter.SliceEnd;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/// `DataProcessing` of a job, as its author wrote it: what of a record is sent, whether it is
/// joined with its answer, and what of that is kept. The order is `InputFilter`, container,
/// `JoinSource`, `OutputFilter`.
///
/// @param sliceEnd how both filters read slices
record DataProcessing(String inputFilter, String joinSource, String outputFilter, SliceEnd sliceEnd) {

    /// The API's defaults: records and answers are left as they are.
    static final DataProcessing NONE = new DataProcessing("$", "None", "$", SliceEnd.EXCLUSIVE);

    /// `JoinSource`: answers are joined with their records.
    static final String INPUT = "Input";

    private static final List<MediaType> TYPES = List.of(MediaType.CSV, MediaType.JSON, MediaType.JSON_LINES);

    /// Whether records and answers are left as they are. Only then may they have any format.
    boolean isNone() {
        return List.of(inputFilter, joinSource, outputFilter)
                .equals(List.of(NONE.inputFilter, NONE.joinSource, NONE.outputFilter));
    }

    /// What is done to the records of a job with these formats; nothing where they are left as they
    /// are.
    ///
    /// @param formats with which there are no [#problems]
    /// @param keepsBadRecords see [RecordProcessing]
    Optional<RecordProcessing> processing(TransformFormats formats, boolean keepsBadRecords) {
        if (isNone()) {
            return Optional.empty();
        }
        var type = mediaType(formats.contentType()).orElseThrow();
        return Optional.of(new RecordProcessing(
                type.equals(MediaType.CSV) ? new CsvFormat() : new JsonFormat(),
                unit(type, formats.splitType()),
                JsonPathFilter.parse(inputFilter, sliceEnd),
                joinSource.equals(INPUT),
                JsonPathFilter.parse(outputFilter, sliceEnd),
                keepsBadRecords));
    }

    /// What keeps a job with these formats from running, each problem with the names of its flag and
    /// field; empty where nothing does.
    List<String> problems(TransformFormats formats) {
        var problems = new ArrayList<String>();
        if (isNone()) {
            return problems;
        }
        var type = mediaType(formats.contentType()).filter(TYPES::contains);
        checkFilter(JobOption.INPUT_FILTER, inputFilter, type, problems);
        if (!List.of("None", INPUT).contains(joinSource)) {
            problems.add("%s: found %s, expected None or Input"
                    .formatted(JobOption.JOIN_SOURCE, Excerpt.quoted(joinSource)));
        }
        checkFilter(JobOption.OUTPUT_FILTER, outputFilter, type, problems);
        type.ifPresentOrElse(
                given -> {
                    checkAccept(formats, problems);
                    checkSplitting(formats, given, problems);
                },
                () -> problems.add("%s: found %s, expected %s, the types that DataProcessing can read"
                        .formatted(
                                JobOption.CONTENT_TYPE,
                                found(formats.contentType()),
                                "text/csv, application/json or application/jsonlines")));
        return problems;
    }

    private void checkFilter(JobOption option, String text, Optional<MediaType> type, List<String> problems) {
        try {
            var filter = JsonPathFilter.parse(text, sliceEnd);
            if (type.filter(MediaType.CSV::equals).isPresent() && !filter.isForRows()) {
                problems.add("%s: found %s, expected columns of text/csv by their indexes alone, such as $[0,5:]"
                        .formatted(option, Excerpt.quoted(text)));
            }
        } catch (BadInputException e) {
            problems.add(option + ": " + e.getMessage());
        }
    }

    private static void checkAccept(TransformFormats formats, List<String> problems) {
        if (!mediaType(formats.accept()).equals(mediaType(formats.contentType()))) {
            problems.add("%s: found %s, expected %s as the %s with DataProcessing"
                    .formatted(
                            JobOption.ACCEPT,
                            found(formats.accept()),
                            found(formats.contentType()),
                            JobOption.CONTENT_TYPE.flag()));
        }
    }

    private static void checkSplitting(TransformFormats formats, MediaType type, List<String> problems) {
        var allowed =
                type.equals(MediaType.CSV) ? List.of(FramedSplit.LINE) : List.of(FramedSplit.NONE, FramedSplit.LINE);
        boolean isAllowed = allowed.contains(formats.splitType());
        if (!isAllowed) {
            problems.add("%s: found %s, expected %s for %s with DataProcessing"
                    .formatted(JobOption.SPLIT_TYPE, formats.splitType(), JobReader.expected(allowed), type));
        }
        var assembled = isAllowed ? formats.splitType() : FramedSplit.LINE;
        if (!formats.assembleWith().toString().equals(assembled.toString())) {
            problems.add("%s: found %s, expected %s as the %s with DataProcessing"
                    .formatted(
                            JobOption.ASSEMBLE_WITH, formats.assembleWith(), assembled, JobOption.SPLIT_TYPE.flag()));
        }
    }

    private static Unit unit(MediaType type, SplitType splitType) {
        if (!type.equals(MediaType.JSON)) {
            return Unit.LINE;
        }
        return !splitType.isSplit() ? Unit.WHOLE : Unit.LINE_OR_SINGLE_ANSWER;
    }

    /// Parameters such as `header=present` are between the job and its container.
    private static Optional<MediaType> mediaType(Optional<String> text) {
        return text.flatMap(MediaType::parse).map(MediaType::withoutParameters);
    }

    private static String found(Optional<String> text) {
        return text.map(Excerpt::quoted).orElse("nothing");
    }
}
