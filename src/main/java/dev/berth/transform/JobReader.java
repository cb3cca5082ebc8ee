package dev.berth.transform;

import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/// Makes a job of what was said of it, and collects what is wrong with that. One use, one thread.
public final class JobReader {

  private static final int MOST_INSTANCES = 10_000;

  private final Map<JobOption, String> options;
  private final Set<JobSwitch> switches;
  private final List<String> problems = new ArrayList<>();
  private final TransformJob.Part part;
  private final Optional<Location> input;

  private JobReader(Map<JobOption, String> options, Set<JobSwitch> switches) {
    this.options = new EnumMap<>(options);
    this.switches = Set.copyOf(switches);
    this.part = readPart();
    this.input = location(JobOption.INPUT);
  }

  /// @param environment for a server of the runner's own
  /// @param switches those that were given
  /// @throws JobException with everything that is wrong
  public static TransformJob read(
      Map<JobOption, String> options, Map<String, String> environment, Set<JobSwitch> switches)
      throws JobException {
    return new JobReader(options, switches).read(environment);
  }

  private TransformJob read(Map<String, String> environment) throws JobException {
    var kind = JobKind.read(this);
    var output = location(JobOption.OUTPUT);
    if (output.filter(place -> isInput(place.resolve(".out"))).isPresent()) {
      wrong(
          JobOption.OUTPUT,
          "%s within the input %s".formatted(output.get(), input.orElseThrow()),
          "another place: outputs would be the next run's inputs");
    }
    var job =
        new TransformJob(
            input.orElse(null),
            isSecond(JobOption.DATA_TYPE, "S3Prefix", "ManifestFile"),
            isSecond(JobOption.COMPRESSION_TYPE, "None", "Gzip"),
            output.orElse(null),
            kind,
            new TransformJob.Invocations(
                number(JobOption.MAX_CONCURRENT_TRANSFORMS, 0, Integer.MAX_VALUE),
                Duration.ofSeconds(number(JobOption.INVOCATIONS_TIMEOUT, 1, 3600).orElse(600)),
                number(JobOption.INVOCATIONS_MAX_RETRIES, 0, 3).orElse(3),
                Duration.ofSeconds(number(JobOption.PATIENCE, 0, 86_400).orElse(60))),
            part,
            switches,
            quota(JobOption.MAX_FAILURES, 0, 1).orElse(Long.MAX_VALUE),
            environment);
    if (job.has(JobSwitch.SPLIT_OBJECTS)) {
      requireSplittable(job);
    }
    if (job.has(JobSwitch.RETRY_ERRORS) && !kind.findsErrors()) {
      problem(
          ("%s: found nothing, expected bedrock or openai with %s, or %s keep with the %s"
                  + " application/jsonlines")
              .formatted(
                  JobOption.FORMAT,
                  JobSwitch.RETRY_ERRORS.flag(),
                  JobOption.BAD_RECORDS.flag(),
                  JobOption.ACCEPT.flag()));
    }
    if (!problems.isEmpty()) {
      throw new JobException(problems);
    }
    return job;
  }

  private void requireSplittable(TransformJob job) {
    job.kind().requireSplittable(this);
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
    if (job.has(JobSwitch.OVERWRITE) && part.count() > 1) {
      problem(
          ("%s: found it with %s, expected none: an instance can't tell the others' new parts from"
                  + " old ones. Remove the outputs")
              .formatted(JobSwitch.OVERWRITE.flag(), JobSwitch.SPLIT_OBJECTS.flag()));
    }
  }

  void cannotSplit(JobOption option, String found, String expected) {
    wrong(option, "%s with %s".formatted(found, JobSwitch.SPLIT_OBJECTS.flag()), expected);
  }

  private TransformJob.Part readPart() {
    var index = number(JobOption.INSTANCE_INDEX, 0, MOST_INSTANCES - 1);
    var count = number(JobOption.INSTANCE_COUNT, 1, MOST_INSTANCES);
    if (index.isPresent() && count.isEmpty() && text(JobOption.INSTANCE_COUNT).isEmpty()) {
      problem(
          "%s: found nothing, expected how many instances there are with the %s %d"
              .formatted(
                  JobOption.INSTANCE_COUNT, JobOption.INSTANCE_INDEX.flag(), index.getAsInt()));
    } else if (index.isEmpty() && count.orElse(1) > 1) {
      problem(
          ("%s: found nothing, expected which of the %d instances this is; %s 1 is for one that"
                  + " does it all")
              .formatted(
                  JobOption.INSTANCE_INDEX, count.getAsInt(), JobOption.INSTANCE_COUNT.flag()));
    } else if (count.isPresent() && index.orElse(0) >= count.getAsInt()) {
      problem(
          "%s: found %d, expected less than the %s of %d"
              .formatted(
                  JobOption.INSTANCE_INDEX,
                  index.orElse(0),
                  JobOption.INSTANCE_COUNT.flag(),
                  count.getAsInt()));
    }
    return new TransformJob.Part(
        index.orElse(0), count.orElse(1), !isSecond(JobOption.SHARD_BY, "size", "key"));
  }

  TransformJob.Part part() {
    return part;
  }

  /// Whether an object of this job's input may be at a place.
  boolean isInput(Location place) {
    return input.filter(place::isListedIn).isPresent();
  }

  void problem(String problem) {
    problems.add(problem);
  }

  /// Tells that an option has another value than it should.
  void wrong(JobOption option, Object found, String expected) {
    problem("%s: found %s, expected %s".formatted(option, found, expected));
  }

  /// Tells of an option that is given and must not be.
  void refuse(JobOption option, String expected) {
    text(option).ifPresent(given -> wrong(option, given, expected));
  }

  boolean has(JobSwitch jobSwitch) {
    return switches.contains(jobSwitch);
  }

  Optional<String> text(JobOption option) {
    return Optional.ofNullable(options.get(option));
  }

  private Optional<Location> location(JobOption option) {
    var text = text(option);
    if (text.isEmpty()) {
      wrong(option, "nothing", option.label());
    }
    try {
      return text.map(Location::of);
    } catch (StorageException e) {
      problem("%s: %s".formatted(option, e.getMessage()));
      return Optional.empty();
    }
  }

  <E extends Enum<E>> Optional<E> word(JobOption option, Class<E> type) {
    var text = text(option);
    var word = text.flatMap(given -> ApiWords.parse(type, given));
    if (text.isPresent() && word.isEmpty()) {
      wrong(option, text.get(), ApiWords.expected(List.of(type.getEnumConstants())));
    }
    return word;
  }

  /// Whether the second of two words was given; the first stands for nothing too.
  boolean isSecond(JobOption option, String first, String second) {
    var text = text(option).orElse(first);
    if (!text.equals(first) && !text.equals(second)) {
      wrong(option, text, first + " or " + second);
    }
    return text.equals(second);
  }

  OptionalLong quota(JobOption option, int least, long unit) {
    return number(option, least, Integer.MAX_VALUE).stream().mapToLong(n -> n * unit).findFirst();
  }

  OptionalInt number(JobOption option, int least, int most) {
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
    var end = most == Integer.MAX_VALUE ? "" : " to " + most;
    wrong(option, text.get(), "a whole number from " + least + end);
    return OptionalInt.empty();
  }
}
