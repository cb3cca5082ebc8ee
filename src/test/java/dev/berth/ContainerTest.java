package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.github.dockerjava.api.model.Device;
import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestArtifact;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.output.OutputFrame;
import org.testcontainers.images.builder.Transferable;

/// The built server inside real containers that restrict it as SageMaker does. The image of its own comes later; here
/// the server's files are mounted into a plain JDK image.
///
/// Requests are made inside the container, since one of them has no network.
@Tag("packaged")
class ContainerTest {

  private static final String IMAGE = "eclipse-temurin:25-jdk";
  private static final String BODY = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

  @BeforeAll
  static void needsDocker() {
    boolean available = DockerClientFactory.instance().isDockerAvailable();
    if ("true".equals(System.getenv("REQUIRE_DOCKER"))) {
      assertThat(available).as("a Docker engine, which REQUIRE_DOCKER=true asks for").isTrue();
    }
    assumeThat(available).as("a Docker engine").isTrue();
  }

  @Test
  @Tag("RUN-16")
  @Tag("RUN-18")
  void itServesWithoutANetwork() throws Exception {
    try (var container = start(c -> c.withNetworkMode("none"))) {
      assertAnswers(container);
    }
  }

  @Test
  @Tag("RUN-17")
  void itSizesItselfToItsMemoryAndProcessor() throws Exception {
    try (var container = start(c -> c.withCreateContainerCmdModifier(cmd ->
        cmd.getHostConfig().withMemory(2L << 30).withMemorySwap(2L << 30).withNanoCPUs(1_000_000_000L)))) {
      assertAnswers(container);
      assertThat(container.getLogs()).contains("1 processor").contains("ready: 1 worker");
      assertThat(container.execInContainer("sh", "-c", "grep MemTotal /proc/meminfo").getExitCode()).isZero();
      assertThat(container.getCurrentContainerInfo().getState().getOOMKilled()).isFalse();
    }
  }

  @Test
  @Tag("RUN-18")
  void itServesWhereSageMakersOwnFileIs() throws Exception {
    try (var container = start(c -> c.withCopyToContainer(
        Transferable.of("{\"EndpointArn\": \"arn:aws:sagemaker:eu-west-1:1:endpoint/x\", \"ResourceId\": \"i-1\"}"),
        "/opt/ml/.sagemaker_infra/endpoint-metadata.json"))) {
      assertAnswers(container);
    }
  }

  @Test
  @Tag("SLS-01")
  @Tag("RUN-05")
  void itServesAnUnprivilegedUserOnAReadOnlyDisk() throws Exception {
    try (var container = start(c -> c
        // libtorch is unpacked there, and some platforms mount /tmp without the right to run from it.
        .withTmpFs(Map.of("/tmp", "rw,exec,size=1g,mode=1777"))
        .withCreateContainerCmdModifier(cmd -> {
          cmd.withUser("1234:1234");
          cmd.getHostConfig().withReadonlyRootfs(true);
        }))) {
      assertAnswers(container);
    }
  }

  /// All of an Inf2 instance but its chip: a device node, a Python environment's layout with a library that has the
  /// operators of the compiled files, and files that refuse any shape but their own.
  @Test
  @EnabledOnOs(architectures = "amd64")
  void itServesACompiledModelWithACopyOnEachNeuronCore(@TempDir Path packages, @TempDir Path artifact) throws Exception {
    var libtorch = unpackLibtorch(packages);
    var neuron = Files.createDirectories(libtorch.resolve("../../torch_neuronx/lib").normalize());
    Files.copy(TestArtifact.OPERATORS, neuron.resolve("libtorchneuron.so"));
    TestArtifact.compiled(artifact, "inf2", "neuron-1x128.pt", "neuron-2x384.pt");
    try (var container = start(artifact, c -> withNeuronDevice(c)
        .withEnv("NEURON_RT_NUM_CORES", "2")
        .withFileSystemBind(packages.toString(), packages.toString(), BindMode.READ_ONLY)
        .withEnv("PYTORCH_LIBRARY_PATH", libtorch.toString()))) {
      assertAnswers(container, "\"answer\":");
      assertThat(container.getLogs()).contains("[inf2 core 0, inf2 core 1]").contains("ready: 2 workers").contains("maxBatchSize=2");
    }
  }

  /// DJL's own copy, which it unpacks when it starts.
  private static Path unpackLibtorch(Path directory) throws Exception {
    try (var server = ServeProcess.serve(Map.of("DJL_CACHE_DIR", directory.toString())).awaitReady()) {
      server.terminate().exitCode(Duration.ofSeconds(30));
    }
    try (var files = Files.walk(directory)) {
      return files.filter(file -> file.endsWith("libtorch_cpu.so")).findFirst().orElseThrow().getParent();
    }
  }

  @Test
  @Tag("RUN-14")
  void aNeuronDeviceWithoutItsLibraryOrItsCoresEndsTheProcess(@TempDir Path artifact) throws Exception {
    TestArtifact.compiled(artifact, "inf2", "waves-1x128.pt");
    assertEnds(artifact, c -> withNeuronDevice(c).withEnv("BERTH_NEURON_CORES", "2"),
        "inf2 needs libtorchneuron.so of the Python package torch_neuronx: found it neither in BERTH_EXTRA_LIBRARIES nor");
    assertEnds(artifact, ContainerTest::withNeuronDevice, "does not tell how many NeuronCores there are, newer ones only to root; set NEURON_RT_NUM_CORES");
    assertEnds(artifact, c -> c, "no Neuron device");
  }

  private static GenericContainer<?> withNeuronDevice(GenericContainer<?> container) {
    return container.withEnv("INSTANCE_TYPE", "ml.inf2.xlarge").withCreateContainerCmdModifier(cmd ->
        cmd.getHostConfig().withDevices(new Device("rwm", "/dev/neuron0", "/dev/null")));
  }

  private static void assertEnds(Path artifact, UnaryOperator<GenericContainer<?>> setUp, String problem) throws Exception {
    try (var container = start(artifact, c -> setUp.apply(c.withEnv("INSTANCE_TYPE", "ml.inf2.xlarge")))) {
      await().atMost(Duration.ofMinutes(1)).until(() -> !container.isRunning());
      assertThat(container.getCurrentContainerInfo().getState().getExitCodeLong()).isEqualTo(1);
      assertThat(container.getLogs(OutputFrame.OutputType.STDERR).lines()).singleElement().asString().contains(problem);
    }
  }

  private static GenericContainer<?> start(Consumer<GenericContainer<?>> restrictions) {
    return start(Path.of("model-artifact"), restrictions);
  }

  private static GenericContainer<?> start(Path artifact, Consumer<GenericContainer<?>> restrictions) {
    var container = new GenericContainer<>(IMAGE)
        .withFileSystemBind(path("serve"), "/opt/berth/serve", BindMode.READ_ONLY)
        .withFileSystemBind(path("target/berth.jar"), "/opt/berth/target/berth.jar", BindMode.READ_ONLY)
        .withFileSystemBind(path("target/lib"), "/opt/berth/target/lib", BindMode.READ_ONLY)
        .withFileSystemBind(artifact.toAbsolutePath().toString(), "/opt/ml/model", BindMode.READ_ONLY)
        .withCommand("/opt/berth/serve", "serve");
    restrictions.accept(container);
    container.start();
    return container;
  }

  private static void assertAnswers(GenericContainer<?> container) throws Exception {
    assertAnswers(container, "\"answer\":\"Bob\"");
  }

  private static void assertAnswers(GenericContainer<?> container, String expected) throws Exception {
    await().atMost(Duration.ofMinutes(2)).until(() -> {
      assertThat(container.isRunning()).as(container.getLogs()).isTrue();
      return send(container, "GET /ping HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n").startsWith("HTTP/1.1 200");
    });
    var answer = send(container,
        "POST /invocations HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\nContent-Type: application/json\\r\\n"
            + "Content-Length: " + BODY.length() + "\\r\\n\\r\\n" + BODY);
    assertThat(answer).startsWith("HTTP/1.1 200").contains(expected);
  }

  private static String send(GenericContainer<?> container, String request) throws IOException, InterruptedException {
    var script = "exec 3<>/dev/tcp/127.0.0.1/8080 && printf '%b' \"$1\" >&3 && cat <&3";
    return container.execInContainer("bash", "-c", script, "bash", request).getStdout();
  }

  private static String path(String file) {
    return Path.of(file).toAbsolutePath().toString();
  }
}
