package dev.berth.transform;

import dev.berth.hooks.MediaType;
import java.util.Optional;

/// What the objects of a job are, and what becomes of them. Each kind reads its own options.
sealed interface JobKind permits Records, Tables, Envelopes {

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
            case Records(var formats, var processing, var _, var _, boolean keepsBadRecords) ->
                "%s %s %s".formatted(formats, processing, keepsBadRecords);
            case Tables(var format, boolean answersAreTable, boolean areJoined, var records) ->
                "%s %s %s %s".formatted(records.madeBy(), format.type(), answersAreTable, areJoined);
            case Envelopes envelopes -> envelopes.envelope().toString();
        };
    }

    /// Whether an error that stands in an output is found there.
    default boolean findsErrors() {
        return switch (this) {
            case Records records ->
                records.keepsBadRecords() && !records.formats().answeredLines().equals(Optional.of(MediaType.CSV));
            case Tables _ -> false;
            case Envelopes _ -> true;
        };
    }
}
