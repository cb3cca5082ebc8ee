package dev.berth.transform;

import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/// A batch-transform job, in the words of `CreateTransformJob`.
///
/// @param input `S3Uri`: a prefix, a directory or an object, or the manifest
/// @param manifest whether `input` is a manifest that names the objects
/// @param gzip whether objects are decompressed before they are split
/// @param kind what the objects are
/// @param maxFailures how many objects and records may fail before the job ends
/// @param environment for a server of the runner's own
public record TransformJob(
    Location input,
    boolean manifest,
    boolean gzip,
    Location output,
    JobKind kind,
    Invocations invocations,
    Part part,
    Set<JobSwitch> switches,
    long maxFailures,
    Map<String, String> environment) {

  /// How the container is asked.
  ///
  /// @param maxConcurrent requests at the same time; empty or 0: as the container says, else 1
  /// @param timeout of one request
  /// @param retries how often a request is sent again
  /// @param patience how long the container may be away
  record Invocations(OptionalInt maxConcurrent, Duration timeout, int retries, Duration patience) {}

  /// What this machine does of the job.
  ///
  /// @param index which of the machines it is, from 0
  /// @param count how many do this job together
  /// @param bySize whether objects are dealt out by their sizes, and not by their keys
  public record Part(int index, int count, boolean bySize) {}

  public TransformJob {
    switches = Set.copyOf(switches);
    environment = Map.copyOf(environment);
  }

  boolean has(JobSwitch jobSwitch) {
    return switches.contains(jobSwitch);
  }

  boolean isBedrock() {
    return kind instanceof Envelopes lines && lines.envelope() == Envelope.BEDROCK;
  }

  /// What the bytes of an output depend on, as far as the job says it.
  String madeBy() {
    return "%s %s %s".formatted(kind.madeBy(), gzip, new TreeMap<>(environment));
  }

  /// Where an object's answers go.
  Location output(StoredObject object) {
    return output.resolve(object.key() + ".out");
  }

  /// The object whose output would be that in which an instance of a job in Bedrock's format counts
  /// its records.
  ///
  /// @param instance its number, or a pattern of that
  String countsName(String instance) {
    return part.count == 1
        ? "manifest.json"
        : "manifest-%s-of-%d.json".formatted(instance, part.count);
  }

  /// The variables of a server of the runner's own: as the platform would start it for this job.
  ///
  /// @param environment wins over what such a server does by default: answers of lines that nothing
  ///   is written between end in a newline, and records that are lines are answered by lines
  public Map<String, String> serverVariables(Map<String, String> environment) {
    var records = kind.records();
    var formats = records.formats();
    var variables = new HashMap<String, String>();
    variables.put(
        "BERTH_TRAILING_NEWLINE", String.valueOf(formats.assembleWith() == AssembleWith.NONE));
    formats
        .lines()
        .ifPresent(type -> variables.put("SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT", type.toString()));
    variables.putAll(environment);
    variables.put("BERTH_BAD_RECORDS", records.keepsBadRecords() ? "keep" : "reject");
    variables.put("SAGEMAKER_BATCH", "true");
    records.strategy().ifPresent(value -> variables.put("SAGEMAKER_BATCH_STRATEGY", value.name()));
    records
        .maxPayloadInMb()
        .ifPresent(value -> variables.put("SAGEMAKER_MAX_PAYLOAD_IN_MB", String.valueOf(value)));
    invocations.maxConcurrent.stream()
        .filter(value -> value > 0)
        .forEach(
            value -> variables.put("SAGEMAKER_MAX_CONCURRENT_TRANSFORMS", String.valueOf(value)));
    variables.putAll(this.environment);
    return variables;
  }
}
