package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.content.Excerpt;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// The objects of a job: those below its prefix, or those that its manifest names.
final class JobObjects {

  private static final ObjectMapper JSON = new ObjectMapper();

  /// What jobs keep beside their outputs. A directory's hidden files are in no listing, those of S3
  /// are.
  private static final Pattern OWN = Pattern.compile("(^|/)\\.berth-");

  private JobObjects() {}

  static Stream<StoredObject> of(TransformJob job, Storage storage) {
    return job.manifest()
        ? named(manifest(job.input(), storage), job)
        : storage.list(job.input()).filter(object -> !OWN.matcher(object.key()).find());
  }

  static TransformException none(TransformJob job) {
    return new TransformException(
        "%s: found no object, expected one at least".formatted(job.input()), null);
  }

  /// Whether several objects may have one key: where names stand in a manifest, or a prefix ends
  /// within one.
  static boolean mayShareKeys(TransformJob job) {
    return job.manifest()
        || (job.input() instanceof Location.S3(_, var prefix, _)
            && !prefix.isEmpty()
            && !prefix.endsWith("/"));
  }

  private static Stream<StoredObject> named(JsonNode manifest, TransformJob job) {
    var prefix = manifest.path(0).path("prefix");
    if (!manifest.isArray() || !prefix.isTextual()) {
      throw new TransformException(
          "%s: found no manifest, expected [{\"prefix\": \"s3://…\"}, \"name\", …]"
              .formatted(job.input()),
          null);
    }
    return IntStream.range(1, manifest.size())
        .mapToObj(
            i -> {
              var element = manifest.path(i);
              if (!element.isTextual() || element.textValue().isEmpty()) {
                throw new TransformException(
                    "%s: [%d]: found %s, expected a name"
                        .formatted(job.input(), i, Excerpt.of(element)),
                    null);
              }
              var name = element.textValue();
              return new StoredObject(Location.of(prefix.textValue() + name), name, 0);
            });
  }

  private static JsonNode manifest(Location location, Storage storage) {
    try (var in = storage.open(location)) {
      return JSON.readTree(in);
    } catch (IOException e) {
      throw new TransformException(
          "%s: found no manifest: %s".formatted(location, e.getMessage()), e);
    }
  }
}
