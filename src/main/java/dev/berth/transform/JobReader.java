package dev.berth.transform;

import dev.berth.content.BatchStrategy;
import dev.berth.hooks.MediaType;
import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import dev.berth.transform.filter.SliceEnd;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/// Makes a job of what was said of it, and collects what is wrong with that. One use, one thread.
public final class JobReader {

  private static final int DEFAULT_TIMEOUT = 600;
  private static final int LONGEST_TIMEOUT = 3600;
  private static final int DEFAULT_PATIENCE = 60;
  private static final int MOST_INSTANCES = 10_000;
  private static final List<JobOption> NOT_OF_ENVELOPES =
      List.of(
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
  private static final List<JobOption> OF_ENVELOPES = List.of(JobOption.EXTRACT, JobOption.PREVIEW);
  private static final int DEFAULT_RETRIES = 3;
  private static final int MOST_PAYLOAD = 100;

  private final Map<JobOption, String> options;
  private final List<String> problems = new ArrayList<>();

  private JobReader(Map<JobOption, String> options) {
    this.options = new EnumMap<>(options);
  }

  /// @param environment for a server of the runner's own
  /// @param switches those that were given
  /// @throws JobException with everything that is wrong
  public static TransformJob read(
      Map<JobOption, String> options, Map<String, String> environment, Set<JobSwitch> switches)
      throws JobException {
    return new JobReader(options).read(environment, switches);
  }

  private TransformJob read(Map<String, String> environment, Set<JobSwitch> switches)
      throws JobException {
    var format = text(JobOption.FORMAT).orElse("sagemaker");
    var envelope =
        Arrays.stream(Envelope.values())
            .filter(known -> format.equals(known.toString()))
            .findFirst();
    if (envelope.isEmpty() && !format.equals("sagemaker")) {
      problems.add(
          "%s: found %s, expected sagemaker, bedrock or openai"
              .formatted(JobOption.FORMAT, format));
    }
    boolean bedrock = envelope.equals(Optional.of(Envelope.BEDROCK));
    boolean overwrite = switches.contains(JobSwitch.OVERWRITE);
    if (envelope.isEmpty()) {
      OF_ENVELOPES.stream()
          .filter(options::containsKey)
          .forEach(
              option ->
                  problems.add(
                      "%s: found %s, expected bedrock or openai with %s"
                          .formatted(JobOption.FORMAT, format, option.flag())));
    }
    var given = Set.copyOf(options.keySet());
    if (envelope.isPresent()) {
      options.put(JobOption.CONTENT_TYPE, "application/json");
      options.put(JobOption.ACCEPT, "application/json");
    }
    var table = TableJob.read(options, problems);
    var formats =
        table.isPresent()
            ? TableJob.LINES
            : new TransformFormats(
                text(JobOption.CONTENT_TYPE),
                text(JobOption.ACCEPT),
                word(JobOption.SPLIT_TYPE, SplitType.class).orElse(SplitType.NONE),
                word(JobOption.ASSEMBLE_WITH, AssembleWith.class).orElse(AssembleWith.NONE));
    var processing =
        new DataProcessing(
            filter(JobOption.INPUT_FILTER),
            table
                .filter(TableJob::areJoined)
                .map(_ -> "None")
                .or(() -> text(JobOption.JOIN_SOURCE))
                .orElse("None"),
            filter(JobOption.OUTPUT_FILTER),
            switches.contains(JobSwitch.INCLUSIVE_SLICES)
                ? SliceEnd.INCLUSIVE
                : SliceEnd.EXCLUSIVE);
    problems.addAll(processing.problems(formats));
    boolean keeps = oneOf(JobOption.BAD_RECORDS, "reject", "keep");
    if (keeps
        && envelope.isEmpty()
        && (formats.lines().isEmpty() || formats.answeredLines().isEmpty())) {
      problems.add(
          ("%s: found keep, expected it with %s Line and lines of JSON or CSV as the %s and the %s: an error has its "
                  + "own line")
              .formatted(
                  JobOption.BAD_RECORDS,
                  JobOption.SPLIT_TYPE.flag(),
                  JobOption.CONTENT_TYPE.flag(),
                  JobOption.ACCEPT.flag()));
    }
    if (envelope.isPresent()) {
      NOT_OF_ENVELOPES.stream()
          .filter(given::contains)
          .forEach(
              option ->
                  problems.add(
                      "%s: found %s, expected none with %s %s, whose records are lines of JSON, each a request"
                          .formatted(
                              option, options.get(option), JobOption.FORMAT.flag(), format)));
    }
    var index = number(JobOption.INSTANCE_INDEX, 0, MOST_INSTANCES - 1);
    var count = number(JobOption.INSTANCE_COUNT, 1, MOST_INSTANCES);
    if (index.isPresent() && count.isEmpty() && text(JobOption.INSTANCE_COUNT).isEmpty()) {
      problems.add(
          "%s: found nothing, expected how many instances there are with the %s %d"
              .formatted(
                  JobOption.INSTANCE_COUNT, JobOption.INSTANCE_INDEX.flag(), index.getAsInt()));
    } else if (index.isEmpty() && count.orElse(1) > 1) {
      problems.add(
          "%s: found nothing, expected which of the %d instances this is; %s 1 is for one that does it all"
              .formatted(
                  JobOption.INSTANCE_INDEX, count.getAsInt(), JobOption.INSTANCE_COUNT.flag()));
    }
    int instances = count.orElse(1);
    if (count.isPresent() && index.orElse(0) >= instances) {
      problems.add(
          "%s: found %d, expected less than the %s of %d"
              .formatted(
                  JobOption.INSTANCE_INDEX,
                  index.orElse(0),
                  JobOption.INSTANCE_COUNT.flag(),
                  instances));
    }
    var input = location(JobOption.INPUT);
    var output = location(JobOption.OUTPUT);
    if (input != null && output != null && isWithin(output, input)) {
      problems.add(
          "%s: found %s within the input %s, expected another place: outputs would be the next run's inputs"
              .formatted(JobOption.OUTPUT, output, input));
    }
    var job =
        new TransformJob(
            input,
            oneOf(JobOption.DATA_TYPE, "S3Prefix", "ManifestFile"),
            oneOf(JobOption.COMPRESSION_TYPE, "None", "Gzip"),
            output,
            formats,
            processing,
            word(JobOption.BATCH_STRATEGY, BatchStrategy.class),
            number(JobOption.MAX_PAYLOAD_IN_MB, 0, MOST_PAYLOAD),
            number(JobOption.MAX_CONCURRENT_TRANSFORMS, 0, Integer.MAX_VALUE),
            environment,
            Duration.ofSeconds(
                number(JobOption.INVOCATIONS_TIMEOUT, 1, LONGEST_TIMEOUT).orElse(DEFAULT_TIMEOUT)),
            number(JobOption.INVOCATIONS_MAX_RETRIES, 0, 3).orElse(DEFAULT_RETRIES),
            Duration.ofSeconds(number(JobOption.PATIENCE, 0, 86_400).orElse(DEFAULT_PATIENCE)),
            instances,
            index.orElse(0),
            !oneOf(JobOption.SHARD_BY, "size", "key"),
            switches.contains(JobSwitch.SPLIT_OBJECTS),
            overwrite,
            keeps,
            envelope,
            quotas(bedrock),
            extract(),
            preview(input, index.orElse(0), instances),
            table);
    if (job.splitObjects()) {
      requireSplittable(job);
    }
    if (!problems.isEmpty()) {
      throw new JobException(problems);
    }
    return job;
  }

  private Optional<MediaType> extract() {
    var text = text(JobOption.EXTRACT);
    var type =
        text.flatMap(MediaType::parse)
            .filter(parsed -> ImageText.TYPES.stream().anyMatch(parsed::includes));
    if (text.isPresent() && (type.isEmpty() || !type.get().type().equals("image"))) {
      problems.add(
          "%s: found %s, expected image/* or one of %s"
              .formatted(JobOption.EXTRACT, text.get(), ImageText.TYPES));
    }
    return type;
  }

  /// Each of several instances has a sheet of its own, `sheet-0-of-2.png`.
  private Optional<Location> preview(Location input, int instance, int instances) {
    var text = text(JobOption.PREVIEW);
    if (text.isEmpty()) {
      return Optional.empty();
    }
    if (!text.get().endsWith(".png")) {
      problems.add(
          "%s: found %s, expected a name that ends in .png"
              .formatted(JobOption.PREVIEW, text.get()));
      return Optional.empty();
    }
    try {
      var place =
          Location.of(
              instances == 1
                  ? text.get()
                  : text.get()
                      .replaceFirst("\\.png$", "-%d-of-%d.png".formatted(instance, instances)));
      if (input != null && isWithin(place, input)) {
        problems.add(
            "%s: found %s within the input %s, expected another place: it would be the next run's input"
                .formatted(JobOption.PREVIEW, place, input));
      }
      return Optional.of(place);
    } catch (StorageException e) {
      problems.add("%s: %s".formatted(JobOption.PREVIEW, e.getMessage()));
      return Optional.empty();
    }
  }

  /// An output must not depend on which records share a request, nor on how many instances there
  /// are.
  private void requireSplittable(TransformJob job) {
    if (job.envelope().isEmpty() && job.formats().splitType() != SplitType.LINE) {
      cannotSplit(
          JobOption.SPLIT_TYPE,
          job.formats().splitType().toString(),
          "Line: only lines have ends that can be found");
    }
    if (job.table().isPresent()) {
      cannotSplit(
          JobOption.CONTENT_TYPE,
          job.table().get().format().type(),
          "lines: a table is read from its end");
    }
    if (job.gzip()) {
      cannotSplit(
          JobOption.COMPRESSION_TYPE,
          "Gzip",
          "None: a packed object can only be read from its beginning");
    }
    if (job.manifest()) {
      cannotSplit(
          JobOption.DATA_TYPE,
          "ManifestFile",
          "S3Prefix: a manifest does not say how long its objects are");
    }
    if (job.maxPayloadInMb().equals(OptionalInt.of(0))) {
      cannotSplit(
          JobOption.MAX_PAYLOAD_IN_MB, "0", "1 to 100: an object in one request is not split");
    }
    boolean isOfRecords =
        job.envelope().isPresent()
            || job.strategy().equals(Optional.of(BatchStrategy.SINGLE_RECORD));
    if (!isOfRecords
        && (job.formats().accept().isEmpty() || job.formats().answeredLines().isEmpty())) {
      cannotSplit(
          JobOption.ACCEPT,
          job.formats().accept().orElse("nothing"),
          "application/jsonlines or text/csv, or %s SingleRecord: the answer to several records must be a line for each"
              .formatted(JobOption.BATCH_STRATEGY.flag()));
    }
    if (job.extract().isPresent() || job.preview().isPresent()) {
      var option = job.extract().isPresent() ? JobOption.EXTRACT : JobOption.PREVIEW;
      problems.add(
          "%s: found it with %s, expected none: the images of an output are read when it is whole"
              .formatted(option, JobSwitch.SPLIT_OBJECTS.flag()));
    }
    if (job.overwrite() && job.instances() > 1) {
      problems.add(
          ("%s: found it with %s, expected none: an instance can't tell the others' new parts from old ones. "
                  + "Remove the outputs")
              .formatted(JobSwitch.OVERWRITE.flag(), JobSwitch.SPLIT_OBJECTS.flag()));
    }
  }

  private void cannotSplit(JobOption option, String found, String expected) {
    problems.add(
        "%s: found %s with %s, expected %s"
            .formatted(option, found, JobSwitch.SPLIT_OBJECTS.flag(), expected));
  }

  private Quotas quotas(boolean bedrock) {
    var quotas =
        new Quotas(
            quota(JobOption.MIN_RECORDS, 1),
            quota(JobOption.MAX_RECORDS, 1),
            quota(JobOption.MAX_OBJECT_SIZE_IN_MB, 1 << 20),
            quota(JobOption.MAX_JOB_SIZE_IN_MB, 1 << 20));
    if (!bedrock && !quotas.equals(Quotas.NONE)) {
      problems.add("%s: found nothing, expected bedrock with a quota".formatted(JobOption.FORMAT));
    }
    return quotas;
  }

  private OptionalLong quota(JobOption option, long unit) {
    return number(option, 1, Integer.MAX_VALUE).stream().mapToLong(n -> n * unit).findFirst();
  }

  /// The API allows an empty one, which filters nothing.
  private String filter(JobOption option) {
    return text(option).filter(filter -> !filter.isEmpty()).orElse("$");
  }

  private Optional<String> text(JobOption option) {
    return Optional.ofNullable(options.get(option));
  }

  private Location location(JobOption option) {
    var text = text(option);
    if (text.isEmpty()) {
      problems.add("%s: found nothing, expected %s".formatted(option, option.label()));
      return null;
    }
    try {
      return Location.of(text.get());
    } catch (StorageException e) {
      problems.add("%s: %s".formatted(option, e.getMessage()));
      return null;
    }
  }

  private static boolean isWithin(Location inner, Location outer) {
    return switch (inner) {
      case Location.Local(var path, _) ->
          outer instanceof Location.Local(var above, _)
              && path.toAbsolutePath().normalize().startsWith(above.toAbsolutePath().normalize());
      case Location.S3(var bucket, var key, _) ->
          outer instanceof Location.S3(var otherBucket, var prefix, _)
              && bucket.equals(otherBucket)
              && key.startsWith(prefix);
    };
  }

  private <E extends Enum<E>> Optional<E> word(JobOption option, Class<E> type) {
    var text = text(option);
    var word = text.flatMap(given -> ApiWords.parse(type, given));
    if (text.isPresent() && word.isEmpty()) {
      problems.add(
          "%s: found %s, expected %s"
              .formatted(option, text.get(), ApiWords.expected(List.of(type.getEnumConstants()))));
    }
    return word;
  }

  /// Whether the second of two words was given; the first stands for nothing too.
  private boolean oneOf(JobOption option, String first, String second) {
    var text = text(option).orElse(first);
    if (!text.equals(first) && !text.equals(second)) {
      problems.add("%s: found %s, expected %s or %s".formatted(option, text, first, second));
    }
    return text.equals(second);
  }

  private OptionalInt number(JobOption option, int least, int most) {
    var text = text(option);
    if (text.isEmpty()) {
      return OptionalInt.empty();
    }
    try {
      int number = Integer.parseInt(text.get());
      if (number >= least && number <= most) {
        return OptionalInt.of(number);
      }
    } catch (NumberFormatException _) {
      // It is named below.
    }
    problems.add(
        "%s: found %s, expected a whole number from %d%s"
            .formatted(option, text.get(), least, most == Integer.MAX_VALUE ? "" : " to " + most));
    return OptionalInt.empty();
  }
}
