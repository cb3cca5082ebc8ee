package dev.berth;

import static dev.berth.testing.BerthImage.assertAnswers;
import static dev.berth.testing.BerthImage.awaitReady;
import static dev.berth.testing.BerthImage.err;
import static dev.berth.testing.BerthImage.exitCode;
import static dev.berth.testing.BerthImage.out;
import static dev.berth.testing.BerthImage.serving;
import static dev.berth.testing.BerthImage.signal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.model.Device;
import dev.berth.testing.BerthImage;
import dev.berth.testing.TestArtifact;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.startupcheck.StartupCheckStrategy;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.images.builder.Transferable;

/// Containers of the image, started, restricted, asked and stopped as SageMaker does it and as people do.
@Tag("packaged")
class ContainerTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private static final StartupCheckStrategy EVEN_IF_IT_HAS_ENDED = new StartupCheckStrategy() {
    @Override
    public StartupStatus checkStartupState(DockerClient client, String container) {
      return StartupStatus.SUCCESSFUL;
    }
  };

  private static final HttpClient CLIENT = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  @BeforeAll
  static void buildTheImage() throws Exception {
    BerthImage.build();
  }

  @AfterAll
  static void closeTheClient() {
    CLIENT.close();
  }

  @Test
  @Tag("RUN-01")
  @Tag("RUN-05")
  @Tag("OBS-01")
  void itAnswersFromOutsideAndWritesNothingButItsLog() throws Exception {
    try (var container = serving().withExposedPorts(8080)) {
      container.start();
      awaitReady(container, 8080);
      assertThat(invoke(container, BerthImage.BODY).body()).contains("\"answer\":\"Bob\"");
      // The line is there while the server runs, and no line is anywhere else. /tmp has the JVM's own counters.
      await().until(() -> out(container).contains("POST /invocations 200"));
      assertThat(err(container)).isEmpty();
      assertThat(container.getDockerClient().containerDiffCmd(container.getContainerId()).exec())
          .allSatisfy(change -> assertThat(change.getPath()).startsWith("/tmp"));
    }
  }

  @Test
  @Tag("RUN-02")
  @Tag("RUN-09")
  @Tag("RUN-10")
  void serveOnThePathListensOnTheGivenPortOnly() throws Exception {
    try (var container = serving()
        .withEnv(Map.of("SAGEMAKER_BIND_TO_PORT", "9123", "SAGEMAKER_SAFE_PORT_RANGE", "21000-21010"))
        .withCreateContainerCmdModifier(cmd -> cmd.withEntrypoint("serve").withCmd(List.of()))) {
      container.start();
      assertAnswers(container, 9123, "Bob");
      // The fourth column is the state, 0A is listening; the second ends in the port: 23A3 is 9123.
      var listening = container.execInContainer("sh", "-c", "cat /proc/net/tcp /proc/net/tcp6 | awk '$4 == \"0A\" { print $2 }'");
      assertThat(listening.getStdout().lines()).singleElement().asString().endsWith(":23A3");
    }
  }

  @Test
  @Tag("PING-04")
  @Tag("PING-05")
  void pingIs503UntilTheModelIsReadyAnd200FromThenOn() throws Exception {
    try (var container = serving()
        .withExposedPorts(8080)
        // So that it takes a while.
        .withCreateContainerCmdModifier(cmd -> cmd.getHostConfig().withNanoCPUs(500_000_000L))
        .waitingFor(Wait.forLogMessage(".*listening on.*\\n", 1).withStartupTimeout(BerthImage.LONGEST))) {
      container.start();
      var statuses = new ArrayList<Integer>();
      await().atMost(BerthImage.LONGEST).pollInterval(Duration.ofMillis(20)).until(() -> {
        statuses.add(get(container, "/ping").statusCode());
        return statuses.getLast() == 200;
      });
      assertThat(statuses).hasSizeGreaterThan(1);
      assertThat(statuses.subList(0, statuses.size() - 1)).containsOnly(503);
      assertThat(get(container, "/ping").statusCode()).isEqualTo(200);
    }
  }

  @Test
  @Tag("RUN-07")
  @Tag("RUN-08")
  void arunningRequestIsAnsweredBeforeTheContainerStops() throws Exception {
    try (var container = serving()
        .withExposedPorts(8080)
        // Longer than the platform would wait: some machines need a minute for what others do in two seconds.
        .withEnv(Map.of("BERTH_DRAIN_SECONDS", "300", "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "300"))) {
      container.start();
      awaitReady(container, 8080);
      var context = "The sea was calm and the sky was grey that day. ".repeat(4000);
      var running = CLIENT.sendAsync(
          invocation(container, JSON.writeValueAsString(Map.of("question", "How was the sea?", "context", context))),
          BodyHandlers.ofString());
      await().atMost(BerthImage.LONGEST).until(() -> get(container, "/metrics").body().contains("berth_queue_wait_seconds_count 1"));
      // From inside, because Docker's proxy would accept any number on its own.
      var connections = container.execInContainer("bash", "-c", """
          for i in {1..100}; do
            exec {fd}<>/dev/tcp/127.0.0.1/8080
            printf 'GET /ping HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&$fd
            fds+=($fd)
          done
          for fd in ${fds[@]}; do
            read -r line <&$fd
            echo "$line"
          done""");
      assertThat(connections.getStdout().lines()).hasSize(100).allMatch(line -> line.startsWith("HTTP/1.1 200"));
      assertThat(running).isNotDone();
      signal(container, "TERM");
      assertThat(running.get().statusCode()).isEqualTo(200);
      assertThat(running.get().body()).contains("\"answer\":");
      assertThat(exitCode(container)).isZero();
      assertThat(err(container)).isEmpty();
    }
  }

  @Test
  @Tag("RUN-06")
  void itServesAgainAfterItWasKilledAndStopsWhenItIsAskedTo() throws Exception {
    try (var container = serving()) {
      container.start();
      assertAnswers(container);
      signal(container, "KILL");
      assertThat(exitCode(container)).isEqualTo(137);
      container.getDockerClient().startContainerCmd(container.getContainerId()).exec();
      assertAnswers(container);
      // What `docker stop` does; the image names the signal.
      container.getDockerClient().stopContainerCmd(container.getContainerId()).withTimeout(30).exec();
      assertThat(exitCode(container)).isZero();
    }
  }

  @Test
  @Tag("RUN-16")
  void itServesWithoutANetwork() throws Exception {
    try (var container = serving().withNetworkMode("none")) {
      container.start();
      assertAnswers(container);
    }
  }

  @Test
  @Tag("RUN-17")
  @Tag("SLS-03")
  void itSizesItselfToItsMemoryAndProcessor() throws Exception {
    try (var container = serving()
        .withCreateContainerCmdModifier(cmd ->
            cmd.getHostConfig().withMemory(1L << 30).withMemorySwap(1L << 30).withNanoCPUs(1_000_000_000L))
        // With these the JVM has another collector than where the cache was made. It ends at once if it can't use the cache.
        .withEnv("JAVA_OPTS", "-XX:AOTMode=on")) {
      container.start();
      assertAnswers(container);
      // 40 % of 1 GiB, of which the serial collector keeps a part to itself.
      assertThat(out(container)).contains("1 processor").containsPattern("\\b(39|40)\\d MiB of heap").contains("ready: 1 worker");
      assertThat(container.getCurrentContainerInfo().getState().getOOMKilled()).isFalse();
    }
  }

  @Test
  void theJvmUsesItsCacheOrDoesWithoutAWord() throws Exception {
    try (var container = serving().withEnv("JAVA_OPTS", "-XX:AOTMode=on")) {
      container.start();
      assertAnswers(container);
    }
    try (var container = serving().withEnv("JAVA_OPTS", "-XX:+UseZGC")) {
      container.start();
      assertAnswers(container);
      assertThat(out(container).lines()).allMatch(line -> line.matches("\\d{4}-\\d\\d-\\d\\dT.*"));
      assertThat(err(container)).isEmpty();
    }
  }

  @Test
  @Tag("RUN-13")
  void itIgnoresVariablesOfOthers() throws Exception {
    var container = serving();
    for (int i = 0; i < 50; i++) {
      container.withEnv("SAGEMAKER_UNKNOWN_" + i, "secret-value").withEnv("SM_UNKNOWN_" + i, "secret-value");
    }
    try (container) {
      container.start();
      assertAnswers(container);
      assertThat(container.getLogs()).doesNotContain("secret-value");
    }
  }

  @Test
  @Tag("RUN-18")
  void itServesWhereSageMakersOwnFileIs() throws Exception {
    try (var container = serving().withCopyToContainer(
        Transferable.of("{\"EndpointArn\": \"arn:aws:sagemaker:eu-west-1:1:endpoint/x\", \"ResourceId\": \"i-1\"}"),
        "/opt/ml/.sagemaker_infra/endpoint-metadata.json")) {
      container.start();
      assertAnswers(container);
    }
  }

  /// Docker mounts such a /tmp without the right to run anything from it.
  @Test
  @Tag("SLS-01")
  void itServesAnUnprivilegedUserOnAReadOnlyDisk() throws Exception {
    try (var container = serving()
        .withTmpFs(Map.of("/tmp", ""))
        .withCreateContainerCmdModifier(cmd -> {
          cmd.withUser("12345");
          cmd.getHostConfig().withReadonlyRootfs(true);
        })) {
      container.start();
      assertAnswers(container);
      assertThat(err(container)).isEmpty();
    }
  }

  @Test
  @Tag("RUN-19")
  void itLooksForDevicesWhereItIsNotToldOne() throws Exception {
    try (var container = serving().withEnv("INSTANCE_TYPE", "")) {
      container.start();
      assertAnswers(container);
      assertThat(out(container)).contains("accelerators: [cpu] (detected: no NVIDIA or Neuron device)");
    }
  }

  /// All of an Inf2 instance but its chip: a device node, a library that has the operators of the compiled files where
  /// pip would put it, and files that refuse any shape but their own.
  @Test
  @EnabledOnOs(architectures = "amd64")
  void itServesACompiledModelWithACopyOnEachNeuronCore(@TempDir Path artifact) throws Exception {
    TestArtifact.compiled(artifact, "inf2", "neuron-1x128.pt", "neuron-2x384.pt");
    try (var container = withNeuronDevice(serving(artifact))
        .withEnv("NEURON_RT_NUM_CORES", "2")
        .withFileSystemBind(
            TestArtifact.OPERATORS.toAbsolutePath().toString(), "/opt/torch_neuronx/lib/libtorchneuron.so", BindMode.READ_ONLY)) {
      container.start();
      assertAnswers(container, 8080, "\"answer\":");
      assertThat(out(container)).contains("[inf2 core 0, inf2 core 1]").contains("ready: 2 workers").contains("maxBatchSize=2");
    }
  }

  @Test
  @Tag("RUN-14")
  void aNeuronDeviceWithoutItsLibraryOrItsCoresEndsTheProcess(@TempDir Path artifact) throws Exception {
    TestArtifact.compiled(artifact, "inf2", "waves-1x128.pt");
    assertEnds(serving(artifact), c -> withNeuronDevice(c).withEnv("BERTH_NEURON_CORES", "2"),
        "inf2 needs libtorchneuron.so of the Python package torch_neuronx: found it neither in BERTH_EXTRA_LIBRARIES nor");
    assertEnds(serving(artifact), ContainerTest::withNeuronDevice,
        "does not tell how many NeuronCores there are, newer ones only to root; set NEURON_RT_NUM_CORES");
    assertEnds(serving(artifact), c -> c.withEnv("INSTANCE_TYPE", "ml.inf2.xlarge"), "no Neuron device");
  }

  @Test
  @Tag("RUN-14")
  void aModelThatIsMissingOrBrokenEndsTheProcess(@TempDir Path artifact) throws Exception {
    assertEnds(new GenericContainer<>(BerthImage.NAME).withCommand("serve"), c -> c, "/opt/ml/model");
    for (var name : List.of("model.json", "tokenizer.json")) {
      Files.copy(Path.of("model-artifact", name), artifact.resolve(name));
    }
    Files.writeString(artifact.resolve("model.pt"), "no TorchScript");
    assertEnds(serving(artifact), c -> c, "model.pt");
  }

  @Test
  void otherCommandsOfTheEntryPointAreArgumentsToo() throws Exception {
    try (var container = serving().withCommand("check")) {
      container.start();
      assertThat(exitCode(container)).isZero();
      assertThat(out(container)).contains("minilm-qa").contains("checked against sample-response.json");
    }
  }

  private static GenericContainer<?> withNeuronDevice(GenericContainer<?> container) {
    return container.withEnv("INSTANCE_TYPE", "ml.inf2.xlarge").withCreateContainerCmdModifier(cmd ->
        cmd.getHostConfig().withDevices(new Device("rwm", "/dev/neuron0", "/dev/null")));
  }

  private static void assertEnds(GenericContainer<?> container, UnaryOperator<GenericContainer<?>> setUp, String problem) {
    try (container) {
      setUp.apply(container).withStartupCheckStrategy(EVEN_IF_IT_HAS_ENDED).start();
      assertThat(exitCode(container)).isEqualTo(1);
      assertThat(err(container).lines()).singleElement().asString().contains(problem);
    }
  }

  private static HttpResponse<String> get(GenericContainer<?> container, String path) throws IOException, InterruptedException {
    return CLIENT.send(HttpRequest.newBuilder(uri(container, path)).build(), BodyHandlers.ofString());
  }

  private static HttpResponse<String> invoke(GenericContainer<?> container, String body) throws IOException, InterruptedException {
    return CLIENT.send(invocation(container, body), BodyHandlers.ofString());
  }

  private static HttpRequest invocation(GenericContainer<?> container, String body) {
    return HttpRequest.newBuilder(uri(container, "/invocations")).POST(BodyPublishers.ofString(body)).build();
  }

  private static URI uri(GenericContainer<?> container, String path) {
    return URI.create("http://%s:%d%s".formatted(container.getHost(), container.getMappedPort(8080), path));
  }
}
