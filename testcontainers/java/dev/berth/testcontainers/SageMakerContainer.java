package dev.berth.testcontainers;

import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.model.Volume;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.MountableFile;

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

    private static final Pattern ENDPOINT = Pattern.compile("/endpoints/[^/]+/invocations");
    private static final String ERROR_TYPE = "x-amzn-ErrorType";

    /// What is passed on in both directions.
    private static final Pattern PASSED = Pattern.compile("(?i)content-type|accept|x-amzn-sagemaker-.*");

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /// A `model.tar.gz`; null: none was given.
    private Path archive;

    /// What has the endpoints of a container without any; null: it has them itself, or is stopped.
    private HttpServer endpoints;

    /// @param image such as `berth`, or one of AWS's own
    public SageMakerContainer(String image) {
        super(image);
        withExposedPorts(PORT);
        withCommand("serve");
        waitingFor(Wait.forHttp("/ping").forPort(PORT).withStartupTimeout(LONGEST_START));
    }

    /// Has the image serve a model, which it finds at `/opt/ml/model`.
    ///
    /// @param model a directory, which is copied; or a `model.tar.gz`, which is unpacked
    /// @throws IllegalArgumentException where there is neither
    public SageMakerContainer withModel(Path model) {
        var file = model.toAbsolutePath().normalize();
        if (Files.isDirectory(file)) {
            return withCopyFileToContainer(MountableFile.forHostPath(file), MODEL);
        }
        if (!Files.isRegularFile(file)) {
            throw new IllegalArgumentException(
                    "model: found nothing at %s, expected a directory or a model.tar.gz".formatted(file));
        }
        archive = file;
        // A place to unpack it to: images need not have the directory.
        return withCreateContainerCmdModifier(command -> command.withVolumes(new Volume(MODEL)));
    }

    /// What `endpointOverride` of SageMaker Runtime's clients takes. Endpoints may have any name.
    ///
    /// Berth answers them itself. For another image it is a port of this process, which passes
    /// `InvokeEndpoint` on to `/invocations` and makes a `ModelError` of an error. It streams
    /// nothing.
    ///
    /// @throws IllegalStateException before the container is started
    public URI runtimeEndpoint() {
        return endpoints == null
                ? containerEndpoint()
                : URI.create("http://localhost:" + endpoints.getAddress().getPort());
    }

    /// Where the container's own paths are, such as `/invocations`.
    ///
    /// @throws IllegalStateException before the container is started
    public URI containerEndpoint() {
        return URI.create("http://%s:%d".formatted(getHost(), getMappedPort(PORT)));
    }

    @Override
    protected void containerIsCreated(String id) {
        if (archive != null) {
            try (var bytes = Files.newInputStream(archive)) {
                // The engine unpacks it, gzipped or not.
                dockerClient
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
    protected void containerIsStarted(InspectContainerResponse container) {
        try {
            // Without a body it is refused by an endpoint, and no model is asked.
            if (post("/endpoints/any/async-invocations", Map.of(), new byte[0])
                    .headers()
                    .firstValue(ERROR_TYPE)
                    .isEmpty()) {
                endpoints = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
                endpoints.setExecutor(Executors.newCachedThreadPool());
                endpoints.createContext("/", this::invoke);
                endpoints.start();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void invoke(HttpExchange exchange) throws IOException {
        try (exchange) {
            if (!ENDPOINT.matcher(exchange.getRequestURI().getPath()).matches()) {
                exchange.sendResponseHeaders(404, -1);
                return;
            }
            var body = exchange.getRequestBody().readAllBytes();
            var answer = post("/invocations", exchange.getRequestHeaders(), body);
            boolean isError = answer.statusCode() != 200;
            var headers = exchange.getResponseHeaders();
            if (isError) {
                headers.set(ERROR_TYPE, "ModelError");
            } else {
                headers.putAll(answer.headers().map());
                headers.keySet().removeIf(name -> !PASSED.matcher(name).matches());
            }
            var bytes = isError ? modelError(answer) : answer.body();
            exchange.sendResponseHeaders(isError ? 424 : 200, bytes.length);
            exchange.getResponseBody().write(bytes);
        }
    }

    private HttpResponse<byte[]> post(String path, Map<String, List<String>> headers, byte[] body) throws IOException {
        var request = HttpRequest.newBuilder(containerEndpoint().resolve(path)).POST(BodyPublishers.ofByteArray(body));
        headers.forEach((name, values) -> {
            if (PASSED.matcher(name).matches()) {
                values.forEach(value -> request.header(name, value));
            }
        });
        try {
            return http.send(request.build(), BodyHandlers.ofByteArray());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    private static byte[] modelError(HttpResponse<byte[]> answer) {
        var text = Pattern.compile("[\"\\\\\\p{Cntrl}]")
                .matcher(new String(answer.body(), StandardCharsets.UTF_8))
                .replaceAll(each -> "\\\\u%04x".formatted((int) each.group().charAt(0)));
        return "{\"Message\":\"%1$s\",\"OriginalMessage\":\"%1$s\",\"OriginalStatusCode\":%2$d}"
                .formatted(text, answer.statusCode())
                .getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void stop() {
        if (endpoints != null) {
            endpoints.stop(0);
            endpoints = null;
        }
        super.stop();
    }
}
