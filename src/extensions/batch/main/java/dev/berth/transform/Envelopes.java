package dev.berth.transform;

import dev.berth.hooks.MediaType;
import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import java.util.List;
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
            new TransformFormats(JSON, JSON, FramedSplit.NONE, false),
            Optional.empty(),
            Optional.empty(),
            OptionalInt.empty(),
            false);

    private static final List<JobOption> OF_RECORDS = List.of(
            JobOption.CONTENT_TYPE,
            JobOption.ACCEPT,
            JobOption.SPLIT_TYPE,
            JobOption.ASSEMBLE_WITH,
            JobOption.BATCH_STRATEGY,
            JobOption.MAX_PAYLOAD_IN_MB,
            JobOption.INPUT_FILTER,
            JobOption.OUTPUT_FILTER,
            JobOption.JOIN_SOURCE,
            JobOption.BAD_RECORDS);

    static Envelopes read(Envelope envelope, JobReader options) {
        for (var option : OF_RECORDS) {
            options.refuse(
                    option,
                    "none with %s %s, whose records are lines of JSON, each a request"
                            .formatted(JobOption.FORMAT.flag(), envelope));
        }
        Tables.requireNone(options);
        return new Envelopes(
                envelope, Quotas.read(envelope == Envelope.BEDROCK, options), extract(options), preview(options));
    }

    /// Tells of options that only these have.
    static void requireNone(String format, JobReader options) {
        for (var option : List.of(JobOption.EXTRACT, JobOption.PREVIEW)) {
            if (options.text(option).isPresent()) {
                options.wrong(JobOption.FORMAT, format, "bedrock or openai with " + option.flag());
            }
        }
        Quotas.read(false, options);
    }

    private static Optional<MediaType> extract(JobReader options) {
        var text = options.text(JobOption.EXTRACT);
        var type = text.flatMap(MediaType::parse)
                .filter(parsed -> ImageText.TYPES.stream().anyMatch(parsed::includes));
        if (text.isPresent()
                && type.filter(found -> found.type().equals("image")).isEmpty()) {
            options.wrong(JobOption.EXTRACT, text.get(), "image/* or one of " + ImageText.TYPES);
        }
        return type;
    }

    /// Each of several instances has a sheet of its own, `sheet-0-of-2.png`.
    private static Optional<Location> preview(JobReader options) {
        var text = options.text(JobOption.PREVIEW);
        if (text.isEmpty()) {
            return Optional.empty();
        }
        if (!text.get().endsWith(".png")) {
            options.wrong(JobOption.PREVIEW, text.get(), "a name that ends in .png");
            return Optional.empty();
        }
        try {
            var place = options.at(options.part().named(text.get()));
            if (options.isInput(place)) {
                options.problem(("%s: found %s within the input %s, expected another place: it would be the next run's"
                                + " input")
                        .formatted(
                                JobOption.PREVIEW,
                                place,
                                options.text(JobOption.INPUT).orElseThrow()));
            }
            return Optional.of(place);
        } catch (StorageException e) {
            options.problem("%s: %s".formatted(JobOption.PREVIEW, e.getMessage()));
            return Optional.empty();
        }
    }

    @Override
    public Records records() {
        return BODIES;
    }

    @Override
    public Optional<String> outputType() {
        return Optional.empty();
    }

    @Override
    public String madeBy() {
        return envelope.toString();
    }

    @Override
    public boolean findsErrors() {
        return true;
    }

    @Override
    public void requireSplittable(JobReader options) {
        if (extract.isPresent() || preview.isPresent()) {
            options.problem("%s: found it with %s, expected none: the images of an output are read when it is whole"
                    .formatted(
                            extract.isPresent() ? JobOption.EXTRACT : JobOption.PREVIEW,
                            JobOption.SPLIT_OBJECTS.flag()));
        }
    }
}
