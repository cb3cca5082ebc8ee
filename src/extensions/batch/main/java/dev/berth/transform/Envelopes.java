package dev.berth.transform;

import dev.berth.hooks.MediaType;
import java.util.Optional;
import java.util.OptionalInt;

/// JSON Lines of a service for batches, each a request of its own.
///
/// @param extract the type of the images in answers that are written to files too, or `image/*`
record Envelopes(Envelope envelope, Quotas quotas, Optional<MediaType> extract) implements JobKind {

    private static final Optional<String> JSON = Optional.of("application/json");

    /// What is sent of each line.
    private static final Records BODIES = new Records(
            new TransformFormats(JSON, JSON, SplitType.NONE, false),
            Optional.empty(),
            Optional.empty(),
            OptionalInt.empty(),
            false);

    static Envelopes read(Envelope envelope, JobReader options) {
        var extract = options.text(JobOption.EXTRACT).flatMap(text -> imageType(text, options));
        if (options.has(JobOption.SPLIT_OBJECTS) && extract.isPresent()) {
            options.problem("%s: found it with %s, expected none: the images of an output are read when it is whole"
                    .formatted(JobOption.EXTRACT, JobOption.SPLIT_OBJECTS.flag()));
        }
        return new Envelopes(envelope, envelope == Envelope.BEDROCK ? Quotas.read(options) : Quotas.NONE, extract);
    }

    private static Optional<MediaType> imageType(String text, JobReader options) {
        var type = MediaType.parse(text)
                .filter(parsed -> parsed.type().equals("image")
                        && ImageText.TYPES.stream().anyMatch(parsed::includes));
        if (type.isEmpty()) {
            options.wrong(JobOption.EXTRACT, text, "image/* or one of " + ImageText.TYPES);
        }
        return type;
    }

    @Override
    public Records records() {
        return BODIES;
    }
}
