package dev.berth.testcontainers;

import com.github.dockerjava.api.model.Volume;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;

/// A model in a SageMaker-compatible image, as SageMaker would start it, for tests of its clients.
///
/// ```java
/// try (var model = new SageMakerContainer("berth").withModel(Path.of("model.tar.gz"))) {
///   model.start();
///   var runtime = SageMakerRuntimeClient.builder().endpointOverride(model.runtimeEndpoint()).build();
/// }
/// ```
///
/// It is started when `/ping` answers 200. The image must have a `serve` command and listen on port
/// 8080.
public final class SageMakerContainer extends GenericContainer<SageMakerContainer> {

  private static final int PORT = 8080;
  private static final String MODEL = "/opt/ml/model";

  /// Enough for a large model on a slow machine.
  private static final Duration LONGEST_START = Duration.ofMinutes(5);

  private Optional<Path> archive = Optional.empty();
  private Optional<RuntimeEndpoint> forwarding = Optional.empty();

  /// @param image such as `berth`, or one of AWS's own
  public SageMakerContainer(String image) {
    super(image);
    withExposedPorts(PORT);
    withCommand("serve");
    waitingFor(Wait.forHttp("/ping").forPort(PORT).withStartupTimeout(LONGEST_START));
  }

  /// Has the image serve a model, which it finds at `/opt/ml/model`.
  ///
  /// @param model a directory, which is mounted to be read only; or a `model.tar.gz`, which is
  ///   unpacked
  /// @throws IllegalArgumentException where there is neither
  public SageMakerContainer withModel(Path model) {
    var file = model.toAbsolutePath().normalize();
    if (Files.isDirectory(file)) {
      return withFileSystemBind(file.toString(), MODEL, BindMode.READ_ONLY);
    }
    if (!Files.isRegularFile(file)) {
      throw new IllegalArgumentException(
          "model: found nothing at %s, expected a directory or a model.tar.gz".formatted(file));
    }
    archive = Optional.of(file);
    // A place to unpack it to: images need not have the directory.
    return withCreateContainerCmdModifier(command -> command.withVolumes(new Volume(MODEL)));
  }

  /// What `endpointOverride` of SageMaker Runtime's clients takes. Endpoints may have any name.
  ///
  /// Berth answers them itself. For another image it is an address of this process, which passes
  /// `invokeEndpoint` on to `/invocations`.
  ///
  /// @throws IllegalStateException before the container is started
  public synchronized URI runtimeEndpoint() {
    var container = containerEndpoint();
    if (forwarding.isEmpty()) {
      forwarding = Optional.of(RuntimeEndpoint.of(container));
    }
    return forwarding.get().uri();
  }

  /// Where the container's own paths are, such as `/invocations`.
  ///
  /// @throws IllegalStateException before the container is started
  public URI containerEndpoint() {
    return URI.create("http://%s:%d".formatted(getHost(), getMappedPort(PORT)));
  }

  @Override
  protected void containerIsCreated(String id) {
    if (archive.isPresent()) {
      try (var bytes = Files.newInputStream(archive.get())) {
        // The engine unpacks it, gzipped or not.
        getDockerClient()
            .copyArchiveToContainerCmd(id)
            .withTarInputStream(bytes)
            .withRemotePath(MODEL)
            .exec();
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @Override
  public synchronized void stop() {
    forwarding.ifPresent(RuntimeEndpoint::close);
    forwarding = Optional.empty();
    super.stop();
  }
}
