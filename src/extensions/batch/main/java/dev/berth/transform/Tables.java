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
            new TransformFormats(Optional.of(JSON_LINES), Optional.of(JSON_LINES), FramedSplit.LINE, true);

    /// The content type of objects that are tables; nothing where they are none, or are sent whole.
    static Optional<String> type(JobReader options) {
        var type = options.text(JobOption.CONTENT_TYPE)
                .flatMap(MediaType::parse)
                .map(MediaType::withoutParameters)
                .map(MediaType::toString)
                .filter(TableFormats.TYPES::contains);
        var request = options.text(JobOption.REQUEST_CONTENT_TYPE);
        if (type.isEmpty()) {
            requireNone(options);
        }
        return type.filter(_ -> !type.equals(request));
    }

    static void requireNone(JobReader options) {
        options.refuse(
                JobOption.REQUEST_CONTENT_TYPE,
                "it with one of %s as the %s"
                        .formatted(String.join(", ", TableFormats.TYPES), JobOption.CONTENT_TYPE.flag()));
    }

    /// @return the records of objects that are sent whole where there is a problem
    static JobKind read(String type, JobReader options) {
        require(JobOption.REQUEST_CONTENT_TYPE, List.of(JSON_LINES, type), options);
        require(JobOption.ACCEPT, List.of(type, JSON_LINES), options);
        for (var option : List.of(JobOption.SPLIT_TYPE, JobOption.ASSEMBLE_WITH, JobOption.COMPRESSION_TYPE)) {
            require(option, List.of("None"), options);
        }
        boolean answersAreTable = !Optional.of(JSON_LINES).equals(options.text(JobOption.ACCEPT));
        var joinSource = options.text(JobOption.JOIN_SOURCE).orElse("None");
        boolean areJoined = answersAreTable && joinSource.equals(DataProcessing.INPUT);
        if (areJoined) {
            require(JobOption.OUTPUT_FILTER, List.of("$"), options);
        }
        try {
            return new Tables(
                    TableFormats.find(type),
                    answersAreTable,
                    areJoined,
                    Records.read(LINES, areJoined ? "None" : joinSource, options));
        } catch (IllegalStateException e) {
            options.problem("%s: %s".formatted(JobOption.CONTENT_TYPE, e.getMessage()));
            return Records.read(options);
        }
    }

    private static void require(JobOption option, List<String> allowed, JobReader options) {
        if (options.text(option).filter(given -> !allowed.contains(given)).isPresent()) {
            options.refuse(option, String.join(" or ", allowed) + " where the objects are tables");
        }
    }

    @Override
    public Optional<String> outputType() {
        return Optional.of(answersAreTable ? format.type() : JSON_LINES);
    }

    @Override
    public String madeBy() {
        return "%s %s %s %s".formatted(records.madeBy(), format.type(), answersAreTable, areJoined);
    }

    @Override
    public boolean findsErrors() {
        return false;
    }

    @Override
    public void requireSplittable(JobReader options) {
        options.cannotSplit(JobOption.CONTENT_TYPE, format.type(), "lines: a table is read from its end");
        records.requireSplittable(options);
    }
}
