package dev.berth.transform;

import dev.berth.content.Sha256;
import dev.berth.content.UniqueNames;
import dev.berth.hooks.BadInputException;
import dev.berth.image.ContactSheet;
import dev.berth.image.Image;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Gatherers;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The images in the answers of an envelope: as files beside the output, and on a sheet that shows
/// the first of them.
///
/// They are read from an output that is whole, record by record. So their names are the same
/// however the records were answered, and a job that is killed between an output and its files
/// writes them when it runs again.
final class AnswerImages {

    private static final Logger log = LoggerFactory.getLogger(AnswerImages.class);
    private static final int MOST_ON_SHEET = 64;

    /// On their way to S3 at the same time, for one object.
    private static final int MOST_WRITTEN = 8;

    /// A file system takes 255 bytes, and there may come a number, and `.berth-part` for a while.
    private static final int LONGEST_NAME = 150;

    private static final int KEPT_OF_LONG_NAME = 120;

    private final TransformJob job;
    private final Envelopes kind;

    /// What the sheet shows of the outputs. Guarded by the monitor.
    private final TreeMap<Place, Image> shown =
            new TreeMap<>(Comparator.comparing(Place::key).thenComparingInt(Place::number));

    /// Of an image in its job: the key of its object, and its number there.
    private record Place(String key, int number) {}

    /// @param file nothing where it is not extracted
    private record Found(ImageText image, Place place, Optional<Location> file) {}

    AnswerImages(TransformJob job, Envelopes kind) {
        this.job = job;
        this.kind = kind;
    }

    /// Takes the images of an object's output.
    ///
    /// @param wasThere whether an earlier run has made it, and maybe the files too
    /// @throws TransformException where it is no output of such a job
    void add(StoredObject object, boolean wasThere) {
        if (kind.extract().isEmpty() && kind.preview().isEmpty()) {
            return;
        }
        var names = new UniqueNames();
        var images = new AtomicInteger();
        try (var lines = Envelope.lines(job.output(object).open())) {
            lines.lines()
                    .flatMap(line -> found(line, object.key(), names, images))
                    .gather(Gatherers.mapConcurrent(MOST_WRITTEN, image -> written(image, wasThere)))
                    .forEach(this::show);
        } catch (IOException | UncheckedIOException e) {
            throw new TransformException(
                    "%s: found what is no output of such a job: %s".formatted(job.output(object), e.getMessage()), e);
        }
    }

    private Stream<Found> found(String line, String key, UniqueNames names, AtomicInteger images) {
        try {
            var tree = JsonText.payload(line);
            var id = tree.path(kind.envelope().id()).asText();
            return ImageText.in(kind.envelope().answer(tree)).stream()
                    .map(image -> new Found(
                            image,
                            new Place(key, images.getAndIncrement()),
                            kind.extract()
                                    .filter(type -> type.includes(image.type()))
                                    .map(_ -> names.name("%s.%s".formatted(fileName(id), image.end())))
                                    .map(job.output().resolve(key)::resolve)));
        } catch (NotJsonException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Found written(Found found, boolean mayBeThere) {
        var bytes = found.image.bytes();
        found.file
                .filter(file -> !mayBeThere || !isThere(bytes, file))
                .ifPresent(file -> write(bytes, found.image.type().toString(), file));
        return found;
    }

    private static void write(byte[] bytes, String type, Location place) {
        try (var out = place.create(Optional.of(type))) {
            out.write(bytes);
            out.commit();
        }
    }

    /// Whether it is there, and not an older one of that name.
    private static boolean isThere(byte[] bytes, Location place) {
        if (place.size().orElse(-1) != bytes.length) {
            return false;
        }
        try (var in = place.open()) {
            return Arrays.equals(in.readAllBytes(), bytes);
        } catch (IOException e) {
            throw new TransformException("%s: %s".formatted(place, e.getMessage()), e);
        }
    }

    /// An id as the name of a file: letters, digits, `-`, `_`, and `.` but for the first one. Each
    /// other byte of its UTF-8 becomes `%2F` and so on. Of a long one it is the beginning, with a
    /// hash.
    private static String fileName(String id) {
        var name = URLEncoder.encode(id, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A")
                .replaceFirst("^\\.", "%2E");
        if (name.length() <= LONGEST_NAME) {
            return name.isEmpty() ? "_" : name;
        }
        return name.substring(0, KEPT_OF_LONG_NAME) + "~" + Sha256.hex(id);
    }

    private synchronized void show(Found found) {
        boolean isShown = kind.preview().isPresent()
                && (shown.size() < MOST_ON_SHEET || shown.comparator().compare(found.place, shown.lastKey()) < 0);
        if (!isShown) {
            return;
        }
        try {
            shown.put(found.place, ContactSheet.thumbnail(Image.read(found.image.bytes())));
            if (shown.size() > MOST_ON_SHEET) {
                shown.pollLastEntry();
            }
        } catch (BadInputException e) {
            log.warn("{}: the sheet goes without an image that can't be read: {}", found.place.key, e.getMessage());
        }
    }

    /// Writes the sheet, where one is wanted and there is an image.
    synchronized void writePreview() {
        kind.preview().ifPresent(place -> {
            if (shown.isEmpty()) {
                log.warn("{}: no answer has an image, so there is no sheet", place);
            } else {
                write(ContactSheet.of(List.copyOf(shown.values())).png(), "image/png", place);
            }
        });
    }
}
