package dev.berth.transform;

import dev.berth.content.Sha256;
import dev.berth.content.UniqueNames;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Gatherers;
import java.util.stream.Stream;

/// The images in the answers of an envelope, as files beside the output.
///
/// They are read from an output that is whole, record by record. So their names are the same
/// however the records were answered, and a job that is killed between an output and its files
/// writes them when it runs again.
final class AnswerImages {

    /// On their way to S3 at the same time, for one object.
    private static final int MOST_WRITTEN = 8;

    /// A file system takes 255 bytes, and there may come a number, and `.berth-part` for a while.
    private static final int LONGEST_NAME = 150;

    private static final int KEPT_OF_LONG_NAME = 120;

    private final TransformJob job;
    private final Envelope envelope;
    private final MediaType extracted;

    private record Found(ImageText image, Location file) {}

    /// @param extracted the type of those that are written, or `image/*`
    AnswerImages(TransformJob job, Envelope envelope, MediaType extracted) {
        this.job = job;
        this.envelope = envelope;
        this.extracted = extracted;
    }

    /// Takes the images of an object's output.
    ///
    /// @param wasThere whether an earlier run has made it, and maybe the files too
    /// @throws TransformException where it is no output of such a job
    void add(StoredObject object, boolean wasThere) {
        var names = new UniqueNames();
        try (var lines = Envelope.lines(job.output(object).open())) {
            lines.lines()
                    .flatMap(line -> found(line, job.output().resolve(object.key()), names))
                    .gather(Gatherers.mapConcurrent(MOST_WRITTEN, image -> written(image, wasThere)))
                    .forEach(_ -> {});
        } catch (IOException | UncheckedIOException e) {
            throw new TransformException(
                    "%s: found what is no output of such a job: %s".formatted(job.output(object), e.getMessage()), e);
        }
    }

    private Stream<Found> found(String line, Location directory, UniqueNames names) {
        try {
            var tree = JsonText.payload(line);
            var id = tree.path(envelope.id()).asText();
            return ImageText.in(envelope.answer(tree)).stream()
                    .filter(image -> extracted.includes(image.type()))
                    .map(image -> new Found(
                            image, directory.resolve(names.name("%s.%s".formatted(fileName(id), image.end())))));
        } catch (NotJsonException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Found written(Found found, boolean mayBeThere) {
        var bytes = found.image.bytes();
        if (!mayBeThere || !isThere(bytes, found.file)) {
            try (var out = found.file.create(Optional.of(found.image.type().toString()))) {
                out.write(bytes);
                out.commit();
            }
        }
        return found;
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
}
