package dev.berth.deploy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.command.CreateContainerCmd;
import com.github.dockerjava.api.model.Capability;
import dev.berth.testing.BerthImage;
import dev.berth.testing.Compose;
import dev.berth.testing.DeployTools;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
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
        var server =
            BerthImage.serving()
                .withNetwork(network)
                .withNetworkAliases("berth")
                .withCreateContainerCmdModifier(ComposeTest::takeRights);
        var prometheus =
            new GenericContainer<>(DeployTools.IMAGE)
                .withNetwork(network)
                .withFileSystemBind(
                    COMPOSE.resolve("prometheus.yaml").toString(),
                    "/etc/berth/prometheus.yml",
                    BindMode.READ_ONLY)
                .withFileSystemBind(RULES.toString(), "/etc/berth/rules.yml", BindMode.READ_ONLY)
                .withCommand(
                    "prometheus",
                    "--config.file=/etc/berth/prometheus.yml",
                    "--storage.tsdb.path=/tmp/data")) {
      server.start();
      BerthImage.awaitReady(server, 8080);
      prometheus.start();
      await()
          .atMost(BerthImage.LONGEST)
          .untilAsserted(
              () -> {
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

  private static void takeRights(CreateContainerCmd command) {
    command
        .withUser("10001:10001")
        .getHostConfig()
        .withReadonlyRootfs(true)
        .withCapDrop(Capability.ALL)
        .withSecurityOpts(List.of("no-new-privileges:true"));
  }

  private static String ask(GenericContainer<?> prometheus, String query) throws Exception {
    var answer =
        prometheus.execInContainer("promtool", "query", "instant", "http://localhost:9090", query);
    return answer.getStdout() + answer.getStderr();
  }
}
