package dev.berth.transform;

import dev.berth.content.JsonLines;
import dev.berth.hooks.MediaType;
import java.util.Optional;

/// What a job says of its records and answers, in the API's words.
///
/// @param contentType `TransformInput.ContentType`
/// @param accept `TransformOutput.Accept`
/// @param splitType `TransformInput.SplitType`
/// @param endsLines `TransformOutput.AssembleWith`: whether a newline is written after each answer
record TransformFormats(Optional<String> contentType, Optional<String> accept, SplitType splitType, boolean endsLines) {

    /// The type of the lines that the records are, without parameters; nothing where they are none of
    /// JSON or CSV.
    Optional<MediaType> lines() {
        return splitType.areLines() ? contentType.flatMap(TransformFormats::lines) : Optional.empty();
    }

    /// The type of the lines that answers are asked for in, without parameters. A job that names none means
    /// the records' own.
    Optional<MediaType> answeredLines() {
        return splitType.areLines() ? accept.or(() -> contentType).flatMap(TransformFormats::lines) : Optional.empty();
    }

    /// Whether a container is asked for a line for each record. Then an output does not depend on which
    /// records share a request.
    boolean asksForLines() {
        return accept.isPresent() && answeredLines().isPresent();
    }

    private static Optional<MediaType> lines(String type) {
        return MediaType.parse(type)
                .map(MediaType::withoutParameters)
                .filter(given -> given.equals(MediaType.CSV) || JsonLines.TYPES.contains(given));
    }
}
