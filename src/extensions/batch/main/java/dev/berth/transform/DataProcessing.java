package dev.berth.transform;

import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.MediaType;
import dev.berth.transform.RecordProcessing.Unit;
import dev.berth.transform.filter.JsonPathFilter;
import java.util.List;
import java.util.Optional;

/// Reads `DataProcessing` of a job: what of a record is sent, whether it is joined with its answer,
/// and what of that is kept. The order is `InputFilter`, container, `JoinSource`, `OutputFilter`.
record DataProcessing(TransformFormats formats, JobReader options) {

    private static final List<MediaType> TYPES = List.of(MediaType.CSV, MediaType.JSON, MediaType.JSON_LINES);

    /// Nothing where records and answers are left as they are, which are the API's defaults. Only then
    /// may they have any format. What is wrong is told to the reader.
    ///
    /// @param keepsBadRecords see [RecordProcessing]
    Optional<RecordProcessing> read(boolean joinsInput, boolean keepsBadRecords) {
        var type = mediaType(formats.contentType()).filter(TYPES::contains);
        var input = filter(JobOption.INPUT_FILTER, type);
        var output = filter(JobOption.OUTPUT_FILTER, type);
        if (!joinsInput
                && input.filter(JsonPathFilter::selectsAll).isPresent()
                && output.filter(JsonPathFilter::selectsAll).isPresent()) {
            return Optional.empty();
        }
        if (type.isEmpty()) {
            options.wrong(
                    JobOption.CONTENT_TYPE,
                    found(formats.contentType()),
                    "text/csv, application/json or application/jsonlines, the types that DataProcessing can read");
            return Optional.empty();
        }
        if (!mediaType(formats.accept()).equals(type)) {
            options.wrong(
                    JobOption.ACCEPT,
                    found(formats.accept()),
                    "%s as the %s with DataProcessing"
                            .formatted(found(formats.contentType()), JobOption.CONTENT_TYPE.flag()));
        }
        checkSplitting(type.get());
        return input.flatMap(sent -> output.map(kept -> new RecordProcessing(
                RecordFormat.of(type.get()), unit(type.get()), sent, joinsInput, kept, keepsBadRecords)));
    }

    /// The API allows an empty one, which filters nothing.
    private Optional<JsonPathFilter> filter(JobOption option, Optional<MediaType> type) {
        var text = options.text(option).filter(given -> !given.isEmpty()).orElse("$");
        try {
            var filter = JsonPathFilter.parse(text, options.has(JobOption.INCLUSIVE_SLICES));
            if (type.equals(Optional.of(MediaType.CSV)) && !filter.isForRows()) {
                options.wrong(
                        option, Excerpt.quoted(text), "columns of text/csv by their indexes alone, such as $[0,5:]");
            }
            return Optional.of(filter);
        } catch (BadInputException e) {
            options.problem(option + ": " + e.getMessage());
            return Optional.empty();
        }
    }

    private void checkSplitting(MediaType type) {
        var allowed =
                type.equals(MediaType.CSV) ? List.of(FramedSplit.LINE) : List.of(FramedSplit.NONE, FramedSplit.LINE);
        var split = allowed.contains(formats.splitType()) ? formats.splitType() : FramedSplit.LINE;
        if (split != formats.splitType()) {
            options.wrong(
                    JobOption.SPLIT_TYPE,
                    formats.splitType(),
                    "%s for %s with DataProcessing".formatted(JobReader.expected(allowed), type));
        }
        if (formats.endsLines() != split.areLines()) {
            options.wrong(
                    JobOption.ASSEMBLE_WITH,
                    formats.endsLines() ? "Line" : "None",
                    "%s as the %s with DataProcessing".formatted(split, JobOption.SPLIT_TYPE.flag()));
        }
    }

    private Unit unit(MediaType type) {
        if (!type.equals(MediaType.JSON)) {
            return Unit.LINE;
        }
        return !formats.splitType().isSplit() ? Unit.WHOLE : Unit.LINE_OR_SINGLE_ANSWER;
    }

    /// Parameters such as `header=present` are between the job and its container.
    private static Optional<MediaType> mediaType(Optional<String> text) {
        return text.flatMap(MediaType::parse).map(MediaType::withoutParameters);
    }

    private static String found(Optional<String> text) {
        return text.map(Excerpt::quoted).orElse("nothing");
    }
}
