package dev.berth.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.http.Routes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigurationTest {

    @TempDir
    private Path home;

    @BeforeEach
    void unpackTheSampleModel() throws IOException {
        Files.createDirectory(home.resolve("model-artifact"));
    }

    @Test
    @Tag("BAT-05")
    void nothing_set_gives_the_defaults() {
        assertThat(read(Map.of()).effective())
                .filteredOn(setting -> !setting.isChosen())
                .map(Object::toString)
                .contains(
                        "port = 8080 (default)",
                        "max-payload-mb = 100 MiB (default)",
                        "max-connections = chosen from ulimit -n and the heap, at most 10000 (detected)",
                        "model-dir = %s (default)".formatted(home.resolve("model-artifact")),
                        "timeout = 60 s (default)",
                        "batch = false (default)",
                        "execution-parameters = sagemaker (default)");
    }

    @Test
    void nothing_said_and_nothing_mounted_is_the_sample() throws IOException {
        var base = Files.createDirectories(home.resolve("ml"));
        var environment = Map.of("SAGEMAKER_BASE_DIR", base.toString());
        var sample = Files.createDirectories(home.resolve("model-artifact"));
        assertThat(ModelConfig.flagsOfTheSample(new Platform(environment, home)))
                .isEmpty();
        var mounted = Files.createDirectories(base.resolve("model"));
        assertThat(ModelConfig.flagsOfTheSample(new Platform(environment, home)))
                .isEqualTo(Map.of("--model-dir", sample.toString()));
        assertThat(ModelConfig.flagsOfTheSample(new Platform(
                        Map.of("SAGEMAKER_BASE_DIR", base.toString(), "BERTH_MODEL_DIR", base.toString()), home)))
                .isEmpty();
        assertThat(ModelConfig.flagsOfTheSample(new Platform(
                        Map.of("SAGEMAKER_BASE_DIR", base.toString(), "SAGEMAKER_MULTI_MODEL", "true"), home)))
                .isEmpty();
        Files.writeString(mounted.resolve("model.pt"), "");
        assertThat(ModelConfig.flagsOfTheSample(new Platform(environment, home)))
                .isEmpty();
    }

    @Test
    void an_artifact_that_is_mounted_a_level_too_high_is_a_problem() throws IOException {
        var base = Files.createDirectories(home.resolve("ml"));
        Files.createDirectories(home.resolve("model-artifact"));
        Files.writeString(base.resolve("model.json"), "{}");
        assertThat(problems(Map.of("SAGEMAKER_BASE_DIR", base.toString())))
                .singleElement()
                .asString()
                .startsWith("model-dir: found a model artifact in %s, expected it in %1$s/model; mount it there"
                        .formatted(base));
        Files.createDirectories(base.resolve("model"));
        assertThat(read(Map.of("SAGEMAKER_BASE_DIR", base.toString())).get(ModelConfig.MODEL_DIR))
                .isEqualTo(base.resolve("model"));
    }

    @Test
    void the_sample_in_the_place_of_an_empty_mount_is_a_warning() throws IOException {
        var base = Files.createDirectories(home.resolve("ml"));
        Files.createDirectories(base.resolve("model"));
        var sample = Files.createDirectories(home.resolve("model-artifact"));
        var environment = Map.of("SAGEMAKER_BASE_DIR", base.toString());
        assertThat(Configuration.read(environment, Map.of("--model-dir", sample.toString()), home)
                        .warnings())
                .containsExactly("model-dir: %s/model is empty, so the sample is served; mount a model artifact there"
                        .formatted(base));
        assertThat(Configuration.read(environment, Map.of("--model-dir", home.toString()), home)
                        .warnings())
                .isEmpty();
    }

    @Test
    void an_empty_value_counts_as_unset() {
        assertThat(shown(Map.of("SAGEMAKER_BIND_TO_PORT", " ", "INSTANCE_TYPE", "")))
                .isEqualTo(shown(Map.of()));
    }

    /// The first of a setting's variables wins, and a flag over all of them. `docs/configuration.md` has the
    /// variables of each setting, as `ConfigurationDocTest` proves: here is one of each syntax.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      SAGEMAKER_BIND_TO_PORT=1 AIP_HTTP_PORT=2 PORT=3            | port = 1 (SAGEMAKER_BIND_TO_PORT)
      AIP_HTTP_PORT=2 PORT=3                                     | port = 2 (AIP_HTTP_PORT)
      PORT=3                                                     | port = 3 (PORT)
      SAGEMAKER_BIND_TO_PORT=9000 --port=0                       | port = 0 (flag --port)
      SAGEMAKER_NUM_MODEL_WORKERS=3 SAGEMAKER_MODEL_SERVER_WORKERS=1 | workers = 1 (SAGEMAKER_MODEL_SERVER_WORKERS)
      SAGEMAKER_TS_BATCH_SIZE=4                                  | max-batch-size = 4 (SAGEMAKER_TS_BATCH_SIZE)
      SAGEMAKER_TS_BATCH_SIZE=4 BERTH_MAX_BATCH_SIZE=2           | max-batch-size = 2 (BERTH_MAX_BATCH_SIZE)
      SAGEMAKER_MODEL_SERVER_TIMEOUT=2                           | timeout = 120 s (SAGEMAKER_MODEL_SERVER_TIMEOUT)
      SAGEMAKER_MODEL_SERVER_TIMEOUT=2 SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=30 | timeout = 30 s (SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS)
      SAGEMAKER_MAX_REQUEST_SIZE=1000 SAGEMAKER_MAX_PAYLOAD_IN_MB=6 | max-payload-mb = 1000 bytes (SAGEMAKER_MAX_REQUEST_SIZE)
      SAGEMAKER_MAX_REQUEST_SIZE=1000 SAGEMAKER_MAX_PAYLOAD_IN_MB=6 | transform-max-payload-mb = 6 MiB (SAGEMAKER_MAX_PAYLOAD_IN_MB)
      SAGEMAKER_MAX_PAYLOAD_IN_MB=0                              | max-payload-mb = unlimited (SAGEMAKER_MAX_PAYLOAD_IN_MB)
      --max-payload-mb=0                                         | max-payload-mb = unlimited (flag --max-payload-mb)
      SAGEMAKER_CONTAINER_LOG_LEVEL=10                           | log-level = DEBUG (SAGEMAKER_CONTAINER_LOG_LEVEL)
      SAGEMAKER_CONTAINER_LOG_LEVEL=warning                      | log-level = WARN (SAGEMAKER_CONTAINER_LOG_LEVEL)
      SAGEMAKER_CONTAINER_LOG_LEVEL=CRITICAL                     | log-level = ERROR (SAGEMAKER_CONTAINER_LOG_LEVEL)
      NEURON_RT_NUM_CORES=4                                      | neuron-cores = 4 (NEURON_RT_NUM_CORES)
      NEURON_RT_VISIBLE_CORES=4-7 NEURON_RT_NUM_CORES=8          | neuron-cores = 4 (NEURON_RT_VISIBLE_CORES)
      NEURON_RT_VISIBLE_CORES=0,2-3                              | neuron-cores = 3 (NEURON_RT_VISIBLE_CORES)
      NEURON_RT_NUM_CORES=8 BERTH_NEURON_CORES=2                 | neuron-cores = 8 (NEURON_RT_NUM_CORES)
      BERTH_NEURON_CORES=2                                       | neuron-cores = 2 (BERTH_NEURON_CORES)
      SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT=text/csv;header=absent | default-accept = text/csv; header=absent (SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT)
      SAGEMAKER_BATCH_STRATEGY=SINGLE_RECORD                      | batch-strategy = SINGLE_RECORD (SAGEMAKER_BATCH_STRATEGY)
      BERTH_CPU_PROFILE=throughput                                | cpu-profile = throughput (BERTH_CPU_PROFILE)
      BERTH_MAX_BATCH_DELAY_MS=5                                  | max-batch-delay-ms = 5 ms (BERTH_MAX_BATCH_DELAY_MS)
      AIP_HEALTH_ROUTE=/health                                    | health-route = /health (AIP_HEALTH_ROUTE)
      AIP_STORAGE_URI=HOME                                        | model-dir = HOME (AIP_STORAGE_URI)
      AIP_STORAGE_URI=file://HOME                                 | model-dir = HOME (AIP_STORAGE_URI)
      HF_MODEL_ID=HOME                                            | model-dir = HOME (HF_MODEL_ID)
      BERTH_MODELS=HOME BERTH_MODELS_MEMORY=2000                  | models-memory = 2000 MB (BERTH_MODELS_MEMORY)
      AIP_STORAGE_URI=gs://bucket/model BERTH_MODEL_DIR=HOME      | model-dir = HOME (BERTH_MODEL_DIR)
      BERTH_WATCH=true SAGEMAKER_BATCH=false                     | watch = true (BERTH_WATCH)
      --watch=true                                               | watch = true (flag --watch)
      """)
    void what_is_said_holds_and_is_shown_with_its_origin(String said, String shown) {
        assertThat(effective(said)).contains(shown.replace("HOME", home.toString()));
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "True", "TRUE"})
    @Tag("BAT-04")
    void a_transform_job_has_other_limits_but_for_those_that_were_chosen(String batch) {
        var variable = "SAGEMAKER_BATCH=" + batch;
        assertThat(effective(variable))
                .contains(
                        "batch = true (SAGEMAKER_BATCH)",
                        "queue-capacity = unlimited (default)",
                        "target-delay-ms = 0 s (default)",
                        "timeout = 3600 s (default)");
        assertThat(effective(variable + " BERTH_QUEUE_CAPACITY=7 --timeout=20"))
                .contains("queue-capacity = 7 (BERTH_QUEUE_CAPACITY)", "timeout = 20 s (flag --timeout)");
    }

    @Test
    void extra_libraries_are_files_that_exist() throws IOException {
        var one = Files.createFile(home.resolve("libone.so"));
        var two = Files.createFile(home.resolve("libtwo.so"));
        assertThat(shown(Map.of("BERTH_EXTRA_LIBRARIES", one + ", " + two)))
                .contains("extra-libraries = %s,%s (BERTH_EXTRA_LIBRARIES)".formatted(one, two));
    }

    @Test
    void the_mounted_model_goes_before_the_sample() throws IOException {
        var mounted = Files.createDirectories(home.resolve("opt/model"));
        var config = read(Map.of("SAGEMAKER_BASE_DIR", home.resolve("opt").toString()));
        assertThat(config.get(ModelConfig.MODEL_DIR)).isEqualTo(mounted);
    }

    @Test
    void a_directory_of_models_needs_no_other_model() throws IOException {
        Files.delete(home.resolve("model-artifact"));
        var models = Files.createDirectory(home.resolve("models"));
        assertThat(ModelConfig.areMany(read(Map.of("BERTH_MODELS", models.toString()))))
                .isTrue();
    }

    @Test
    void a_missing_model_is_a_problem_that_names_where_it_was_looked_for() throws IOException {
        Files.delete(home.resolve("model-artifact"));
        assertThat(problems(Map.of("SAGEMAKER_BASE_DIR", "/nowhere")))
                .singleElement()
                .asString()
                .contains("/nowhere/model", home.resolve("model-artifact").toString(), "--model-dir");
    }

    /// HOME is a directory.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      BERTH_MODELS=HOME BERTH_MODEL_DIR=HOME              | models: found model-dir too, expected one of them; models serves every artifact
      BERTH_MODELS=HOME SAGEMAKER_MULTI_MODEL=true        | models: found SAGEMAKER_MULTI_MODEL=true too, expected one of them; with the variable
      BERTH_MODELS=HOME BERTH_MODELS_MEMORY=0             | BERTH_MODELS_MEMORY: found "0", expected a whole number of MB, at least 1
      BERTH_MODELS=HOME BERTH_LOAD_MODELS=never           | BERTH_LOAD_MODELS: found "never", expected one of lazy, start
      BERTH_MODELS=/nowhere                               | BERTH_MODELS: found "/nowhere", expected a directory that exists
      BERTH_MODEL_DIR=/nowhere                            | BERTH_MODEL_DIR: found "/nowhere", expected a directory that exists
      BERTH_MODEL_DIR=/a/model.tar.gz                     | BERTH_MODEL_DIR: found "/a/model.tar.gz", expected a directory that exists; unpack it first: mkdir my-model && tar -xzf /a/model.tar.gz -C my-model
      HF_MODEL_ID=deepset/roberta                         | HF_MODEL_ID: found "deepset/roberta", expected the directory of a model of the hub that exists; nothing is downloaded
      AIP_STORAGE_URI=gs://bucket/model                   | AIP_STORAGE_URI: found "gs://bucket/model", expected a directory that exists or its file:// URI; no artifact is downloaded
      BERTH_WATCH=true BERTH_MODELS=HOME                  | watch: found models too, expected one of them; models picks up changes by itself
      BERTH_WATCH=true SAGEMAKER_MULTI_MODEL=true         | watch: found SAGEMAKER_MULTI_MODEL too, which SageMaker sets; watch is for a machine where hooks are written
      BERTH_WATCH=true SAGEMAKER_BATCH=true               | watch: found SAGEMAKER_BATCH too, which SageMaker sets
      BERTH_WATCH=true SAGEMAKER_REGION=eu-west-1         | watch: found SAGEMAKER_REGION too, which SageMaker sets
      BERTH_METRICS_PATH=/models                          | metrics-path: found /models, expected a path of its own
      BERTH_METRICS_PATH=/models/m1                       | metrics-path: found /models/m1, expected a path of its own
      BERTH_METRIC_PATH=1                                 | BERTH_METRIC_PATH: there is no such setting; did you mean BERTH_METRICS_PATH?
      BERTH_PORT=1                                        | BERTH_PORT: there is no such setting; did you mean SAGEMAKER_BIND_TO_PORT?
      BERTH_WORKER=1                                      | BERTH_WORKER: there is no such setting; did you mean SAGEMAKER_MODEL_SERVER_WORKERS?
      """)
    void what_cannot_be_is_a_problem_that_says_what_to_do(String said, String problem) {
        assertThat(problems(variables(said))).singleElement().asString().startsWith(problem);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      BERTH_LOAD_MODELS=lazy                              | load-models: has no effect without models
      BERTH_MODELS_MEMORY=9                               | models-memory: has no effect without models
      SAGEMAKER_MULTI_MODEL=true BERTH_MODEL_DIR=HOME     | model-dir: has no effect, because SAGEMAKER_MULTI_MODEL is true; POST /models loads models
      SAGEMAKER_MODEL_SERVER_WORKER=1                     | SAGEMAKER_MODEL_SERVER_WORKER: did you mean SAGEMAKER_MODEL_SERVER_WORKERS?
      SAGEMAKER_PROGRAM=1                                 |
      SAGEMAKER_REGION=1                                  |
      SAGEMAKER_SAFE_PORT_RANGE=1                         |
      SAGEMAKER_MODEL_SERVER_VMARGS=1                     |
      SAGEMAKER_TS_MAX_WORKERS=1                          |
      TS_NODE_PROJECT=1                                   |
      """)
    @Tag("RUN-13")
    void what_has_no_effect_or_looks_like_a_slip_is_a_warning(String said, String warning) {
        assertThat(Configuration.read(variables(said), Map.of(), home).warnings())
                .isEqualTo(Optional.ofNullable(warning).stream().toList());
    }

    @ParameterizedTest
    @CsvSource({
        "SAGEMAKER_BIND_TO_PORT, 65536",
        "SAGEMAKER_BIND_TO_PORT, -1",
        "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS, 0",
        "SAGEMAKER_MODEL_SERVER_TIMEOUT, 1.5",
        "SAGEMAKER_MAX_REQUEST_SIZE, -1",
        "SAGEMAKER_MAX_PAYLOAD_IN_MB, 6MB",
        "SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT, json",
        "SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT, */*",
        "SAGEMAKER_BATCH, 1",
        "SAGEMAKER_BATCH_STRATEGY, ALL",
        "BERTH_QUEUE_CAPACITY, 99999999999",
        "BERTH_MAX_BATCH_DELAY_MS, -1",
        "BERTH_METRICS_PATH, /a/../b",
        "SAGEMAKER_CONTAINER_LOG_LEVEL, LOUD",
        "BERTH_HOST, a b",
        "INSTANCE_TYPE, a b",
        "BERTH_EXTRA_LIBRARIES, /nowhere/libops.so",
        "NEURON_RT_VISIBLE_CORES, 3-1",
        "NEURON_RT_VISIBLE_CORES, '0,,1'",
        "NEURON_RT_VISIBLE_CORES, 99999",
        "NEURON_RT_VISIBLE_CORES, '0,0'",
        "NEURON_RT_VISIBLE_CORES, '0-3,2'"
    })
    void a_value_that_cannot_be_read_is_named_with_what_was_expected(String name, String value) {
        assertThat(problems(Map.of(name, value)))
                .singleElement()
                .asString()
                .startsWith("%s: found \"%s\", expected ".formatted(name, value));
    }

    @Test
    void all_problems_are_reported_at_once() {
        var environment = Map.of("SAGEMAKER_BIND_TO_PORT", "x", "BERTH_QUEUE_CAPACITY", "0", "BERTH_LOG", "json");
        var thrown = catchThrowableOfType(
                ConfigurationException.class, () -> Configuration.read(environment, Map.of("--timeout", "1m"), home));
        assertThat(thrown.problems())
                .containsExactlyInAnyOrder(
                        "SAGEMAKER_BIND_TO_PORT: found \"x\", expected a whole number from 0 to 65535",
                        "BERTH_QUEUE_CAPACITY: found \"0\", expected a whole number, at least 1",
                        "BERTH_LOG: there is no such setting; see serve --help for those there are",
                        "--timeout: found \"1m\", expected a whole number of seconds from 1 to 1000000");
        assertThat(thrown).hasMessageContainingAll(thrown.problems().toArray(String[]::new));
    }

    /// In a namespace of Kubernetes with the Services `berth`, `berth-qa`, `berth-grpc` and
    /// `serving`.
    @ParameterizedTest
    @CsvSource({
        "BERTH_SERVICE_HOST, 10.96.10.5",
        "BERTH_SERVICE_PORT, 80",
        "BERTH_SERVICE_PORT_HTTP, 80",
        "BERTH_PORT, tcp://10.96.10.5:80",
        "BERTH_PORT_8080_TCP, tcp://10.96.10.5:8080",
        "BERTH_PORT_8080_TCP_PROTO, tcp",
        "BERTH_PORT_8080_TCP_PORT, 8080",
        "BERTH_QA_SERVICE_HOST, 10.96.10.6",
        "BERTH_QA_PORT_80_TCP_ADDR, 10.96.10.6",
        "BERTH_QA_PORT, udp://10.96.10.6:53",
        "SERVING_SERVICE_PORT, 80",
        "SERVING_PORT, tcp://10.96.10.8:80"
    })
    void a_link_to_a_service_is_no_setting(String name, String value) {
        assertThat(shown(Map.of(name, value))).isEqualTo(shown(Map.of()));
    }

    @Test
    void variables_of_other_servers_without_effect_are_a_warning_for_each_reason() {
        var environment = Map.of(
                "OPTION_ENGINE", "Python",
                "OPTION_ROLLING_BATCH", "vllm",
                "OPTION_DTYPE", "",
                "SAGEMAKER_TS_MIN_WORKERS", "1",
                "SAGEMAKER_SUBMIT_DIRECTORY", "/opt/ml/model/code",
                "SAGEMAKER_TS_MAX_WORKERS", "3",
                "TS_DEFAULT_RESPONSE_TIMEOUT", "120",
                "TS_MAX_REQUEST_SIZE", "1048576");
        var configuration = Configuration.read(environment, Map.of(), home);
        assertThat(configuration.warnings())
                .containsExactly(
                        "SAGEMAKER_TS_MIN_WORKERS: no effect here; workers do not come and go; --workers is"
                                + " their number",
                        "OPTION_ENGINE, OPTION_ROLLING_BATCH: no effect here; of DJL Serving's models;"
                                + " model.json describes a model, --instance-type, --workers and --max-batch-size"
                                + " how it is run");
    }

    @Test
    void a_host_of_ipv6_stands_in_brackets_in_a_url() {
        assertThat(HttpConfig.inUrl("::1")).isEqualTo("[::1]");
        assertThat(HttpConfig.inUrl("[::1]")).isEqualTo("[::1]");
        assertThat(HttpConfig.inUrl("::", "localhost")).isEqualTo("localhost");
        assertThat(HttpConfig.inUrl("10.0.0.1", "localhost")).isEqualTo("10.0.0.1");
    }

    /// @param said variables and flags with their values
    private List<String> effective(String said) {
        var all = variables(said);
        var flags = new HashMap<>(all);
        flags.keySet().removeIf(name -> !name.startsWith("--"));
        all.keySet().removeAll(flags.keySet());
        return shown(Configuration.read(all, flags, home).config());
    }

    private List<String> shown(Map<String, String> environment) {
        return shown(read(environment));
    }

    private static List<String> shown(ServerConfig config) {
        return config.effective().stream().map(Object::toString).toList();
    }

    private Map<String, String> variables(String said) {
        return Arrays.stream(said.replace("HOME", home.toString()).split(" "))
                .map(each -> each.split("=", 2))
                .collect(Collectors.toMap(each -> each[0], each -> each[1]));
    }

    private ServerConfig read(Map<String, String> environment) {
        return Configuration.read(environment, Map.of(), home, Routes::has).config();
    }

    private List<String> problems(Map<String, String> environment) {
        return catchThrowableOfType(
                        ConfigurationException.class,
                        () -> Configuration.read(environment, Map.of(), home, Routes::has))
                .problems();
    }
}
