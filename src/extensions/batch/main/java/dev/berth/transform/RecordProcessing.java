package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.MediaType;
import dev.berth.transform.filter.JsonPathFilter;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.StringJoiner;
import java.util.function.Consumer;
import java.util.function.Supplier;

/// What `DataProcessing` of a job does to its records on their way to the container, and to the answers
/// on their way back: what of a record is sent, whether it is joined with its answer, and what of that
/// is kept. The order is `InputFilter`, container, `JoinSource`, `OutputFilter`. Immutable; used by any
/// threads.
///
/// @param isSplit whether an object may have several records
/// @param joinsInput whether answers are joined with the records as they were before `InputFilter`
/// @param keepsBadRecords whether an error may stand in the place of a record's answer. It is
///   joined, and not filtered
record RecordProcessing(
        MediaType type,
        boolean isSplit,
        JsonPathFilter inputFilter,
        boolean joinsInput,
        JsonPathFilter outputFilter,
        boolean keepsBadRecords) {

    private static final String BYTE_ORDER_MARK = "\uFEFF";
    private static final List<MediaType> TYPES = List.of(MediaType.CSV, MediaType.JSON, MediaType.JSON_LINES);

    /// Nothing where records and answers are left as they are, which are the API's defaults. Only then
    /// may they have any format. What is wrong is told to the reader.
    static Optional<RecordProcessing> read(
            TransformFormats formats, boolean joinsInput, boolean keepsBadRecords, JobReader options) {
        var type = mediaType(formats.contentType()).filter(TYPES::contains);
        var input = filter(JobOption.INPUT_FILTER, type, options);
        var output = filter(JobOption.OUTPUT_FILTER, type, options);
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
                    found(formats.contentType()) + " as the --content-type with DataProcessing");
        }
        checkSplitting(type.get(), formats, options);
        return input.flatMap(sent -> output.map(kept -> new RecordProcessing(
                type.get(), formats.splitType().isSplit(), sent, joinsInput, kept, keepsBadRecords)));
    }

    /// The API allows an empty one, which filters nothing.
    private static Optional<JsonPathFilter> filter(JobOption option, Optional<MediaType> type, JobReader options) {
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

    private static void checkSplitting(MediaType type, TransformFormats formats, JobReader options) {
        var allowed = type.equals(MediaType.CSV) ? List.of(SplitType.LINE) : List.of(SplitType.NONE, SplitType.LINE);
        boolean isAllowed = allowed.contains(formats.splitType());
        var split = isAllowed ? formats.splitType() : SplitType.LINE;
        if (!isAllowed) {
            options.wrong(
                    JobOption.SPLIT_TYPE,
                    formats.splitType(),
                    "%s for %s with DataProcessing".formatted(JobReader.expected(allowed), type));
        }
        if (formats.endsLines() != split.areLines()) {
            options.wrong(
                    JobOption.ASSEMBLE_WITH,
                    formats.endsLines() ? "Line" : "None",
                    split + " as the --split-type with DataProcessing");
        }
    }

    /// Parameters such as `header=present` are between the job and its container.
    private static Optional<MediaType> mediaType(Optional<String> text) {
        return text.flatMap(MediaType::parse).map(MediaType::withoutParameters);
    }

    private static String found(Optional<String> text) {
        return text.map(Excerpt::quoted).orElse("nothing");
    }

    /// Whether the answers are joined with something else than what was sent.
    boolean joinsUnfilteredInput() {
        return joinsInput && !inputFilter.selectsAll();
    }

    boolean changesAnswers() {
        return joinsInput || !outputFilter.selectsAll();
    }

    /// What `InputFilter` leaves of a record. The newline at its end stays as it was.
    ///
    /// @param number the record's place in its object, counted from 1
    /// @throws BadInputException naming the record
    byte[] filterInput(byte[] record, long number) {
        if (inputFilter.selectsAll()) {
            return record;
        }
        var filtered = new StringBuilder();
        long line = number;
        for (var text : records(text(record, "record " + number))) {
            var name = "record " + line++;
            var value = read(text, name);
            var selected = at(name + ", InputFilter " + inputFilter.text(), () -> inputFilter.apply(value));
            filtered.append(format().write(selected))
                    .append(text.substring(withoutNewline(text).length()));
        }
        return filtered.toString().getBytes(StandardCharsets.UTF_8);
    }

    /// What the container's answer becomes in the output, after `JoinSource` and `OutputFilter`: a
    /// line for each record of the payload. The last one has no newline.
    ///
    /// @param failed is told why a record has an error where OutputFilter finds nothing to write
    /// @throws BadInputException naming the record, or saying that there are more or fewer answers
    ///   than records
    byte[] output(Payload batch, byte[] answer, Consumer<String> failed) {
        long first = batch.firstRecord();
        var inputs = records(text(batch.input(), "records from %d on".formatted(first)));
        var answers = answers(text(answer, "answer to the records from %d on".formatted(first)), inputs.size());
        if (answers.size() != inputs.size()) {
            throw new BadInputException(miscounted(first, inputs.size(), answers.size(), format() == RecordFormat.CSV));
        }
        var output = new StringJoiner("\n");
        for (int i = 0; i < answers.size(); i++) {
            output.add(output(inputs.get(i), answers.get(i), first + i, failed));
        }
        return output.toString().getBytes(StandardCharsets.UTF_8);
    }

    /// Says that a payload has too many answers, or too few.
    ///
    /// @param areRows whether the records are CSV, whose first row may be a header
    static String miscounted(long first, int records, int answers, boolean areRows) {
        return "answer to %s: found %d line%s, expected %d, one for each record%s"
                .formatted(
                        Payload.place(first, records),
                        answers,
                        answers == 1 ? "" : "s",
                        records,
                        areRows && first == 1 && answers == records - 1
                                ? ". Remove the first line if it is a header: a container skips it, and it has no answer"
                                : "");
    }

    private String output(String input, String answer, long number, Consumer<String> failed) {
        var name = "record " + number;
        var answered = read(answer, "answer to " + name);
        boolean isError = keepsBadRecords && format().isError(answered);
        var joined = !joinsInput
                ? answered
                : isError ? joinedError(input, answered) : format().join(read(input, name), answered);
        if (isError) {
            return format().write(joined);
        }
        try {
            return format().write(at(name + ", OutputFilter " + outputFilter.text(), () -> outputFilter.apply(joined)));
        } catch (BadInputException e) {
            if (!keepsBadRecords) {
                throw e;
            }
            failed.accept(e.getMessage());
            return error(input, e.getMessage());
        }
    }

    /// The line for a record that has no answer, or none that can be written.
    String error(String record, String reason) {
        var error = format().error(reason);
        return format().write(joinsInput ? joinedError(record, error) : error);
    }

    /// What can't be read has no place beside its error.
    private JsonNode joinedError(String input, JsonNode error) {
        try {
            return format().join(format().read(withoutNewline(input)), error);
        } catch (BadInputException _) {
            return error;
        }
    }

    private JsonNode read(String record, String name) {
        return at(name, () -> format().read(withoutNewline(record)));
    }

    private RecordFormat format() {
        return RecordFormat.of(type);
    }

    /// A record of an object is a line, also where a row of CSV would go on behind it. JSON that is not
    /// split is one record.
    private List<String> records(String text) {
        return isJson() && !isSplit ? List.of(text) : RecordFormat.lines(text);
    }

    /// The answer to one record alone is one value of JSON, on as many lines as it likes.
    private List<String> answers(String text, int records) {
        return isJson() && records == 1 ? List.of(text) : format().records(text);
    }

    private boolean isJson() {
        return type.equals(MediaType.JSON);
    }

    private static String withoutNewline(String line) {
        int end = line.endsWith("\r\n") ? line.length() - 2 : line.endsWith("\n") ? line.length() - 1 : line.length();
        return line.substring(0, end);
    }

    /// UTF-8 without a byte order mark. Malformed bytes are never replaced.
    static String text(byte[] bytes, String name) {
        var buffer = ByteBuffer.wrap(bytes);
        try {
            var text = StandardCharsets.UTF_8.newDecoder().decode(buffer).toString();
            return text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            throw new BadInputException(
                    "%s: found the byte 0x%02x at offset %d, expected UTF-8 text"
                            .formatted(name, bytes[buffer.position()], buffer.position()),
                    e);
        }
    }

    private static JsonNode at(String place, Supplier<JsonNode> step) {
        try {
            return step.get();
        } catch (BadInputException e) {
            throw new BadInputException("%s: %s".formatted(place, e.getMessage()), e);
        }
    }
}
