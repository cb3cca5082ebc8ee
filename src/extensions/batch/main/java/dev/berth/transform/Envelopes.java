package dev.berth.transform;

import dev.berth.hooks.MediaType;
import dev.berth.storage.Location;
import java.util.Optional;
import java.util.OptionalInt;

/// JSON Lines of a service for batches, each a request of its own.
///
/// @param extract the type of the images in answers that are written as files too, or `image/*`
record Envelopes(Envelope envelope, Quotas quotas, Optional<MediaType> extract, Optional<Location> preview)
        implements JobKind {

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
        var preview = options.text(JobOption.PREVIEW).flatMap(text -> sheet(text, options));
        if (options.has(JobOption.SPLIT_OBJECTS) && (extract.isPresent() || preview.isPresent())) {
            options.problem("%s: found it with %s, expected none: the images of an output are read when it is whole"
                    .formatted(
                            extract.isPresent() ? JobOption.EXTRACT : JobOption.PREVIEW,
                            JobOption.SPLIT_OBJECTS.flag()));
        }
        return new Envelopes(
                envelope, envelope == Envelope.BEDROCK ? Quotas.read(options) : Quotas.NONE, extract, preview);
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

    /// Each of several instances has a sheet of its own, `sheet-0-of-2.png`.
    private static Optional<Location> sheet(String text, JobReader options) {
        if (!text.endsWith(".png")) {
            options.wrong(JobOption.PREVIEW, text, "a name that ends in .png");
            return Optional.empty();
        }
        var place = options.location(JobOption.PREVIEW, options.part().named(text));
        place.ifPresent(sheet -> options.requireNoInput(JobOption.PREVIEW, sheet, sheet));
        return place;
    }

    @Override
    public Records records() {
        return BODIES;
    }
}
