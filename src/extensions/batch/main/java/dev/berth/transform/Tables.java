package dev.berth.transform;

import dev.berth.hooks.MediaType;
import dev.berth.table.TableFormat;
import dev.berth.table.TableFormats;
import java.util.List;
import java.util.Optional;

/// Objects that are tables: their rows are sent as JSON Lines, and a table is made of the answers.
///
/// @param answersAreTable whether outputs are such tables too, or else JSON Lines
/// @param areJoined whether the tables that are written have the columns of the input
/// @param records the lines that are made of the rows
record Tables(TableFormat format, boolean answersAreTable, boolean areJoined, Records records) implements JobKind {

    static final String JSON_LINES = MediaType.JSON_LINES.toString();

    private static final TransformFormats LINES =
            new TransformFormats(Optional.of(JSON_LINES), Optional.of(JSON_LINES), SplitType.LINE, true);

    private static final String WHERE = " where the objects are tables";

    /// The content type of objects that are tables; nothing where they are none, or are sent whole.
    static Optional<String> type(JobReader options) {
        var type = options.text(JobOption.CONTENT_TYPE)
                .flatMap(MediaType::parse)
                .map(MediaType::withoutParameters)
                .map(MediaType::toString)
                .filter(TableFormats.TYPES::contains);
        var request = options.text(JobOption.REQUEST_CONTENT_TYPE);
        if (type.isEmpty() && request.isPresent()) {
            options.wrong(
                    JobOption.REQUEST_CONTENT_TYPE,
                    request.get(),
                    "it with one of %s as the --content-type".formatted(String.join(", ", TableFormats.TYPES)));
        }
        return type.filter(_ -> !type.equals(request));
    }

    /// @return the lines alone where nothing reads such tables, which is told to the reader
    static JobKind read(String type, JobReader options) {
        require(JobOption.REQUEST_CONTENT_TYPE, List.of(JSON_LINES, type), options);
        for (var option : List.of(JobOption.SPLIT_TYPE, JobOption.ASSEMBLE_WITH, JobOption.COMPRESSION_TYPE)) {
            require(option, List.of("None"), options);
        }
        boolean answersAreTable =
                require(JobOption.ACCEPT, List.of(type, JSON_LINES), options).equals(type);
        boolean joinsInput = Records.joinsInput(options);
        boolean areJoined = answersAreTable && joinsInput;
        if (areJoined) {
            require(JobOption.OUTPUT_FILTER, List.of("$"), options);
        }
        options.requireToSplit(false, JobOption.CONTENT_TYPE, type, "lines: a table is read from its end");
        var records = Records.read(LINES, joinsInput && !areJoined, options);
        try {
            return new Tables(TableFormats.find(type), answersAreTable, areJoined, records);
        } catch (IllegalStateException e) {
            options.problem("%s: %s".formatted(JobOption.CONTENT_TYPE, e.getMessage()));
            return records;
        }
    }

    private static String require(JobOption option, List<String> words, JobReader options) {
        return options.word(option, words, WHERE);
    }
}
