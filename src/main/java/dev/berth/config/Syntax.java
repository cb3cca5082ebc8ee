package dev.berth.config;

import dev.berth.hooks.MediaType;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// How the text of a setting is read and shown.
///
/// @param label stands for the value in `--help`, such as `<seconds>`
/// @param expected what a good value is, to end the sentence "expected …"
/// @param read the value; empty where the text is not one
/// @param show the value as the start-up log and the documentation write it, with its unit
public record Syntax<T>(
    String label, String expected, Function<String, Optional<T>> read, Function<T, String> show) {

  /// Of any unit: enough for everybody, and far from what overflows.
  private static final int MOST_UNITS = 1_000_000;

  private static final String FILE = "file://";
  private static final long MEBIBYTE = 1024 * 1024;
  private static final String INSTANCE_TYPE =
      "cpu|gpu|inf1|inf2|trn1|(ml\\.)?[a-z]+\\d+[a-z-]*\\.[a-z0-9-]+";
  private static final Pattern VISIBLE_CORES = Pattern.compile("(\\d{1,4})(?:-(\\d{1,4}))?");

  /// No segment begins with a colon, which routers take for a parameter.
  private static final String ROUTE = "(/(?!:)[a-zA-Z0-9_.:@~\\-]*)+";

  /// CloudWatch's own rules for a name and a value.
  private static final Pattern DIMENSION =
      Pattern.compile("((?!_aws=)[!-9;-<>-~][!-<>-~]{0,254})=([!-~][ -~]{0,1023})");

  /// Of the 30 that CloudWatch takes, two are left for the server's own.
  private static final int MOST_DIMENSIONS = 28;

  private static final String METRICS_PATH = "/(?!.*\\.\\.)[a-zA-Z0-9/_.\\-]{1,255}";

  static Syntax<Integer> wholeNumber(int least, int most) {
    var expected =
        most == Integer.MAX_VALUE
            ? "a whole number, at least " + least
            : "a whole number from %d to %d".formatted(least, most);
    return new Syntax<>(
        "<n>",
        expected,
        text -> number(text).filter(value -> value >= least && value <= most).map(Math::toIntExact),
        value -> value == Integer.MAX_VALUE ? "unlimited" : value.toString());
  }

  static Syntax<Duration> duration(String unitName, Duration unit, int least) {
    return new Syntax<>(
        "<" + unitName + ">",
        "a whole number of %s from %d to %d".formatted(unitName, least, MOST_UNITS),
        text -> wholeNumber(least, MOST_UNITS).read(text).map(unit::multipliedBy),
        value ->
            value.toMillis() % 1000 == 0 ? value.toSeconds() + " s" : value.toMillis() + " ms");
  }

  static Syntax<Long> bytes() {
    return payload("<bytes>", "a whole number of bytes, 0 for unlimited", 1, Long.MAX_VALUE);
  }

  static Syntax<Long> mebibytes() {
    return payload("<MiB>", "a whole number of MiB, 0 for unlimited", MEBIBYTE, Integer.MAX_VALUE);
  }

  /// The same as a count, for those who hand the number on.
  static Syntax<Integer> mebibyteCount() {
    return new Syntax<>(
        "<MiB>",
        mebibytes().expected(),
        wholeNumber(0, Integer.MAX_VALUE).read(),
        value -> value == 0 ? "unlimited" : value + " MiB");
  }

  static Syntax<Integer> megabytes() {
    return new Syntax<>(
        "<MB>",
        "a whole number of MB, at least 1",
        wholeNumber(1, Integer.MAX_VALUE).read(),
        value -> value + " MB");
  }

  static Syntax<Boolean> trueOrFalse() {
    return new Syntax<>(
        "<true|false>",
        "true or false",
        text ->
            switch (text.toLowerCase(Locale.ROOT)) {
              case "true" -> Optional.of(true);
              case "false" -> Optional.of(false);
              default -> Optional.empty();
            },
        String::valueOf);
  }

  /// One of an enum's constants, in any case and with `-`, `_` or nothing between its words. `show`
  /// spells them.
  static <E extends Enum<E>> Syntax<E> oneOf(Class<E> type, Function<E, String> show) {
    var constants = type.getEnumConstants();
    var spelled = Arrays.stream(constants).map(show).toList();
    return new Syntax<>(
        "<" + String.join("|", spelled) + ">",
        "one of " + String.join(", ", spelled),
        text ->
            Arrays.stream(constants)
                .filter(constant -> letters(constant.name()).equals(letters(text)))
                .findFirst(),
        show);
  }

  /// The names, Python's other names for them, and the numbers of Python's `logging`, which the
  /// SageMaker SDK sends.
  static Syntax<LogLevel> logLevel() {
    return new Syntax<>(
        "<level>",
        "one of DEBUG, INFO, WARN, ERROR, or Python's 10, 20, 30, 40",
        text ->
            Optional.ofNullable(
                switch (text.toUpperCase(Locale.ROOT)) {
                  case "DEBUG", "10" -> LogLevel.DEBUG;
                  case "INFO", "20" -> LogLevel.INFO;
                  case "WARN", "WARNING", "30" -> LogLevel.WARN;
                  case "ERROR", "CRITICAL", "40", "50" -> LogLevel.ERROR;
                  default -> null;
                }),
        LogLevel::name);
  }

  static Syntax<MediaType> mediaType() {
    return new Syntax<>(
        "<type>",
        "a media type such as application/json",
        text -> MediaType.parse(text).filter(type -> !type.isRange()),
        MediaType::toString);
  }

  static Syntax<Path> directory() {
    return new Syntax<>(
        "<dir>",
        "a directory that exists",
        text -> path(text).filter(Files::isDirectory),
        Path::toString);
  }

  /// A path that need not exist.
  static Syntax<Path> anyPath() {
    return new Syntax<>("<dir>", "a path", Syntax::path, Path::toString);
  }

  /// Files, one or several with commas between them.
  static Syntax<List<Path>> files() {
    return new Syntax<>(
        "<files>",
        "files that exist, with commas between them",
        text -> {
          var files =
              Arrays.stream(text.split(","))
                  .map(String::strip)
                  .map(Syntax::path)
                  .flatMap(Optional::stream)
                  .toList();
          return Optional.of(files)
              .filter(
                  all ->
                      all.size() == text.split(",").length
                          && all.stream().allMatch(Files::isRegularFile));
        },
        files ->
            files.isEmpty()
                ? "none"
                : files.stream().map(Path::toString).collect(Collectors.joining(",")));
  }

  /// How many cores `NEURON_RT_VISIBLE_CORES` names: a number, a range as in `4-7`, or several of
  /// those.
  static Syntax<Integer> visibleCores() {
    return new Syntax<>(
        "<cores>",
        "NeuronCores such as 0, 0-3 or 0,2-3, each once",
        text -> {
          var cores = new BitSet();
          for (var part : text.split(",", -1)) {
            var range = VISIBLE_CORES.matcher(part.strip());
            if (!range.matches()) {
              return Optional.empty();
            }
            int first = Integer.parseInt(range.group(1));
            int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
            if (last < first || cores.get(first, last + 1).cardinality() > 0) {
              return Optional.empty();
            }
            cores.set(first, last + 1);
          }
          return Optional.of(cores.cardinality());
        },
        String::valueOf);
  }

  /// A device or the name of an instance; which device an instance has is not known here.
  static Syntax<String> instanceType() {
    return new Syntax<>(
        "<type>",
        "cpu, gpu, inf1, inf2, trn1 or a name such as ml.g5.xlarge",
        text ->
            Optional.of(text).filter(name -> name.toLowerCase(Locale.ROOT).matches(INSTANCE_TYPE)),
        Function.identity());
  }

  /// The pattern of `MetricsEndpoint.MetricsPath` in the SageMaker API.
  static Syntax<String> metricsPath() {
    return new Syntax<>(
        "<path>",
        "a path of letters, digits and / _ . - that starts with /, without .. and of at most 256 characters",
        text -> Optional.of(text).filter(path -> path.matches(METRICS_PATH)),
        Function.identity());
  }

  /// A path that a platform gives a container of its own.
  static Syntax<String> route() {
    return new Syntax<>(
        "<path>",
        "a path of letters, digits and / _ . : @ ~ - that starts with /",
        text -> Optional.of(text).filter(path -> path.length() <= 1024 && path.matches(ROUTE)),
        Function.identity());
  }

  /// Where a platform has put the artifact: a directory, also as a `file` URI.
  static Syntax<Path> mounted() {
    return new Syntax<>(
        "<uri>",
        "a directory that exists or its file:// URI; no artifact is downloaded: mount the bucket, for instance with Cloud "
            + "Storage FUSE, and name its directory in BERTH_MODEL_DIR, "
            + "or copy the artifact into the image and leave artifactUri out",
        text -> directory().read(text.startsWith(FILE) ? text.substring(FILE.length()) : text),
        Path::toString);
  }

  /// Names and values, with commas between the pairs.
  static Syntax<Map<String, String>> dimensions() {
    return new Syntax<>(
        "<name=value,...>",
        "at most %d pairs such as EndpointName=demo of ASCII characters, with commas between them"
            .formatted(MOST_DIMENSIONS),
        text -> {
          var pairs = new LinkedHashMap<String, String>();
          for (var pair : text.split(",", -1)) {
            var parts = DIMENSION.matcher(pair.strip());
            if (!parts.matches() || pairs.put(parts.group(1), parts.group(2)) != null) {
              return Optional.empty();
            }
          }
          return pairs.size() > MOST_DIMENSIONS ? Optional.empty() : Optional.of(pairs);
        },
        pairs ->
            pairs.isEmpty()
                ? "none"
                : pairs.entrySet().stream()
                    .map(Map.Entry::toString)
                    .collect(Collectors.joining(",")));
  }

  static Syntax<URI> httpAddress() {
    return new Syntax<>(
        "<url>", "an address such as http://collector:4318", Syntax::httpAddress, URI::toString);
  }

  private static Optional<URI> httpAddress(String text) {
    try {
      return Optional.of(URI.create(text))
          .filter(
              uri ->
                  uri.getHost() != null
                      && ("http".equals(uri.getScheme()) || "https".equals(uri.getScheme())));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  static Syntax<String> word(String label, String expected) {
    return new Syntax<>(
        label,
        expected,
        text -> Optional.of(text).filter(word -> word.chars().noneMatch(Character::isWhitespace)),
        Function.identity());
  }

  /// Reads a value, without the blanks around it.
  Optional<T> read(String text) {
    return read.apply(text.strip());
  }

  String show(T value) {
    return show.apply(value);
  }

  private static Syntax<Long> payload(String label, String expected, long unit, long most) {
    return new Syntax<>(
        label,
        expected,
        text ->
            number(text)
                .filter(value -> value >= 0 && value <= most)
                .map(value -> value == 0 ? Long.MAX_VALUE : value * unit),
        value -> showBytes(value));
  }

  private static String showBytes(long bytes) {
    if (bytes == Long.MAX_VALUE) {
      return "unlimited";
    }
    return bytes % MEBIBYTE == 0 ? bytes / MEBIBYTE + " MiB" : bytes + " bytes";
  }

  private static Optional<Long> number(String text) {
    try {
      return Optional.of(Long.valueOf(text));
    } catch (NumberFormatException e) {
      return Optional.empty();
    }
  }

  private static Optional<Path> path(String text) {
    try {
      return Optional.of(Path.of(text));
    } catch (InvalidPathException e) {
      return Optional.empty();
    }
  }

  private static String letters(String text) {
    return text.replaceAll("[_-]", "").toLowerCase(Locale.ROOT);
  }
}
