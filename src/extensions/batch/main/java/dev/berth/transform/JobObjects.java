package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.json.JsonText;
import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The objects of a job: those below its prefix, or those that its manifest names.
final class JobObjects {

    /// What jobs keep beside their outputs. A directory's hidden files are in no listing, those of S3
    /// are.
    private static final Pattern OWN = Pattern.compile("(^|/)\\.berth-");

    private JobObjects() {}

    static Stream<StoredObject> of(TransformJob job) {
        return job.manifest()
                ? named(job)
                : job.input().list().filter(object -> !OWN.matcher(object.key()).find());
    }

    static TransformException none(TransformJob job) {
        return new TransformException("%s: found no object, expected one at least".formatted(job.input()));
    }

    /// Whether several objects may have one key: where names stand in a manifest, or a prefix ends
    /// within one.
    static boolean mayShareKeys(TransformJob job) {
        return job.manifest() || job.input().mayRepeatKeys();
    }

    /// The lists of a manifest one behind the other, be they one list or several, or have a line for
    /// each of their elements.
    private static Stream<StoredObject> named(TransformJob job) {
        var elements = values(job.input()).stream()
                .flatMap(value -> value.isArray() ? value.valueStream() : Stream.of(value))
                .toList();
        if (elements.isEmpty() || !elements.getFirst().path("prefix").isTextual()) {
            throw new TransformException(
                    "%s: found no manifest, expected [{\"prefix\": \"s3://…\"}, \"name\", …]".formatted(job.input()));
        }
        var prefix = "";
        var objects = new ArrayList<StoredObject>();
        for (int i = 0; i < elements.size(); i++) {
            var element = elements.get(i);
            if (element.path("prefix").isTextual()) {
                prefix = element.path("prefix").textValue();
            } else if (element.isTextual() && !element.textValue().isEmpty()) {
                var name = element.textValue();
                objects.add(new StoredObject(job.storage().at(prefix + name), name, 0));
            } else {
                throw new TransformException(
                        "%s: [%d]: found %s, expected a name".formatted(job.input(), i, Excerpt.of(element)));
            }
        }
        return objects.stream();
    }

    private static List<JsonNode> values(Location location) {
        try (var in = location.open()) {
            return JsonText.readAll(in.readAllBytes());
        } catch (IOException e) {
            throw new TransformException("%s: found no manifest: %s".formatted(location, e.getMessage()), e);
        }
    }
}
