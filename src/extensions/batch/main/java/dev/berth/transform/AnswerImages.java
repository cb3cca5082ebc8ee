package dev.berth.transform;

import dev.berth.content.Sha256;
import dev.berth.content.UniqueNames;
import dev.berth.hooks.BadInputException;
import dev.berth.image.ContactSheet;
import dev.berth.image.Image;
import dev.berth.json.JsonText;
import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
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

    /// A file system takes 255 bytes, and there may come a number and `.part-…`.
    private static final int LONGEST_NAME = 150;

    private static final int KEPT_OF_LONG_NAME = 120;

    private final TransformJob job;
    private final Envelopes kind;
    private final ExecutorService threads;

    /// What the sheet shows of the outputs. Guarded by the monitor.
    private final TreeMap<Place, Image> shown =
            new TreeMap<>(Comparator.comparing(Place::key).thenComparingInt(Place::number));

    /// Of an image in its job: the key of its object, and its number there.
    private record Place(String key, int number) {}

    AnswerImages(TransformJob job, Envelopes kind, ExecutorService threads) {
        this.job = job;
        this.kind = kind;
        this.threads = threads;
    }

    /// Takes the images of an object's output.
    ///
    /// @param wasThere whether an earlier run has made it, and maybe the files too
    /// @throws TransformException where it is no output of such a job
    void add(StoredObject object, boolean wasThere) throws InterruptedException {
        if (kind.extract().isEmpty() && kind.preview().isEmpty()) {
            return;
        }
        var names = new UniqueNames();
        var writing = new ArrayDeque<Future<?>>();
        int images = 0;
        try (var lines = Envelope.lines(job.output(object).open())) {
            for (var text = lines.readLine(); text != null; text = lines.readLine()) {
                var line = JsonText.payload(text);
                var envelope = kind.envelope();
                for (var image : ImageText.in(envelope.answer(line))) {
                    if (kind.extract()
                            .filter(type -> type.includes(image.type()))
                            .isPresent()) {
                        var name = names.name("%s.%s"
                                .formatted(fileName(line.path(envelope.id()).asText()), image.end()));
                        var file = job.output().resolve(object.key()).resolve(name);
                        writing.add(threads.submit(() -> write(image, file, wasThere)));
                        await(writing, MOST_WRITTEN);
                    }
                    var place = new Place(object.key(), images++);
                    if (mayBeShown(place)) {
                        show(place, image);
                    }
                }
            }
            await(writing, 0);
        } catch (IOException e) {
            throw new TransformException(
                    "%s: found what is no output of such a job: %s".formatted(job.output(object), e.getMessage()), e);
        } finally {
            writing.forEach(file -> file.cancel(true));
        }
    }

    /// Waits for the oldest until there are no more than `most` under way.
    private static void await(ArrayDeque<Future<?>> writing, int most) throws InterruptedException {
        while (writing.size() > most) {
            try {
                writing.remove().get();
            } catch (ExecutionException e) {
                throw TransformException.thrown(e.getCause());
            }
        }
    }

    private void write(ImageText image, Location place, boolean mayBeThere) {
        if (mayBeThere && isThere(image.bytes(), place)) {
            return;
        }
        try (var out = place.create(Optional.of(image.type().toString()))) {
            out.write(image.bytes());
            out.commit();
        }
    }

    /// Whether it is there, and not an older one of that name.
    private boolean isThere(byte[] bytes, Location place) {
        var size = place.size();
        if (size.isEmpty() || size.getAsLong() != bytes.length) {
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
    static String fileName(String id) {
        var name = URLEncoder.encode(id, StandardCharsets.UTF_8)
                .replace("+", "%20")
                .replace("*", "%2A")
                .replaceFirst("^\\.", "%2E");
        if (name.length() <= LONGEST_NAME) {
            return name.isEmpty() ? "_" : name;
        }
        return name.substring(0, KEPT_OF_LONG_NAME) + "~" + Sha256.hex(id);
    }

    private synchronized boolean mayBeShown(Place place) {
        return kind.preview().isPresent()
                && (shown.size() < MOST_ON_SHEET || shown.comparator().compare(place, shown.lastKey()) < 0);
    }

    private void show(Place place, ImageText image) {
        try {
            var small = ContactSheet.thumbnail(Image.read(image.bytes()));
            synchronized (this) {
                shown.put(place, small);
                if (shown.size() > MOST_ON_SHEET) {
                    shown.pollLastEntry();
                }
            }
        } catch (BadInputException e) {
            log.warn("{}: the sheet goes without an image that can't be read: {}", place.key, e.getMessage());
        }
    }

    private synchronized List<Image> pictures() {
        return List.copyOf(shown.values());
    }

    /// Writes the sheet, where one is wanted and there is an image.
    void writePreview() {
        if (kind.preview().isEmpty()) {
            return;
        }
        var place = kind.preview().get();
        var pictures = pictures();
        if (pictures.isEmpty()) {
            log.warn("{}: no answer has an image, so there is no sheet", place);
            return;
        }
        try (var out = place.create(Optional.of("image/png"))) {
            out.write(ContactSheet.of(pictures).png());
            out.commit();
        }
    }
}
