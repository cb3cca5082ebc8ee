package dev.berth.deploy;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.gson.JsonElement;
import com.google.gson.JsonParser;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.berth.config.Configuration;
import dev.berth.config.HttpConfig;
import dev.berth.config.ServerConfig;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestArtifact;
import dev.berth.testing.TestServer;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/// `deploy/kubernetes`, `deploy/kserve` and the job of `deploy/batch`, compared with the APIs of
/// Kubernetes and KServe, and with Berth.
class KubernetesFilesTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path KUBERNETES = Path.of("deploy/kubernetes");
    private static final Path RUNTIME = Path.of("deploy/kserve/runtime.yaml");
    private static final Path SERVICE = Path.of("deploy/kserve/inference-service.yaml");
    private static final Path JOB = Path.of("deploy/batch/kubernetes-job.yaml");
    private static final Path KSERVE_SCHEMAS = Path.of("src/test/resources/kserve/schemas.json");

    static Stream<Path> objects() {
        return Stream.concat(
                Stream.of("deployment", "service", "disruption-budget", "autoscaler", "network-policy")
                        .map(name -> KUBERNETES.resolve(name + ".yaml")),
                Stream.of(JOB));
    }

    @ParameterizedTest
    @MethodSource("objects")
    void anObjectIsAsTheApiSays(Path file) throws Exception {
        var object = read(Files.readString(file));
        check(object.path("apiVersion").asText(), object.path("kind").asText(), object);
    }

    @Test
    void kustomizeTakesThemAll() throws Exception {
        var kustomization = read(Files.readString(KUBERNETES.resolve("kustomization.yaml")));
        var taken =
                texts(kustomization.path("resources")).map(KUBERNETES::resolve).toList();
        assertThat(taken)
                .containsExactlyInAnyOrderElementsOf(
                        objects().filter(file -> !file.equals(JOB)).toList());
        assertThat(container().path("image").asText())
                .startsWith(kustomization.at("/images/0/name").asText() + ":");
    }

    @ParameterizedTest
    @CsvSource({"deploy/kserve/runtime.yaml", "deploy/kserve/inference-service.yaml"})
    void kservesObjectsAreAsItsTypesSay(Path file) throws Exception {
        assertThat(kserveProblems(Files.readString(file))).isEmpty();
        for (var container : read(Files.readString(file)).path("spec").path("containers")) {
            check("v1", "Container", container);
        }
    }

    @Test
    void kserveFindsTheRuntimeForTheModel() throws Exception {
        var runtime = read(Files.readString(RUNTIME)).path("spec");
        var model = read(Files.readString(SERVICE)).at("/spec/predictor/model");
        assertThat(runtime.at("/supportedModelFormats/0/name")).isEqualTo(model.at("/modelFormat/name"));
        assertThat(runtime.at("/supportedModelFormats/0/version")).isEqualTo(model.at("/modelFormat/version"));
        assertThat(runtime.at("/protocolVersions/0")).isEqualTo(model.path("protocolVersion"));
        assertThat(runtime.at("/containers/0/name").asText()).isEqualTo("kserve-container");
        assertThat(variables(runtime.at("/containers/0")).get("BERTH_MODEL_DIR"))
                .isEqualTo("/mnt/models");
    }

    /// A format but `berth` is a plain file, as KServe downloads it to an otherwise empty directory.
    @Test
    void aPlainFileOfEachFormatIsServed(@TempDir Path directory) throws Exception {
        var answers = Map.of(
                "onnx", "{\"predictions\":[{\"y\":[8.0],\"twice\":[2.0,4.0]}]}",
                "pytorch", "{\"predictions\":[[2.0,4.0]]}");
        var formats = read(Files.readString(RUNTIME)).at("/spec/supportedModelFormats");
        assertThat(formats).allMatch(format -> format.path("autoSelect").asBoolean());
        assertThat(names(formats).filter(name -> !name.equals("berth")))
                .containsExactlyInAnyOrderElementsOf(answers.keySet());
        for (var answer : answers.entrySet()) {
            var models = Files.createDirectory(directory.resolve(answer.getKey()));
            if (answer.getKey().equals("onnx")) {
                OnnxModel.linear().write(models.resolve("model.onnx"));
            } else {
                Files.copy(TestArtifact.TORCHSCRIPT.resolve("doubled.pt"), models.resolve("model.pt"));
            }
            try (var server = TestServer.artifact(models).start("BERTH_MODEL_NAME=qa")) {
                assertThat(server.post("/v1/models/qa:predict", "{\"instances\": [[1, 2]]}")
                                .body())
                        .isEqualTo(answer.getValue());
                assertStatus(server.get("/v2/models/qa/ready"), 200);
            }
        }
    }

    /// What KServe's formats `sklearn`, `xgboost` and `lightgbm` are. The runtime must not be selected for them.
    @ParameterizedTest
    @ValueSource(strings = {"model.joblib", "model.pkl", "model.bst", "model.ubj", "model.txt"})
    void aFileThatNeedsAConversionIsRefused(String file, @TempDir Path models) throws Exception {
        Files.writeString(models.resolve(file), "a model");
        TestServer.artifact(models).assertDoesNotStart("only %s, which no engine here reads".formatted(file));
    }

    @Test
    void kservesUrlsHaveTheNameOfItsService() throws Exception {
        var service = read(Files.readString(SERVICE)).at("/metadata/name").asText();
        var arguments = texts(runtime().path("args")).toList();
        assertThat(arguments).hasSize(2).first().isEqualTo("serve");
        var option = arguments.getLast().replace("{{.Name}}", service).split("=");
        assertThat(option).startsWith("--model-name");
        try (var server = TestServer.sample().start("BERTH_MODEL_NAME=" + option[1])) {
            assertStatus(server.get("/v2/models/" + service + "/ready"), 200);
            assertStatus(server.get("/v1/models/" + service), 200);
        }
    }

    @Test
    void aPodHasTimeToDrain() throws Exception {
        var config = config(container());
        var pod = deployment().at("/spec/template/spec");
        assertThat(config.get(HttpConfig.LAME_DUCK)).isPositive();
        assertThat(Duration.ofSeconds(pod.path("terminationGracePeriodSeconds").asLong()))
                .isGreaterThanOrEqualTo(config.get(HttpConfig.LAME_DUCK)
                        .plus(config.get(HttpConfig.DRAIN))
                        .plusSeconds(5));
        // KServe has the grace period of Kubernetes.
        var kserve = config(runtime());
        assertThat(kserve.get(HttpConfig.LAME_DUCK)
                        .plus(kserve.get(HttpConfig.DRAIN))
                        .plusSeconds(5))
                .isLessThanOrEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void noProbeKillsAModelThatLoads() throws Exception {
        for (var container : List.of(container(), runtime())) {
            var startup = container.path("startupProbe");
            assertThat(startup.path("periodSeconds").asInt()
                            * startup.path("failureThreshold").asInt())
                    .isGreaterThanOrEqualTo(600);
            var liveness = container.path("livenessProbe");
            assertThat(liveness.path("periodSeconds").asInt()
                            * liveness.path("failureThreshold").asInt())
                    .isGreaterThanOrEqualTo(60);
            for (var probe : List.of("startupProbe", "readinessProbe", "livenessProbe")) {
                assertThat(container.path(probe).at("/httpGet/path").asText()).isEqualTo("/ping");
                assertThat(container.path(probe).at("/httpGet/port").asText()).isIn("http", "8080");
            }
            assertThat(container.at("/ports/0/containerPort").asInt())
                    .isEqualTo(config(container).get(HttpConfig.PORT));
        }
    }

    @Test
    void aPodMayDoNothing() throws Exception {
        assertThat(deployment()
                        .at("/spec/template/spec/securityContext/runAsNonRoot")
                        .asBoolean())
                .isTrue();
        var batch = read(Files.readString(JOB)).at("/spec/template/spec/containers/0");
        for (var container : List.of(container(), runtime(), batch)) {
            var security = container.path("securityContext");
            assertThat(security.path("readOnlyRootFilesystem").asBoolean()).isTrue();
            assertThat(security.path("allowPrivilegeEscalation").asBoolean(true))
                    .isFalse();
            assertThat(security.at("/capabilities/drop/0").asText()).isEqualTo("ALL");
            assertThat(container.path("volumeMounts"))
                    .as("a place for temporary files")
                    .anyMatch(mount -> mount.path("mountPath").asText().equals("/tmp"));
            // Berth sizes itself to the limit.
            assertThat(container.at("/resources/limits/memory").asText()).isNotEmpty();
        }
    }

    @Test
    void allObjectsMeanTheSamePods() throws Exception {
        var labels = deployment().at("/spec/template/metadata/labels");
        assertThat(labels).isNotEmpty();
        assertThat(deployment().at("/spec/selector/matchLabels")).isEqualTo(labels);
        assertThat(object("service").at("/spec/selector")).isEqualTo(labels);
        assertThat(object("disruption-budget").at("/spec/selector/matchLabels")).isEqualTo(labels);
        assertThat(object("network-policy").at("/spec/podSelector/matchLabels")).isEqualTo(labels);
        assertThat(object("autoscaler").at("/spec/scaleTargetRef/name"))
                .isEqualTo(deployment().at("/metadata/name"));
        assertThat(object("service").at("/spec/ports/0/targetPort"))
                .isEqualTo(container().at("/ports/0/name"));
        assertThat(object("network-policy").at("/spec/ingress/0/ports/0/port"))
                .isEqualTo(container().at("/ports/0/name"));
    }

    /// From Berth over Prometheus and its adapter to the autoscaler.
    @Test
    void theAutoscalersMetricIsThere() throws Exception {
        var metric = object("autoscaler").at("/spec/metrics/0/pods/metric/name").asText();
        var rule = object("prometheus-adapter").at("/rules/custom/0");
        assertThat(rule.path("seriesQuery").asText()).startsWith(metric + "{");
        var annotations = deployment().at("/spec/template/metadata/annotations");
        try (var server = TestServer.sample().start()) {
            assertThat(server.get(annotations.path("prometheus.io/path").asText())
                            .body())
                    .contains("\n" + metric + "{model=");
        }
    }

    /// So that the tests above mean something.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        deployment|failureThreshold|failureTreshold|failureTreshold
        deployment|drop:|dropp:|dropp
        deployment|matchLabels|matchLabel|matchLabel
        disruption-budget|maxUnavailable|maxUnavailble|maxUnavailble
        autoscaler|maxReplicas:|maxReplica:|maxReplica
        network-policy|podSelector: {}|podSelectors: {}|podSelectors
        """)
    void aMistakeIsNoticed(String name, String right, String wrong, String message) throws Exception {
        var text = Files.readString(KUBERNETES.resolve(name + ".yaml"));
        assertThat(text).contains(right);
        var object = read(text.replaceFirst(Pattern.quote(right), wrong));
        assertThatThrownBy(() -> check(
                        object.path("apiVersion").asText(), object.path("kind").asText(), object))
                .hasMessageContaining(message);
    }

    @Test
    void aMistakeInKservesObjectsIsNoticed() throws Exception {
        assertThat(kserveProblems(Files.readString(RUNTIME).replace("autoSelect", "autoselect")))
                .contains("autoselect");
        assertThat(kserveProblems(Files.readString(SERVICE).replace("modelFormat", "format")))
                .contains("modelFormat");
    }

    /// Fails where an object of Kubernetes' own is not as its API says. Others, such as the
    /// Prometheus operator's, it does not know.
    static void check(String version, String kind, JsonNode object) throws Exception {
        // The classes are generated from the OpenAPI document: those of apps/v1 begin with V1.
        var prefix = version.substring(version.lastIndexOf('/') + 1).toUpperCase(Locale.ROOT);
        var type = Class.forName("io.kubernetes.client.openapi.models." + prefix + kind);
        try {
            type.getMethod("validateJsonElement", JsonElement.class)
                    .invoke(null, JsonParser.parseString(object.toString()));
            assertThat(type.getMethod("fromJson", String.class).invoke(null, object.toString()))
                    .isNotNull();
        } catch (InvocationTargetException e) {
            throw new IllegalArgumentException(e.getCause());
        }
    }

    private static String kserveProblems(String text) throws Exception {
        var object = read(text);
        var type =
                object.path("apiVersion").asText() + "/" + object.path("kind").asText();
        var schema = JSON.readTree(KSERVE_SCHEMAS.toFile()).path("schemas").path(type);
        assertThat(schema.isMissingNode()).as(type).isFalse();
        return String.join(
                "\n",
                SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
                        .getSchema(schema.toString(), InputFormat.JSON)
                        .validate(object.toString(), InputFormat.JSON)
                        .stream()
                        .map(Object::toString)
                        .toList());
    }

    private static ServerConfig config(JsonNode container) {
        var variables = variables(container);
        variables.remove("BERTH_MODEL_DIR"); // a directory of the container
        return Configuration.read(variables, Map.of(), Path.of(".")).config();
    }

    private static Map<String, String> variables(JsonNode container) {
        var variables = new HashMap<String, String>();
        container
                .path("env")
                .forEach(variable -> variables.put(
                        variable.path("name").asText(), variable.path("value").asText()));
        return variables;
    }

    static Stream<String> texts(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false).map(JsonNode::asText);
    }

    private static Stream<String> names(JsonNode list) {
        return StreamSupport.stream(list.spliterator(), false)
                .map(entry -> entry.path("name").asText());
    }

    private static JsonNode container() throws Exception {
        return deployment().at("/spec/template/spec/containers/0");
    }

    /// That of KServe's.
    private static JsonNode runtime() throws Exception {
        return read(Files.readString(RUNTIME)).at("/spec/containers/0");
    }

    private static JsonNode deployment() throws Exception {
        return object("deployment");
    }

    private static JsonNode object(String name) throws Exception {
        return read(Files.readString(KUBERNETES.resolve(name + ".yaml")));
    }

    static JsonNode read(String text) {
        var options = new LoaderOptions();
        options.setAllowDuplicateKeys(false);
        return JSON.valueToTree(new Yaml(new SafeConstructor(options)).load(text));
    }
}
