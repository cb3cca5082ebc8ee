package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Gunzip;
import dev.berth.json.JsonText;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/// The objects of a job: those below its prefix, or those that its manifest names. Opens them, unpacked
/// where the job says that they are packed. Used by any threads.
///
/// @param input `S3Uri`: a prefix, a directory or an object, or the manifest
/// @param manifest whether `input` is a manifest that names the objects
/// @param gzip whether objects are decompressed before they are split
record ObjectSource(Storage storage, Location input, boolean manifest, boolean gzip) {

    /// What jobs keep beside their outputs. A directory's hidden files are in no listing, those of S3
    /// are.
    private static final Pattern OWN = Pattern.compile("(^|/)\\.berth-");

    private static final int BUFFER = 1 << 16;
    private static final int COUNTED_AT_ONCE = 8;
    private static final long COUNTED_BYTES = 64 << 20;

    Stream<StoredObject> objects() {
        return manifest
                ? named()
                : input.list().filter(object -> !OWN.matcher(object.key()).find());
    }

    TransformException none() {
        return new TransformException(
                "%s: found no object, expected one at least; --input names a file, a directory with files or s3://…"
                        .formatted(input));
    }

    /// Whether several objects may have one key: where names stand in a manifest, or a prefix ends
    /// within one.
    boolean mayShareKeys() {
        return manifest || input.mayRepeatKeys();
    }

    /// Whether an object looks packed that is read as it is.
    boolean mayBePacked(StoredObject object) {
        return !gzip && object.key().endsWith(".gz");
    }

    /// The lists of a manifest one behind the other, be they one list or several, or have a line for
    /// each of their elements.
    private Stream<StoredObject> named() {
        List<JsonNode> elements;
        try (var in = input.open()) {
            elements = JsonText.readAll(in.readAllBytes()).stream()
                    .flatMap(value -> value.isArray() ? value.valueStream() : Stream.of(value))
                    .toList();
        } catch (IOException e) {
            throw new TransformException("%s: found no manifest: %s".formatted(input, e.getMessage()), e);
        }
        if (elements.isEmpty() || !elements.getFirst().path("prefix").isTextual()) {
            throw new TransformException(
                    "%s: found no manifest, expected [{\"prefix\": \"s3://…\"}, \"name\", …]".formatted(input));
        }
        var prefix = "";
        var objects = new ArrayList<StoredObject>();
        for (int i = 0; i < elements.size(); i++) {
            var element = elements.get(i);
            if (element.path("prefix").isTextual()) {
                prefix = element.path("prefix").textValue();
            } else if (element.isTextual() && !element.textValue().isEmpty()) {
                var name = element.textValue();
                objects.add(new StoredObject(storage.at(prefix + name), name, 0));
            } else {
                throw new TransformException(
                        "%s: [%d]: found %s, expected a name".formatted(input, i, Excerpt.of(element)));
            }
        }
        return objects.stream();
    }

    /// What an object may have unpacked; one whose size is not known, or that is packed, may have
    /// anything.
    long mostBytes(StoredObject object) {
        return gzip || object.size() == 0 ? Long.MAX_VALUE : object.size();
    }

    InputStream open(StoredObject object) throws IOException {
        return open(new ObjectRange(object, 0, 1), new LongAdder());
    }

    /// Opens a range of an object, from the byte before it on where there is one. It goes on to the
    /// object's end.
    ///
    /// @param read counts its bytes as they are stored
    InputStream open(ObjectRange range, LongAdder read) throws IOException {
        var stored = range.object().open(Math.max(0, range.start() - 1));
        return unpacked(new FilterInputStream(stored) {
            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                int count = in.read(bytes, offset, length);
                read.add(Math.max(0, count));
                return count;
            }
        });
    }

    /// How many newlines the first bytes of an object have. Reads at several places at once, because
    /// S3 gives one reader less than it could count.
    long newlines(StoredObject object, long bytes) throws InterruptedException {
        try (var threads =
                Executors.newFixedThreadPool(COUNTED_AT_ONCE, Thread.ofVirtual().factory())) {
            var counts = LongStream.iterate(0, start -> start < bytes, start -> start + COUNTED_BYTES)
                    .mapToObj(start ->
                            threads.submit(() -> newlines(object, start, (int) Math.min(COUNTED_BYTES, bytes - start))))
                    .toList();
            long newlines = 0;
            for (var count : counts) {
                newlines += count.get();
            }
            return newlines;
        } catch (ExecutionException e) {
            throw new TransformException(
                    "its lines can't be counted: " + e.getCause().getMessage(), e.getCause());
        }
    }

    private long newlines(StoredObject object, long start, int bytes) throws IOException {
        try (var in = object.open(start)) {
            long newlines = 0;
            for (int left = bytes; left > 0; left -= BUFFER) {
                for (byte each : in.readNBytes(Math.min(BUFFER, left))) {
                    newlines += each == '\n' ? 1 : 0;
                }
            }
            return newlines;
        }
    }

    private InputStream unpacked(InputStream in) throws IOException {
        try {
            return gzip ? Gunzip.open(in, BUFFER) : in;
        } catch (IOException | RuntimeException e) {
            in.close();
            throw e;
        }
    }
}
