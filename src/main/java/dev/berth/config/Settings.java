package dev.berth.config;

import dev.berth.config.Setting.Flag;
import dev.berth.config.Setting.Source;
import dev.berth.config.Setting.Variable;
import dev.berth.config.Setting.WhenUnset;
import dev.berth.content.BatchStrategy;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.MediaType;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;

/// Every setting there is. Reading, `--help` and `docs/configuration.md` all come from this list.
public final class Settings {

  private static final Duration SECOND = Duration.ofSeconds(1);

  static final Setting<Integer> PORT =
      setting(
          "port",
          fixed(8080),
          "Port to listen on; 0 takes any free one",
          flag("--port", Syntax.wholeNumber(0, 65535)),
          variable("SAGEMAKER_BIND_TO_PORT", Syntax.wholeNumber(0, 65535)),
          variable("AIP_HTTP_PORT", Syntax.wholeNumber(0, 65535)),
          variable("PORT", Syntax.wholeNumber(0, 65535)));

  static final Setting<String> HOST =
      setting(
          "host",
          fixed("0.0.0.0"),
          "Address to listen on",
          flag("--host", Syntax.word("<host>", "a host name or an address")),
          variable("BERTH_HOST", Syntax.word("<host>", "a host name or an address")));

  static final Setting<Path> MODEL_DIRECTORY =
      setting(
          "model-dir",
          rule(
              "model/ in base-dir where that exists, else model-artifact/ beside the serve script"),
          "The model artifact: the directory unpacked from model.tar.gz",
          flag("--model-dir", Syntax.directory()),
          variable("BERTH_MODEL_DIR", Syntax.directory()),
          variable("AIP_STORAGE_URI", Syntax.mounted()));

  static final Setting<String> PROGRAM =
      setting(
          "program",
          rule("Inference.java"),
          "The file of code/ in the model artifact that has the hooks",
          flag("--program", Syntax.word("<file>", "the name of a file")),
          variable("SAGEMAKER_PROGRAM", Syntax.word("<file>", "the name of a file")));

  static final Setting<Boolean> WATCH =
      setting(
          "watch",
          fixed(false),
          "Whether edits to the artifact are served at once while hooks are written; a version that fails leaves the one before",
          flag("--watch", Syntax.trueOrFalse()),
          variable("BERTH_WATCH", Syntax.trueOrFalse()));

  static final Setting<Path> BASE_DIRECTORY =
      setting(
          "base-dir",
          fixed(Path.of("/opt/ml")),
          "Where the platform mounts its files",
          variable("SAGEMAKER_BASE_DIR", Syntax.anyPath()));

  static final Setting<String> INSTANCE_TYPE =
      setting(
          "instance-type",
          detected("looked up on the machine"),
          "What to run on: cpu, gpu, inf1, inf2, trn1, or an instance such as ml.g5.xlarge",
          flag("--instance-type", Syntax.instanceType()),
          variable("INSTANCE_TYPE", Syntax.instanceType()));

  static final Setting<Integer> WORKERS =
      setting(
          "workers",
          detected("chosen from the device"),
          "Threads that predict, spread over the devices",
          flag("--workers", positive()),
          variable("SAGEMAKER_MODEL_SERVER_WORKERS", positive()),
          variable("SAGEMAKER_NUM_MODEL_WORKERS", positive()));

  static final Setting<CpuProfile> CPU_PROFILE =
      setting(
          "cpu-profile",
          fixed(CpuProfile.ADAPTIVE),
          "How workers share a CPU: adaptive gives a long input the idle cores and any other one, latency runs one at a time "
              + "on all cores, throughput always gives each one core",
          flag("--cpu-profile", Syntax.oneOf(CpuProfile.class, Settings::kebab)),
          variable("BERTH_CPU_PROFILE", Syntax.oneOf(CpuProfile.class, Settings::kebab)));

  static final Setting<Integer> NEURON_CORES =
      setting(
          "neuron-cores",
          detected("all of the machine"),
          "NeuronCores to use, a copy of the model on each; the Neuron runtime reads the NEURON_RT variables too",
          variable("NEURON_RT_VISIBLE_CORES", Syntax.visibleCores()),
          variable("NEURON_RT_NUM_CORES", Syntax.wholeNumber(0, Integer.MAX_VALUE)),
          variable("BERTH_NEURON_CORES", positive()));

  static final Setting<List<Path>> EXTRA_LIBRARIES =
      setting(
          "extra-libraries",
          fixed(List.of()),
          "Libraries of operators that a TorchScript needs, loaded after libtorch",
          flag("--extra-libraries", Syntax.files()),
          variable("BERTH_EXTRA_LIBRARIES", Syntax.files()));

  static final Setting<Duration> TIMEOUT =
      setting(
          "timeout",
          rule("60 s; 3600 s when SAGEMAKER_BATCH is true"),
          "How long a request may take; SAGEMAKER_MODEL_SERVER_TIMEOUT counts minutes, as in AWS's own containers",
          flag("--timeout", Syntax.duration("seconds", SECOND, 1)),
          variable("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", Syntax.duration("seconds", SECOND, 1)),
          variable(
              "SAGEMAKER_MODEL_SERVER_TIMEOUT",
              Syntax.duration("minutes", Duration.ofMinutes(1), 1)));

  static final Setting<Duration> PART_TIMEOUT =
      setting(
          "stream-part-timeout",
          fixed(Duration.ofSeconds(60)),
          "How long a streamed answer may take from one part to the next; --timeout goes to the first one",
          flag("--stream-part-timeout", Syntax.duration("seconds", SECOND, 1)),
          variable("BERTH_STREAM_PART_TIMEOUT", Syntax.duration("seconds", SECOND, 1)));

  static final Setting<Duration> STREAM_TIMEOUT =
      setting(
          "stream-timeout",
          fixed(Duration.ofMinutes(8)),
          "How long a streamed answer may take in all; SageMaker ends it after 480 s",
          flag("--stream-timeout", Syntax.duration("seconds", SECOND, 1)),
          variable("BERTH_STREAM_TIMEOUT", Syntax.duration("seconds", SECOND, 1)));

  static final Setting<Integer> MAX_SESSIONS =
      setting(
          "max-sessions",
          fixed(1000),
          "Sessions that may be open, of all models together; a new one is rejected with 503 beyond it",
          flag("--max-sessions", positive()),
          variable("BERTH_MAX_SESSIONS", positive()));

  static final Setting<Long> SESSION_MEMORY =
      setting(
          "session-memory-mb",
          detected("a tenth of the heap"),
          "What open sessions may take by their hooks' own estimate, 0 for unlimited; beyond it the idle ones end that were not "
              + "used for longest",
          flag("--session-memory-mb", Syntax.mebibytes()),
          variable("BERTH_SESSION_MEMORY_MB", Syntax.mebibytes()));

  static final Setting<Duration> STUCK_AFTER =
      setting(
          "stuck-seconds",
          fixed(Duration.ofMinutes(2)),
          "How long after its request's deadline a hook that still runs counts as stuck: /ping is 503 when no worker or no "
              + "thread for hooks is left",
          flag("--stuck-seconds", Syntax.duration("seconds", SECOND, 1)),
          variable("BERTH_STUCK_SECONDS", Syntax.duration("seconds", SECOND, 1)));

  static final Setting<Long> MAX_PAYLOAD =
      setting(
          "max-payload-mb",
          fixed(100L * 1024 * 1024),
          "Largest request body, 0 for unlimited; SAGEMAKER_MAX_REQUEST_SIZE counts bytes",
          flag("--max-payload-mb", Syntax.mebibytes()),
          variable("SAGEMAKER_MAX_REQUEST_SIZE", Syntax.bytes()),
          variable("SAGEMAKER_MAX_PAYLOAD_IN_MB", Syntax.mebibytes()));

  static final Setting<MediaType> DEFAULT_ACCEPT =
      setting(
          "default-accept",
          fixed(MediaType.JSON),
          "Type of the response for a caller that names none, or */*",
          flag("--default-accept", Syntax.mediaType()),
          variable("SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT", Syntax.mediaType()));

  static final Setting<Integer> QUEUE_CAPACITY =
      setting(
          "queue-capacity",
          rule("1000; unlimited when SAGEMAKER_BATCH is true"),
          "Records that may wait before callers are refused with 503",
          flag("--queue-capacity", positive()),
          variable("BERTH_QUEUE_CAPACITY", positive()));

  static final Setting<Integer> MAX_BATCH_SIZE =
      setting(
          "max-batch-size",
          detected("chosen from the device"),
          "Records that may be predicted together",
          flag("--max-batch-size", positive()),
          variable("BERTH_MAX_BATCH_SIZE", positive()),
          variable("SAGEMAKER_TS_BATCH_SIZE", positive()));

  static final Setting<Integer> MAX_BATCH_TOKENS =
      setting(
          "max-batch-tokens",
          detected("chosen from the device"),
          "Tokens, padding included, that may be predicted together",
          flag("--max-batch-tokens", positive()),
          variable("BERTH_MAX_BATCH_TOKENS", positive()));

  static final Setting<Duration> MAX_BATCH_DELAY =
      setting(
          "max-batch-delay-ms",
          fixed(Duration.ZERO),
          "How long a free worker waits for its batch to fill",
          flag("--max-batch-delay-ms", Syntax.duration("ms", Duration.ofMillis(1), 0)),
          variable("BERTH_MAX_BATCH_DELAY_MS", Syntax.duration("ms", Duration.ofMillis(1), 0)),
          variable("SAGEMAKER_TS_MAX_BATCH_DELAY", Syntax.duration("ms", Duration.ofMillis(1), 0)));

  static final Setting<Duration> TARGET_DELAY =
      setting(
          "target-delay-ms",
          rule("300 ms; 0 when SAGEMAKER_BATCH is true"),
          "When a request has waited for longer and others leave unanswered, the newest is served first; 0: never",
          flag("--target-delay-ms", Syntax.duration("ms", Duration.ofMillis(1), 0)),
          variable("BERTH_TARGET_DELAY_MS", Syntax.duration("ms", Duration.ofMillis(1), 0)));

  static final Setting<Boolean> MULTI_MODEL =
      setting(
          "multi-model",
          fixed(false),
          "Set by the platform: a multi-model endpoint, which starts without a model and is told what to load",
          variable("SAGEMAKER_MULTI_MODEL", Syntax.trueOrFalse()));

  static final Setting<Path> MODELS =
      setting(
          "models",
          rule("not set"),
          "Serve every artifact of this directory, at /models/{name}/invoke; changes are picked up",
          flag("--models", Syntax.directory()),
          variable("BERTH_MODELS", Syntax.directory()));

  static final Setting<LoadModels> LOAD_MODELS =
      setting(
          "load-models",
          fixed(LoadModels.LAZY),
          "When the models of --models are loaded: by the first request for each, or as many as fit before /ping is 200",
          flag("--load-models", Syntax.oneOf(LoadModels.class, Settings::kebab)),
          variable("BERTH_LOAD_MODELS", Syntax.oneOf(LoadModels.class, Settings::kebab)));

  static final Setting<Integer> MODELS_MEMORY =
      setting(
          "models-memory",
          detected("measured: what the machine and the container have left"),
          "What the models of --models may take together; the least recently used idle one makes way",
          flag("--models-memory", Syntax.megabytes()),
          variable("BERTH_MODELS_MEMORY", Syntax.megabytes()));

  static final Setting<Duration> LOAD_TIMEOUT =
      setting(
          "load-timeout-seconds",
          fixed(Duration.ofMinutes(6)),
          "How long a load of one of many models may take before POST /models answers 504; SageMaker waits for 360 s",
          flag("--load-timeout-seconds", Syntax.duration("seconds", SECOND, 1)),
          variable("BERTH_LOAD_TIMEOUT_SECONDS", Syntax.duration("seconds", SECOND, 1)));

  static final Setting<Boolean> BATCH =
      setting(
          "batch",
          fixed(false),
          "Set by the platform: this container runs for a batch-transform job",
          variable("SAGEMAKER_BATCH", Syntax.trueOrFalse()));

  static final Setting<BatchStrategy> BATCH_STRATEGY =
      setting(
          "batch-strategy",
          rule("not set"),
          "Set by the platform: whether a request holds one record or several",
          variable(
              "SAGEMAKER_BATCH_STRATEGY", Syntax.oneOf(BatchStrategy.class, BatchStrategy::name)));

  static final Setting<Integer> MAX_CONCURRENT_TRANSFORMS =
      setting(
          "max-concurrent-transforms",
          rule("not set"),
          "Set by the platform: requests that a job sends at the same time",
          variable("SAGEMAKER_MAX_CONCURRENT_TRANSFORMS", positive()));

  static final Setting<Integer> MAX_PAYLOAD_IN_MB =
      setting(
          "transform-max-payload-mb",
          rule("not set"),
          "Set by the platform: the job's own MaxPayloadInMB",
          variable("SAGEMAKER_MAX_PAYLOAD_IN_MB", Syntax.mebibyteCount()));

  static final Setting<ExecutionParametersAnswer> EXECUTION_PARAMETERS =
      setting(
          "execution-parameters",
          rule("sagemaker, or local-mode where that has started the container"),
          "What /execution-parameters answers: the platform's spelling, the one of the SDK's local mode, or 404",
          flag(
              "--execution-parameters",
              Syntax.oneOf(ExecutionParametersAnswer.class, Settings::kebab)),
          variable(
              "BERTH_EXECUTION_PARAMETERS",
              Syntax.oneOf(ExecutionParametersAnswer.class, Settings::kebab)));

  static final Setting<BadRecords> BAD_RECORDS =
      setting(
          "bad-records",
          fixed(BadRecords.REJECT),
          "Whether a bad line fails its request, or is kept as an error in its own place",
          flag("--bad-records", Syntax.oneOf(BadRecords.class, Settings::kebab)),
          variable("BERTH_BAD_RECORDS", Syntax.oneOf(BadRecords.class, Settings::kebab)));

  static final Setting<Boolean> TRAILING_NEWLINE =
      setting(
          "trailing-newline",
          fixed(false),
          "Whether a response of lines ends in a newline: false for AssembleWith=Line, which adds one, true for None",
          flag("--trailing-newline", Syntax.trueOrFalse()),
          variable("BERTH_TRAILING_NEWLINE", Syntax.trueOrFalse()));

  static final Setting<String> METRICS_PATH =
      setting(
          "metrics-path",
          fixed("/metrics"),
          "Path of the Prometheus metrics",
          flag("--metrics-path", Syntax.metricsPath()),
          variable("BERTH_METRICS_PATH", Syntax.metricsPath()));

  static final Setting<String> HEALTH_ROUTE =
      setting(
          "health-route",
          rule("not set"),
          "Set by Vertex AI: a path that answers as /ping does",
          variable("AIP_HEALTH_ROUTE", Syntax.route()));

  static final Setting<String> PREDICT_ROUTE =
      setting(
          "predict-route",
          rule("not set"),
          "Set by Vertex AI: a path that takes {\"instances\": …, \"parameters\": …} and answers {\"predictions\": …}",
          variable("AIP_PREDICT_ROUTE", Syntax.route()));

  static final Setting<MetricsFormat> METRICS_FORMAT =
      setting(
          "metrics-format",
          fixed(MetricsFormat.PROMETHEUS),
          "prometheus: metrics are at their path only; emf: they are printed too, in CloudWatch's Embedded Metric Format",
          flag("--metrics-format", Syntax.oneOf(MetricsFormat.class, Settings::kebab)),
          variable("BERTH_METRICS_FORMAT", Syntax.oneOf(MetricsFormat.class, Settings::kebab)));

  static final Setting<Duration> METRICS_INTERVAL =
      setting(
          "metrics-interval-seconds",
          fixed(Duration.ofSeconds(60)),
          "How often metrics are printed with --metrics-format emf",
          flag("--metrics-interval-seconds", Syntax.duration("seconds", SECOND, 1)),
          variable("BERTH_METRICS_INTERVAL_SECONDS", Syntax.duration("seconds", SECOND, 1)));

  static final Setting<Map<String, String>> METRICS_DIMENSIONS =
      setting(
          "metrics-dimensions",
          fixed(Map.of()),
          "Dimensions of all printed metrics, such as EndpointName=demo,VariantName=AllTraffic; SageMaker does not tell a container "
              + "these",
          flag("--metrics-dimensions", Syntax.dimensions()),
          variable("BERTH_METRICS_DIMENSIONS", Syntax.dimensions()));

  static final Setting<MetricsAliases> METRICS_ALIASES =
      setting(
          "metrics-aliases",
          fixed(MetricsAliases.NONE),
          "vllm: some metrics are there under vLLM's names too, for dashboards made for it",
          flag("--metrics-aliases", Syntax.oneOf(MetricsAliases.class, Settings::kebab)),
          variable("BERTH_METRICS_ALIASES", Syntax.oneOf(MetricsAliases.class, Settings::kebab)));

  static final Setting<URI> OTLP_ENDPOINT =
      setting(
          "otlp-endpoint",
          rule("not set: nothing is sent"),
          "OpenTelemetry collector that gets traces, metrics and logs by OTLP over HTTP; other OTEL_ variables are read too",
          flag("--otlp-endpoint", Syntax.httpAddress()),
          variable("BERTH_OTLP_ENDPOINT", Syntax.httpAddress()),
          variable("OTEL_EXPORTER_OTLP_ENDPOINT", Syntax.httpAddress()));

  static final Setting<Boolean> PAGE =
      setting(
          "page",
          rule("true; false where a platform's variables are set"),
          "Whether / has a page to try the model, with /docs and /openapi.json",
          flag("--page", Syntax.trueOrFalse()),
          variable("BERTH_PAGE", Syntax.trueOrFalse()));

  static final Setting<Duration> LAME_DUCK =
      setting(
          "lame-duck-seconds",
          fixed(Duration.ZERO),
          "How long new requests are still served after SIGTERM while /ping is 503 already; then they are refused",
          flag("--lame-duck-seconds", Syntax.duration("seconds", SECOND, 0)),
          variable("BERTH_LAME_DUCK_SECONDS", Syntax.duration("seconds", SECOND, 0)));

  static final Setting<Duration> DRAIN =
      setting(
          "drain-seconds",
          fixed(Duration.ofSeconds(20)),
          "How long requests may go on after SIGTERM; SageMaker kills the container after 30 s",
          flag("--drain-seconds", Syntax.duration("seconds", SECOND, 0)),
          variable("BERTH_DRAIN_SECONDS", Syntax.duration("seconds", SECOND, 0)));

  static final Setting<Integer> MAX_CONNECTIONS =
      setting(
          "max-connections",
          detected("chosen from ulimit -n and the heap, at most 10000"),
          "Connections that serve requests; beyond them, those that are waited for longest are closed for new ones",
          flag("--max-connections", positive()),
          variable("BERTH_MAX_CONNECTIONS", positive()));

  static final Setting<Integer> MAX_CONNECTIONS_PER_ADDRESS =
      setting(
          "max-connections-per-address",
          rule("not set"),
          "Connections of one client address; others are refused with 503. Behind a load balancer all clients have its address",
          flag("--max-connections-per-address", positive()),
          variable("BERTH_MAX_CONNECTIONS_PER_ADDRESS", positive()));

  static final Setting<LogLevel> LOG_LEVEL =
      setting(
          "log-level",
          fixed(LogLevel.INFO),
          "Least serious events to log, by name or by Python's number",
          flag("--log-level", Syntax.logLevel()),
          variable("SAGEMAKER_CONTAINER_LOG_LEVEL", Syntax.logLevel()));

  static final Setting<LogFormat> LOG_FORMAT =
      setting(
          "log-format",
          fixed(LogFormat.PLAIN),
          "Lines for people, or one JSON object per line",
          flag("--log-format", Syntax.oneOf(LogFormat.class, Settings::kebab)),
          variable("BERTH_LOG_FORMAT", Syntax.oneOf(LogFormat.class, Settings::kebab)));

  static final Setting<Integer> GRPC_PORT =
      setting(
          "grpc-port",
          rule("not set"),
          "Port for gRPC of the Open Inference Protocol; 0 takes any free one, unset means no gRPC",
          flag("--grpc-port", Syntax.wholeNumber(0, 65535)),
          variable("BERTH_GRPC_PORT", Syntax.wholeNumber(0, 65535)));

  static final Setting<String> MODEL_NAME =
      setting(
          "model-name",
          fixed("model"),
          "The only model's name in /v2/models/{name} and in gRPC",
          flag("--model-name", Syntax.word("<name>", "a name")),
          variable("BERTH_MODEL_NAME", Syntax.word("<name>", "a name")));

  /// In the order in which people meet them.
  public static final List<Setting<?>> ALL =
      List.of(
          PORT,
          HOST,
          MODEL_DIRECTORY,
          PROGRAM,
          WATCH,
          BASE_DIRECTORY,
          INSTANCE_TYPE,
          WORKERS,
          CPU_PROFILE,
          NEURON_CORES,
          EXTRA_LIBRARIES,
          TIMEOUT,
          PART_TIMEOUT,
          STREAM_TIMEOUT,
          MAX_SESSIONS,
          SESSION_MEMORY,
          STUCK_AFTER,
          MAX_PAYLOAD,
          DEFAULT_ACCEPT,
          QUEUE_CAPACITY,
          MAX_BATCH_SIZE,
          MAX_BATCH_TOKENS,
          MAX_BATCH_DELAY,
          TARGET_DELAY,
          MULTI_MODEL,
          MODELS,
          LOAD_MODELS,
          MODELS_MEMORY,
          LOAD_TIMEOUT,
          BATCH,
          BATCH_STRATEGY,
          MAX_CONCURRENT_TRANSFORMS,
          MAX_PAYLOAD_IN_MB,
          EXECUTION_PARAMETERS,
          BAD_RECORDS,
          TRAILING_NEWLINE,
          METRICS_PATH,
          METRICS_FORMAT,
          METRICS_INTERVAL,
          METRICS_DIMENSIONS,
          METRICS_ALIASES,
          OTLP_ENDPOINT,
          PAGE,
          HEALTH_ROUTE,
          PREDICT_ROUTE,
          LAME_DUCK,
          DRAIN,
          MAX_CONNECTIONS,
          MAX_CONNECTIONS_PER_ADDRESS,
          GRPC_PORT,
          MODEL_NAME,
          LOG_LEVEL,
          LOG_FORMAT);

  /// Those that say which model is served on what.
  public static final List<Setting<?>> OF_THE_MODEL =
      List.of(
          PROGRAM,
          INSTANCE_TYPE,
          WORKERS,
          CPU_PROFILE,
          NEURON_CORES,
          EXTRA_LIBRARIES,
          MAX_BATCH_SIZE,
          MAX_BATCH_TOKENS,
          LOG_LEVEL);

  /// Those that a check of an artifact takes: it asks the model a request, too.
  public static final List<Setting<?>> OF_A_CHECK =
      Stream.concat(OF_THE_MODEL.stream(), Stream.of(TIMEOUT, DEFAULT_ACCEPT, BAD_RECORDS))
          .toList();

  /// Those that say besides how the server of a job of one's own behaves.
  public static final List<Setting<?>> OF_A_TRANSFORM =
      List.of(MODEL_DIRECTORY, TRAILING_NEWLINE, LOG_FORMAT);

  /// Those that say where the server listens.
  public static final List<Setting<?>> OF_THE_LISTENER = List.of(PORT, HOST);

  /// The choice behind [TransformConfig#keepBadRecords()].
  enum BadRecords {
    REJECT,
    KEEP
  }

  private Settings() {}

  @SafeVarargs
  @SuppressWarnings("varargs")
  private static <T> Setting<T> setting(
      String name, WhenUnset<T> whenUnset, String meaning, Source<T>... sources) {
    return new Setting<>(name, List.of(sources), whenUnset, meaning);
  }

  private static <T> Source<T> flag(String name, Syntax<T> syntax) {
    return new Flag<>(name, syntax);
  }

  private static <T> Source<T> variable(String name, Syntax<T> syntax) {
    return new Variable<>(name, syntax);
  }

  private static <T> WhenUnset<T> fixed(T value) {
    return new WhenUnset.Fixed<>(value);
  }

  private static <T> WhenUnset<T> rule(String text) {
    return new WhenUnset.Rule<>(text);
  }

  private static <T> WhenUnset<T> detected(String text) {
    return new WhenUnset.Detected<>(text);
  }

  private static Syntax<Integer> positive() {
    return Syntax.wholeNumber(1, Integer.MAX_VALUE);
  }

  private static String kebab(Enum<?> constant) {
    return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
