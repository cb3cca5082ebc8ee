package dev.berth.config;

import static dev.berth.config.Settings.BadRecords.KEEP;

import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What the server was told, with what the operator should know about it.
///
/// @param effective every setting as it holds, in the order of [Settings#ALL]
/// @param warnings names that look like a slip of the pen, one line each
public record Configuration(
    ServerConfig config, List<EffectiveSetting> effective, List<String> warnings) {

  private static final Duration REAL_TIME_TIMEOUT = Duration.ofSeconds(60);

  /// The longest `InvocationsTimeoutInSeconds` of a transform job: the container must not be the
  /// one to give up.
  private static final Duration BATCH_TIMEOUT = Duration.ofHours(1);

  private static final List<String> TAKEN_PATHS =
      List.of(
          "/ping",
          "/invocations",
          "/inferences",
          "/execution-parameters",
          "/models",
          "/invocations-bidirectional-stream",
          "/docs",
          "/openapi.json");
  private static final List<String> TAKEN_PREFIXES = List.of("/models/", "/docs/", "/page/", "/v2");

  private static final List<String> ASKING = List.of("/invocations", "/inferences");

  /// What nobody sets at home.
  private static final List<String> OF_THE_PLATFORM =
      List.of(
          "SAGEMAKER_MULTI_MODEL",
          "SAGEMAKER_BATCH",
          "SAGEMAKER_REGION",
          "SAGEMAKER_SAFE_PORT_RANGE");

  /// What other platforms set where they run a container. Nobody there looks at a page.
  private static final Pattern OF_ANY_PLATFORM =
      Pattern.compile(
          "AIP_.+|K_SERVICE|AZUREML_.+|KUBERNETES_SERVICE_HOST|ECS_CONTAINER_METADATA_URI.*|AWS_CONTAINER_CREDENTIALS_.+");

  private static final Set<String> OFF = Set.of("", "false");

  private static final int REAL_TIME_QUEUE = 1000;
  private static final Duration REAL_TIME_TARGET_DELAY = Duration.ofMillis(300);
  private static final int UNLIMITED = Integer.MAX_VALUE;

  public Configuration {
    effective = List.copyOf(effective);
    warnings = List.copyOf(warnings);
  }

  /// Reads every setting. A flag wins over the environment; an empty value counts as unset.
  ///
  /// @param flags the text of each flag given, by its name with the dashes
  /// @param home the directory of the `serve` script, where the sample model is
  /// @throws ConfigurationException holding all problems
  public static Configuration read(
      Map<String, String> variables, Map<String, String> flags, Path home) {
    var environment = VariableNames.withoutServiceLinks(variables);
    var reading = new Reading(environment, flags);
    var warnings = checkNames(environment, reading);
    checkModels(reading, warnings);
    checkWatch(environment, reading);
    var batch = reading.get(Settings.BATCH);
    var config =
        new ServerConfig(
            http(reading, environment),
            model(reading, home),
            multiModel(reading),
            batching(reading, batch),
            new StreamConfig(
                reading.get(Settings.PART_TIMEOUT), reading.get(Settings.STREAM_TIMEOUT)),
            new SessionConfig(
                reading.get(Settings.MAX_SESSIONS),
                reading
                    .find(Settings.SESSION_MEMORY)
                    .map(OptionalLong::of)
                    .orElseGet(OptionalLong::empty)),
            transform(reading, batch),
            platform(reading),
            new ProtocolConfig(
                number(reading.find(Settings.GRPC_PORT)), reading.get(Settings.MODEL_NAME)),
            log(reading),
            telemetry(environment, reading));
    if (!reading.problems().isEmpty()) {
      // A slip may be the cause of a problem, so it is told along with them.
      throw new ConfigurationException(
          Stream.concat(reading.problems().stream(), warnings.stream()).toList());
    }
    return new Configuration(config, reading.effective(), warnings);
  }

  /// Where the server of these settings answers `/ping` to its own machine. Whatever else is set
  /// does not matter.
  ///
  /// @throws ConfigurationException when the port is not known
  public static URI ping(Map<String, String> environment, Map<String, String> flags) {
    var reading = new Reading(environment, flags);
    int port = reading.get(Settings.PORT);
    var host = reading.get(Settings.HOST);
    if (port == 0 && reading.problems().isEmpty()) {
      reading.problem("port: found 0, expected the one that the server listens on");
    }
    if (!reading.problems().isEmpty()) {
      throw new ConfigurationException(reading.problems());
    }
    return URI.create("http://%s:%d/ping".formatted(HttpConfig.inUrl(host, "127.0.0.1"), port));
  }

  /// How the log of these settings looks, also where others are wrong.
  public static LogConfig log(Map<String, String> environment, Map<String, String> flags) {
    return log(new Reading(environment, flags));
  }

  private static void checkModels(Reading reading, List<String> warnings) {
    boolean platform = reading.get(Settings.MULTI_MODEL);
    boolean one = reading.isSet(Settings.MODEL_DIRECTORY);
    if (!reading.isSet(Settings.MODELS)) {
      if (platform && one) {
        warnings.add(
            "model-dir: has no effect, because SAGEMAKER_MULTI_MODEL is true; POST /models loads models");
      }
      Stream.of(Settings.LOAD_MODELS, Settings.MODELS_MEMORY)
          .filter(reading::isSet)
          .forEach(
              setting ->
                  warnings.add("%s: has no effect without models".formatted(setting.name())));
      return;
    }
    if (one) {
      reading.problem(
          "models: found model-dir too, expected one of them; models serves every artifact of a directory, model-dir one artifact");
    }
    if (platform) {
      reading.problem(
          "models: found SAGEMAKER_MULTI_MODEL=true too, expected one of them; with the variable, POST /models loads models");
    }
  }

  /// A container of SageMaker's must serve what was deployed, and nothing that somebody edits
  /// there.
  private static void checkWatch(Map<String, String> environment, Reading reading) {
    if (!reading.get(Settings.WATCH)) {
      return;
    }
    if (reading.isSet(Settings.MODELS)) {
      reading.problem(
          "watch: found models too, expected one of them; models picks up changes by itself");
    }
    OF_THE_PLATFORM.stream()
        .filter(name -> isOn(environment, name))
        .forEach(
            name ->
                reading.problem(
                    "watch: found %s too, which SageMaker sets; watch is for a machine where hooks are written"
                        .formatted(name)));
  }

  private static boolean isOn(Map<String, String> environment, String name) {
    return !OFF.contains(environment.getOrDefault(name, "").strip().toLowerCase(Locale.ROOT));
  }

  private static boolean isOnAPlatform(Map<String, String> environment) {
    return environment.keySet().stream()
        .filter(name -> OF_THE_PLATFORM.contains(name) || OF_ANY_PLATFORM.matcher(name).matches())
        .anyMatch(name -> isOn(environment, name));
  }

  private static MultiModelConfig multiModel(Reading reading) {
    var directory = reading.find(Settings.MODELS);
    var memory = reading.find(Settings.MODELS_MEMORY);
    return new MultiModelConfig(
        isMultiModel(reading),
        directory,
        reading.get(Settings.LOAD_MODELS),
        memory
            .map(megabytes -> OptionalLong.of((long) megabytes << 20))
            .orElseGet(OptionalLong::empty),
        reading.get(Settings.LOAD_TIMEOUT));
  }

  private static boolean isMultiModel(Reading reading) {
    return reading.get(Settings.MULTI_MODEL) || reading.isSet(Settings.MODELS);
  }

  private static List<String> checkNames(Map<String, String> environment, Reading reading) {
    var warnings = new ArrayList<String>();
    VariableNames.suspicious(environment.keySet())
        .forEach(
            name -> {
              var near = VariableNames.near(name);
              if (name.startsWith(VariableNames.OURS)) {
                var hint =
                    near.map("did you mean %s?"::formatted)
                        .orElse("see serve --help for those there are");
                reading.problem("%s: there is no such setting; %s".formatted(name, hint));
              } else {
                near.ifPresent(
                    meant -> warnings.add("%s: did you mean %s?".formatted(name, meant)));
              }
            });
    return warnings;
  }

  private static HttpConfig http(Reading reading, Map<String, String> environment) {
    var metricsPath = reading.get(Settings.METRICS_PATH);
    if (TAKEN_PATHS.contains(metricsPath)
        || TAKEN_PREFIXES.stream().anyMatch(metricsPath::startsWith)) {
      reading.problem(
          "metrics-path: found %s, expected a path of its own, and not %s"
              .formatted(metricsPath, TAKEN_PATHS));
    }
    int port = reading.get(Settings.PORT);
    if (port > 0 && reading.find(Settings.GRPC_PORT).filter(grpc -> grpc == port).isPresent()) {
      reading.problem(
          "grpc-port: found %d, which is the port of HTTP too; expected another".formatted(port));
    }
    return new HttpConfig(
        reading.get(Settings.HOST),
        reading.get(Settings.PORT),
        reading.get(Settings.MAX_PAYLOAD),
        reading.get(Settings.DEFAULT_ACCEPT),
        metricsPath,
        reading.get(Settings.PAGE, !isOnAPlatform(environment)),
        reading.get(Settings.LAME_DUCK),
        reading.get(Settings.DRAIN),
        number(reading.find(Settings.MAX_CONNECTIONS)),
        number(reading.find(Settings.MAX_CONNECTIONS_PER_ADDRESS)));
  }

  /// The routes of Vertex AI. Other paths of the server must stay what they are; `/ping` and
  /// `/invocations` may be named.
  private static PlatformConfig platform(Reading reading) {
    var health = reading.find(Settings.HEALTH_ROUTE);
    var predict = reading.find(Settings.PREDICT_ROUTE);
    var metrics = reading.get(Settings.METRICS_PATH);
    health
        .filter(
            path ->
                (!path.equals("/ping") && isTaken(path, metrics))
                    || predict.filter(path::equals).isPresent())
        .ifPresent(
            path ->
                reading.problem(
                    "AIP_HEALTH_ROUTE: found %s, expected /ping or a path of its own"
                        .formatted(path)));
    predict
        .filter(path -> !ASKING.contains(path) && isTaken(path, metrics))
        .ifPresent(
            path ->
                reading.problem(
                    "AIP_PREDICT_ROUTE: found %s, expected /invocations or a path of its own"
                        .formatted(path)));
    if (predict.isPresent() && isMultiModel(reading)) {
      reading.problem(
          "AIP_PREDICT_ROUTE: found a server of many models, expected one model; name its artifact with BERTH_MODEL_DIR");
    }
    return new PlatformConfig(health, predict);
  }

  private static boolean isTaken(String path, String metricsPath) {
    return TAKEN_PATHS.contains(path) || path.startsWith("/models/") || path.equals(metricsPath);
  }

  private static ModelConfig model(Reading reading, Path home) {
    return new ModelConfig(
        modelDirectory(reading, home),
        reading.find(Settings.PROGRAM),
        reading.find(Settings.INSTANCE_TYPE),
        number(reading.find(Settings.WORKERS)),
        reading.get(Settings.CPU_PROFILE),
        // 0 is NEURON_RT_NUM_CORES's word for all.
        number(reading.find(Settings.NEURON_CORES).filter(cores -> cores > 0)),
        reading.get(Settings.EXTRA_LIBRARIES),
        reading.get(Settings.WATCH));
  }

  private static Path modelDirectory(Reading reading, Path home) {
    var mounted = reading.get(Settings.BASE_DIRECTORY).resolve("model");
    var sample = home.resolve("model-artifact");
    var unset = Files.isDirectory(mounted) ? mounted : sample;
    if (!isMultiModel(reading)
        && !reading.isSet(Settings.MODEL_DIRECTORY)
        && !Files.isDirectory(unset)) {
      reading.problem(
          "model-dir: found neither %s nor %s; mount a model artifact at the first, or name one with --model-dir or %s"
              .formatted(mounted, sample, Settings.MODEL_DIRECTORY.variables().getFirst().name()));
    }
    return reading.get(Settings.MODEL_DIRECTORY, unset);
  }

  /// The flags that serve the sample, where nobody says which model to serve and the place of a
  /// mounted one is empty.
  public static Map<String, String> flagsOfTheSample(Map<String, String> environment, Path home) {
    var reading = new Reading(environment, Map.of());
    var sample = home.resolve("model-artifact");
    var mounted = reading.get(Settings.BASE_DIRECTORY).resolve("model").toFile().list();
    boolean isLost =
        mounted != null
            && mounted.length == 0
            && !isMultiModel(reading)
            && !reading.isSet(Settings.MODEL_DIRECTORY);
    return isLost && Files.isDirectory(sample)
        ? Map.of("--model-dir", sample.toString())
        : Map.of();
  }

  private static BatchingConfig batching(Reading reading, boolean batch) {
    return new BatchingConfig(
        reading.get(Settings.QUEUE_CAPACITY, batch ? UNLIMITED : REAL_TIME_QUEUE),
        number(reading.find(Settings.MAX_BATCH_SIZE)),
        number(reading.find(Settings.MAX_BATCH_TOKENS)),
        reading.get(Settings.MAX_BATCH_DELAY),
        reading.get(Settings.TARGET_DELAY, batch ? Duration.ZERO : REAL_TIME_TARGET_DELAY),
        reading.get(Settings.TIMEOUT, batch ? BATCH_TIMEOUT : REAL_TIME_TIMEOUT),
        reading.get(Settings.STUCK_AFTER));
  }

  /// The SDK's local mode starts a container with `True`, the platform with `true`. Each reads its
  /// own spelling only.
  private static ExecutionParametersAnswer executionParameters(Reading reading) {
    return reading.written(Settings.BATCH).equals("True")
        ? ExecutionParametersAnswer.LOCAL_MODE
        : ExecutionParametersAnswer.SAGEMAKER;
  }

  private static TransformConfig transform(Reading reading, boolean batch) {
    return new TransformConfig(
        batch,
        reading.get(Settings.EXECUTION_PARAMETERS, executionParameters(reading)),
        number(reading.find(Settings.MAX_CONCURRENT_TRANSFORMS)),
        reading.find(Settings.BATCH_STRATEGY),
        number(reading.find(Settings.MAX_PAYLOAD_IN_MB)),
        reading.get(Settings.BAD_RECORDS) == KEEP,
        reading.get(Settings.TRAILING_NEWLINE));
  }

  private static LogConfig log(Reading reading) {
    return new LogConfig(reading.get(Settings.LOG_LEVEL), reading.get(Settings.LOG_FORMAT));
  }

  private static TelemetryConfig telemetry(Map<String, String> environment, Reading reading) {
    var openTelemetry =
        environment.entrySet().stream()
            .filter(
                variable -> variable.getKey().startsWith("OTEL_") && !variable.getValue().isBlank())
            .collect(Collectors.toMap(Map.Entry::getKey, variable -> variable.getValue().strip()));
    openTelemetry.forEach(
        (name, value) -> {
          // With gRPC there would be a second HTTP client in the server.
          if (name.matches("OTEL_EXPORTER_OTLP_([A-Z]+_)?PROTOCOL")
              && !value.equals("http/protobuf")) {
            reading.problem(
                "%s: found %s, expected http/protobuf, mostly at port 4318".formatted(name, value));
          }
        });
    var dimensions = reading.get(Settings.METRICS_DIMENSIONS);
    if (dimensions.containsKey("model")) {
      reading.problem(
          "metrics-dimensions: found model, expected another name; each model has its own already");
    }
    return new TelemetryConfig(
        reading.find(Settings.OTLP_ENDPOINT),
        openTelemetry,
        reading.get(Settings.METRICS_FORMAT),
        reading.get(Settings.METRICS_INTERVAL),
        dimensions,
        reading.get(Settings.METRICS_ALIASES));
  }

  private static OptionalInt number(Optional<Integer> value) {
    return value.map(OptionalInt::of).orElseGet(OptionalInt::empty);
  }
}
