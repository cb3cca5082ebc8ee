package dev.berth.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.LongNode;
import com.fasterxml.jackson.databind.node.TextNode;
import com.marcnuri.helm.Helm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// `deploy/helm/berth`, rendered by Helm itself and compared with the API of Kubernetes and with
/// `deploy/kubernetes`.
class HelmChartTest {

    private static final Path CHART = Path.of("deploy/helm/berth");
    // Helm takes 1.20 where no cluster says its own.
    private static final String OLDEST = "1.27.0";
    private static final String OLDEST_WITH_IMAGE_VOLUMES = "1.33.0";
    private static final Pattern SET = Pattern.compile("--set(-string)? ([\\w.]+)=(\\S+)");
    private static final String S3 =
            "model: {source: s3, s3: {uri: 's3://bucket/model.tar.gz', image: 'registry/aws-cli:1'}}";
    private static final String OCI = "model: {source: oci, oci: {reference: 'registry/qa-model:1', subPath: models}}";

    @TempDir
    Path directory;

    @BeforeAll
    static void helmIsThere() {
        // Its library on Maven Central is for this platform alone, of those that tests run on.
        assumeTrue(System.getProperty("os.name").equals("Linux")
                && System.getProperty("os.arch").equals("amd64"));
    }

    @Test
    void lintFindsNothing() {
        var result = new Helm(CHART).lint().strict().call();
        assertThat(result.isFailed()).as(result.getMessages().toString()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "model: {source: pvc, pvc: {claimName: models, subPath: qa}}",
                S3,
                "model: {source: s3, s3: {uri: 's3://bucket/unpacked/', image: 'registry/aws-cli:1'}}",
                "{autoscaling: {enabled: false}, replicas: 1, disruptionBudget: {enabled: false}}",
                "autoscaling: {queueDepth: 4}",
                "{args: [--workers, '2'], env: [{name: BERTH_LOG_LEVEL, value: debug}], serviceAccountName: reader}",
                "{nodeSelector: {disk: ssd}, tolerations: [{key: gpu, operator: Exists}], networkPolicy: {egress: [{to: [{podSelector: {}}]}]}}"
            })
    void everyObjectIsAsTheApiSays(String values) throws Exception {
        var objects = render(values);
        assertThat(objects).containsKeys("Deployment", "Service", "NetworkPolicy");
        for (var object : objects.values()) {
            KubernetesFilesTest.check(
                    object.path("apiVersion").asText(), object.path("kind").asText(), object);
            assertThat(object.at("/metadata/name").asText()).isEqualTo("qa");
        }
    }

    /// What `kubectl apply -k` makes, a chart makes too, but for names, labels and the image.
    @Test
    void itsPodsAreThoseOfTheFiles() throws Exception {
        var chart = render("{}").get("Deployment").at("/spec/template/spec");
        var files = KubernetesFilesTest.read(Files.readString(Path.of("deploy/kubernetes/deployment.yaml")))
                .at("/spec/template/spec");
        for (var part : new String[] {
            "/automountServiceAccountToken",
            "/enableServiceLinks",
            "/terminationGracePeriodSeconds",
            "/containers/0/env",
            "/containers/0/args",
            "/containers/0/ports",
            "/containers/0/startupProbe",
            "/containers/0/readinessProbe",
            "/containers/0/livenessProbe",
            "/containers/0/resources",
            "/containers/0/securityContext",
            "/containers/0/volumeMounts",
            "/volumes"
        }) {
            assertThat(chart.at(part)).as(part).isEqualTo(files.at(part));
        }
    }

    @Test
    void allObjectsMeanTheSamePods() throws Exception {
        var objects = render("{}");
        var selector = objects.get("Deployment").at("/spec/selector/matchLabels");
        assertThat(selector).hasSize(2);
        var labels = objects.get("Deployment").at("/spec/template/metadata/labels");
        selector.properties().forEach(e -> assertThat(labels.get(e.getKey())).isEqualTo(e.getValue()));
        assertThat(objects.get("Service").at("/spec/selector")).isEqualTo(selector);
        assertThat(objects.get("PodDisruptionBudget").at("/spec/selector/matchLabels"))
                .isEqualTo(selector);
        assertThat(objects.get("NetworkPolicy").at("/spec/podSelector/matchLabels"))
                .isEqualTo(selector);
        assertThat(objects.get("HorizontalPodAutoscaler")
                        .at("/spec/scaleTargetRef/name")
                        .asText())
                .isEqualTo("qa");
    }

    @Test
    void aModelInS3IsFetchedAndUnpackedBeforeTheServerStarts() throws Exception {
        var objects = render(S3);
        var pod = objects.get("Deployment").at("/spec/template/spec");
        assertThat(pod.at("/initContainers/0/image").asText()).isEqualTo("registry/aws-cli:1");
        assertThat(pod.at("/initContainers/0/args").toString())
                .contains("s3://bucket/model.tar.gz", "/fetched/model.tar.gz");
        assertThat(pod.at("/initContainers/1/image")).isEqualTo(pod.at("/containers/0/image"));
        assertThat(pod.at("/containers/0/volumeMounts/1/mountPath").asText()).isEqualTo("/opt/ml/model");
        // Else nothing could be fetched.
        assertThat(objects.get("NetworkPolicy").at("/spec/egress/0/ports")).hasSize(3);
        assertThat(render("{}").get("NetworkPolicy").path("spec").has("egress")).isFalse();
    }

    @Test
    void aModelInAnImageOfItsOwnIsMountedReadOnly() throws Exception {
        var deployment = render(OCI, OLDEST_WITH_IMAGE_VOLUMES).get("Deployment");
        KubernetesFilesTest.check("apps/v1", "Deployment", deployment);
        var pod = deployment.at("/spec/template/spec");
        assertThat(pod.at("/volumes/1"))
                .isEqualTo(KubernetesFilesTest.read(
                        "{name: model, image: {reference: 'registry/qa-model:1', pullPolicy: IfNotPresent}}"));
        assertThat(pod.at("/containers/0/volumeMounts/1"))
                .isEqualTo(KubernetesFilesTest.read(
                        "{name: model, mountPath: /opt/ml/model, readOnly: true, subPath: models}"));
        assertThat(render(OCI.replace(", subPath: models", ""), OLDEST_WITH_IMAGE_VOLUMES)
                        .get("Deployment")
                        .at("/spec/template/spec/containers/0/volumeMounts/1")
                        .has("subPath"))
                .isFalse();
        assertThat(pod.has("initContainers")).isFalse();
    }

    /// Older ones have no such field, or as an alpha that is off.
    @Test
    void aKubernetesWithoutImageVolumesIsRefused() {
        assertThatThrownBy(() -> render(OCI, "1.32.9"))
                .hasMessageContaining("model.source: found oci on Kubernetes v1.32.9, expected 1.33 or newer");
    }

    /// A grace period holds the lame duck and the drain, and an image has its digest where there is one.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        {lameDuckSeconds: 30, drainSeconds: 45} | /terminationGracePeriodSeconds | 85
        image: {repository: registry/qa, digest: 'sha256:DIGEST'} | /containers/0/image | registry/qa@sha256:DIGEST
        """)
    void aValueIsThatOfThePod(String values, String place, String expected) throws Exception {
        var digest = "0123456789abcdef".repeat(4);
        var pod = render(values.replace("DIGEST", digest)).get("Deployment").at("/spec/template/spec");
        assertThat(pod.at(place).asText()).isEqualTo(expected.replace("DIGEST", digest));
    }

    @Test
    void theOperatorOfPrometheusTakesThePlaceOfAnnotations() throws Exception {
        var objects = render("serviceMonitor: {enabled: true, labels: {release: prometheus}}");
        assertThat(objects.get("ServiceMonitor").at("/metadata/labels/release").asText())
                .isEqualTo("prometheus");
        assertThat(objects.get("ServiceMonitor").at("/spec/selector/matchLabels"))
                .isEqualTo(objects.get("Service").at("/spec/selector"));
        assertThat(objects.get("Deployment").at("/spec/template/metadata").has("annotations"))
                .isFalse();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        model: {source: hub}|/model/source|one of
        model: {source: oci}|/model/oci/reference|minLength
        model: {source: oci, oci: {reference: 'registry/qa model'}}|/model/oci/reference|pattern
        model: {source: oci, oci: {reference: 'registry/qa-model', pullPolicy: Sometimes}}|/model/oci/pullPolicy|one of
        model: {source: pvc}|/model/pvc/claimName|minLength
        model: {source: s3}|/model/s3/uri|minLength
        model: {source: s3, s3: {uri: 's3://bucket/model.tar.gz'}}|/model/s3/image|minLength
        model: {source: s3, s3: {uri: 'https://bucket/model.tar.gz'}}|/model/s3/uri|pattern
        drainSeconds: 20s|/drainSeconds|integer
        service: {port: 70000}|/service/port|maximum
        image: {digest: abc}|/image/digest|pattern
        image: {tags: '1'}|/image|tags
        replica: 2||replica
        """)
    void aWrongValueSaysSo(String values, String place, String problem) {
        assertThatThrownBy(() -> render(values))
                .hasMessageContaining(place == null ? "" : place)
                .hasMessageContaining(problem);
    }

    /// `--set` makes a number of what looks like one.
    @Test
    void theCommandsOfTheGuideFitTheChart() throws Exception {
        var guide = Files.readString(Path.of("docs/deploy.md")).replace("\\\n", " ");
        var commands = guide.lines()
                .filter(line -> line.startsWith("helm install qa "))
                .toList();
        assertThat(commands).hasSize(4);
        for (var command : commands) {
            var values = JsonNodeFactory.instance.objectNode();
            for (var set : SET.matcher(command).results().toList()) {
                var name = JsonPointer.compile("/" + set.group(2).replace('.', '/'));
                boolean isNumber = set.group(1) == null && set.group(3).matches("\\d+");
                var object = name.head().matches() ? values : values.withObject(name.head());
                object.set(
                        name.last().getMatchingProperty(),
                        isNumber ? LongNode.valueOf(Long.parseLong(set.group(3))) : TextNode.valueOf(set.group(3)));
            }
            assertThat(render(values.toString(), OLDEST_WITH_IMAGE_VOLUMES))
                    .as(command)
                    .containsKey("Deployment");
        }
    }

    private Map<String, JsonNode> render(String values) throws Exception {
        return render(values, OLDEST);
    }

    /// Objects by their kinds, of which a chart has one each.
    private Map<String, JsonNode> render(String values, String kubernetes) throws Exception {
        var file = Files.writeString(directory.resolve("values.yaml"), values);
        var text = new Helm(CHART)
                .template()
                .withName("qa")
                .withKubeVersion(kubernetes)
                .withValuesFile(file)
                .call();
        var objects = new LinkedHashMap<String, JsonNode>();
        for (var document : text.split("(?m)^---$")) {
            var object = KubernetesFilesTest.read(document);
            if (object.has("kind")) {
                objects.put(object.path("kind").asText(), object);
            }
        }
        return objects;
    }
}
