package dev.berth.transform;

import dev.berth.content.BatchStrategy;
import dev.berth.hooks.MediaType;
import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;

/// A batch-transform job, in the words of `CreateTransformJob`.
///
/// @param input `S3Uri`: a prefix, a directory or an object, or the manifest
/// @param manifest whether `input` is a manifest that names the objects
/// @param gzip whether objects are decompressed before they are split
/// @param formats the content types, how objects are split and how answers are put together
/// @param strategy empty: as the container says, else `MultiRecord`
/// @param maxPayloadInMb 0 is unlimited; empty: as the container says, else 6
/// @param maxConcurrentTransforms requests at the same time; empty or 0: as the container says,
///   else 1
/// @param environment for a server of the runner's own
/// @param timeout of one request
/// @param retries how often a request is sent again
/// @param patience how long the container may be away
/// @param instances of how many machines that do this job together this is `instance`, from 0
/// @param shardBySize whether objects are dealt out by their sizes, and not by their keys
/// @param splitObjects whether instances share each large object, by ranges of its bytes
/// @param overwrite whether objects whose output is there are done again
/// @param retryErrors whether records that have an error in their output are asked again. Otherwise
///   only those of an envelope are that the container has failed with
/// @param maxFailures how many objects and records may fail before the job ends
/// @param keepsBadRecords whether a bad record becomes an error in its own place. Records are lines
///   then, of JSON or CSV
/// @param envelope where objects are JSON Lines of a service for batches, each a request of its own
/// @param quotas of a job in Bedrock's format
/// @param extract the type of the images in an envelope's answers that are written as files too, or
///   `image/*`
/// @param preview where a sheet of those images goes
/// @param table where objects are tables. `formats` and `processing` are those of the lines that
///   are made of them
public record TransformJob(
    Location input,
    boolean manifest,
    boolean gzip,
    Location output,
    TransformFormats formats,
    DataProcessing processing,
    Optional<BatchStrategy> strategy,
    OptionalInt maxPayloadInMb,
    OptionalInt maxConcurrentTransforms,
    Map<String, String> environment,
    Duration timeout,
    int retries,
    Duration patience,
    int instances,
    int instance,
    boolean shardBySize,
    boolean splitObjects,
    boolean overwrite,
    boolean retryErrors,
    long maxFailures,
    boolean keepsBadRecords,
    Optional<Envelope> envelope,
    Quotas quotas,
    Optional<MediaType> extract,
    Optional<Location> preview,
    Optional<TableJob> table) {

  public TransformJob {
    environment = Map.copyOf(environment);
  }

  /// What the bytes of an output depend on, as far as the job says it.
  String madeBy() {
    var said =
        "%s %s %s %s %s %s"
            .formatted(
                formats, processing, gzip, new TreeMap<>(environment), keepsBadRecords, envelope);
    return table.map(tables -> said + " " + tables).orElse(said);
  }

  /// Where an object's answers go.
  Location output(StoredObject object) {
    return output.resolve(object.key() + ".out");
  }

  /// The content type of the outputs.
  Optional<String> outputType() {
    return table.map(TableJob::outputType).or(formats::accept);
  }

  /// The variables that a container gets for this job.
  public Map<String, String> serverEnvironment() {
    var variables = new LinkedHashMap<String, String>();
    variables.put("BERTH_BAD_RECORDS", keepsBadRecords ? "keep" : "reject");
    variables.put("SAGEMAKER_BATCH", "true");
    strategy.ifPresent(value -> variables.put("SAGEMAKER_BATCH_STRATEGY", value.name()));
    maxPayloadInMb.ifPresent(
        value -> variables.put("SAGEMAKER_MAX_PAYLOAD_IN_MB", String.valueOf(value)));
    maxConcurrentTransforms.stream()
        .filter(value -> value > 0)
        .forEach(
            value -> variables.put("SAGEMAKER_MAX_CONCURRENT_TRANSFORMS", String.valueOf(value)));
    variables.putAll(environment);
    return variables;
  }

  /// What a server of the runner's own does for this job where nobody has told it anything else:
  /// answers of lines that nothing is written between end in a newline, and records that are lines
  /// are answered by lines.
  public Map<String, String> serverDefaults() {
    var variables = new LinkedHashMap<String, String>();
    variables.put(
        "BERTH_TRAILING_NEWLINE", String.valueOf(formats.assembleWith() == AssembleWith.NONE));
    formats
        .lines()
        .ifPresent(type -> variables.put("SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT", type.toString()));
    return variables;
  }
}
