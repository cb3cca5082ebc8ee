package dev.berth.transform;

import dev.berth.hooks.MediaType;
import java.util.Optional;

/// What the objects of a job are, and what becomes of them. Each kind reads its own options.
sealed interface JobKind permits Records, Tables, Envelopes {

    /// Reads the options of the kind that `--format` and the content type name. What is wrong is told
    /// to the reader.
    static JobKind read(JobReader options) {
        var format = options.text(JobOption.FORMAT).orElse("sagemaker");
        var envelope = JobReader.parse(Envelope.class, format);
        if (envelope.isPresent()) {
            return Envelopes.read(envelope.get(), options);
        }
        if (!format.equals("sagemaker")) {
            options.wrong(JobOption.FORMAT, format, "sagemaker, bedrock or openai");
        }
        Envelopes.requireNone(format, options);
        return Tables.type(options).map(type -> Tables.read(type, options)).orElseGet(() -> Records.read(options));
    }

    /// The records that a container gets, and what it answers.
    Records records();

    /// The content type of the outputs.
    default Optional<String> outputType() {
        return switch (this) {
            case Records records -> records.formats().accept();
            case Tables tables ->
                Optional.of(tables.answersAreTable() ? tables.format().type() : Tables.JSON_LINES);
            case Envelopes _ -> Optional.empty();
        };
    }

    /// What the bytes of an output depend on.
    default String madeBy() {
        return switch (this) {
            case Records(var formats, var processing, var _, var _, var keepsBadRecords) ->
                "%s %s %s".formatted(formats, processing, keepsBadRecords);
            case Tables(var format, var answersAreTable, var areJoined, var records) ->
                "%s %s %s %s".formatted(records.madeBy(), format.type(), answersAreTable, areJoined);
            case Envelopes lines -> lines.envelope().toString();
        };
    }

    /// Whether an error that stands in an output is found there.
    default boolean findsErrors() {
        return switch (this) {
            case Records records ->
                records.keepsBadRecords()
                        && records.formats()
                                .answeredLines()
                                .filter(type -> !type.equals(MediaType.CSV))
                                .isPresent();
            case Tables _ -> false;
            case Envelopes _ -> true;
        };
    }

    /// Tells why objects can't be split. An output must not depend on which records share a request,
    /// nor on how many instances there are.
    void requireSplittable(JobReader options);
}
