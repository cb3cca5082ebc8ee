package dev.berth.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.model.Capability;
import dev.berth.testing.BerthImage;
import dev.berth.testing.Compose;
import dev.berth.testing.DeployTools;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;

/// `deploy/compose`, as far as it runs without the images of Prometheus and Grafana: Debian has
/// Prometheus, and not Grafana.
@Tag("packaged")
class ComposeTest {

    private static final Path COMPOSE = Path.of("deploy/compose").toAbsolutePath();
    private static final Path RULES =
            Path.of("deploy/dashboards/prometheus-rules.yml").toAbsolutePath();

    @BeforeAll
    static void buildTheImages() throws Exception {
        BerthImage.build();
        DeployTools.build();
    }

    @Test
    void theFileIsAsComposeWantsIt() throws Exception {
        var command = new ArrayList<>(Compose.command());
        command.addAll(List.of("-f", COMPOSE.resolve("compose.yaml").toString(), "config", "--quiet"));
        BerthImage.run(command, Path.of("target", "compose-config.log"));
    }

    /// Berth has as few rights as in the file of Compose and in those of Kubernetes.
    @Test
    void prometheusReadsTheMetricsOfAServer() throws Exception {
        try (var network = Network.newNetwork();
                var server = BerthImage.serving()
                        .withNetwork(network)
                        .withNetworkAliases("berth")
                        .withCreateContainerCmdModifier(ComposeTest::takeRights);
                var prometheus = prometheus(network, COMPOSE.resolve("prometheus.yaml"), RULES)) {
            server.start();
            BerthImage.awaitReady(server, 8080);
            prometheus.start();
            await().atMost(BerthImage.LONGEST).untilAsserted(() -> {
                assertThat(ask(prometheus, "up{job=\"berth\"}")).contains("=> 1 @");
                assertThat(ask(prometheus, "berth_models_loaded"))
                        .contains("instance=\"berth:8080\"")
                        .contains("=> 1 @");
            });
        }
    }

    @Test
    void anAlertFiresForWhatItIsFor() throws Exception {
        BerthImage.run(
                List.of(
                        "docker",
                        "run",
                        "--rm",
                        "--volume=" + RULES + ":/etc/berth/rules.yml:ro",
                        "--volume=" + Path.of("src/test/deploy").toAbsolutePath() + ":/tests:ro",
                        DeployTools.IMAGE,
                        "promtool",
                        "test",
                        "rules",
                        "/tests/alerts.yml"),
                Path.of("target", "promtool-test.log"));
    }

    @Test
    void alertsFireInPrometheus(@TempDir Path directory) throws Exception {
        Files.createDirectory(directory.resolve("code"));
        Files.writeString(directory.resolve("code/Inference.java"), """
        import dev.berth.hooks.*;
        import java.util.List;

        public final class Inference implements StreamingHandler<Void, String, String, StringBuilder> {
          public Void modelFn(ModelContext context) { return null; }
          public List<String> inputFn(InvocationRequest request) throws Exception { return List.of(request.text()); }
          public StringBuilder beginFn(String record, Void model) { return new StringBuilder(record); }
          public void stepFn(List<PartStream<StringBuilder, String>> streams, Void model) {
            var stream = streams.getFirst();
            if (stream.state().indexOf("torn") != 0) throw new InsufficientMemoryException("no room");
            stream.emit("a part");
            stream.state().insert(0, "no longer ");
          }
          public byte[] partFn(String part, int record, InvocationRequest request) { return part.getBytes(); }
          public String join(String record, List<String> parts) { return String.join("", parts); }
          public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
            return InvocationResponse.of(predictions.getFirst(), MediaType.TEXT);
          }
          public List<MediaType> responseTypes() { return List.of(MediaType.TEXT, MediaType.EVENT_STREAM); }
        }
        """);
        // As they are, but for the minutes that a test would wait.
        var config = directory.resolve("prometheus.yml");
        Files.writeString(
                config,
                Files.readString(COMPOSE.resolve("prometheus.yaml"))
                        .replace("scrape_interval: 5s", "scrape_interval: 1s\n  evaluation_interval: 1s"));
        var rules = directory.resolve("rules.yml");
        Files.writeString(rules, Files.readString(RULES).replaceAll("for: \\d+m", "for: 1s"));
        try (var network = Network.newNetwork();
                var server = BerthImage.serving(directory).withNetwork(network).withNetworkAliases("berth");
                var prometheus = prometheus(network, config, rules)) {
            server.start();
            BerthImage.awaitReady(server, 8080);
            prometheus.start();
            await().atMost(BerthImage.LONGEST).until(() -> {
                for (var body : List.of("torn", "full")) {
                    server.execInContainer(
                            "busybox",
                            "wget",
                            "-O-",
                            "--header=Content-Type: text/plain",
                            "--header=Accept: text/event-stream",
                            "--post-data=" + body,
                            "http://127.0.0.1:8080/invocations");
                }
                return fires(prometheus, "BerthStreamsBreak") && fires(prometheus, "BerthFailing");
            });
            assertThat(fires(prometheus, "BerthDown")).isFalse();
            server.stop();
            await().atMost(BerthImage.LONGEST).until(() -> fires(prometheus, "BerthDown"));
        }
    }

    private static boolean fires(GenericContainer<?> prometheus, String alert) throws Exception {
        var query = "ALERTS{alertname=\"%s\",alertstate=\"firing\"}".formatted(alert);
        return ask(prometheus, query).contains("=> 1 @");
    }

    private static GenericContainer<?> prometheus(Network network, Path config, Path rules) {
        return new GenericContainer<>(DeployTools.IMAGE)
                .withNetwork(network)
                .withFileSystemBind(config.toString(), "/etc/berth/prometheus.yml", BindMode.READ_ONLY)
                .withFileSystemBind(rules.toString(), "/etc/berth/rules.yml", BindMode.READ_ONLY)
                .withCommand("prometheus", "--config.file=/etc/berth/prometheus.yml", "--storage.tsdb.path=/tmp/data");
    }

    private static void takeRights(CreateContainerCmd command) {
        command.withUser("10001:10001")
                .getHostConfig()
                .withReadonlyRootfs(true)
                .withCapDrop(Capability.ALL)
                .withSecurityOpts(List.of("no-new-privileges:true"));
    }

    private static String ask(GenericContainer<?> prometheus, String query) throws Exception {
        var answer = prometheus.execInContainer("promtool", "query", "instant", "http://localhost:9090", query);
        return answer.getStdout() + answer.getStderr();
    }
}
