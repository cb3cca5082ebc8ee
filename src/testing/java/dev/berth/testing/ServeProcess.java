package dev.berth.testing;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/// A server in a process of its own, started by a command as a user would, with what it printed.
public final class ServeProcess implements AutoCloseable {

    private static final Duration LONGEST = Duration.ofMinutes(5);

    private final Process process;
    private final int port;
    private final Path out;
    private final Path err;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private ServeProcess(Process process, int port, Path out, Path err) {
        this.process = process;
        this.port = port;
        this.out = out;
        this.err = err;
    }

    /// Runs `./serve` on a free port.
    public static ServeProcess serve(Map<String, String> environment, String... arguments) throws IOException {
        var command = new ArrayList<>(List.of(Path.of("serve").toAbsolutePath().toString()));
        command.addAll(List.of(arguments));
        return start(environment, command);
    }

    /// Runs the classes that are tested, with the sample model, where no jar need be built.
    ///
    /// @param options of java
    public static ServeProcess java(Map<String, String> environment, String... options) throws IOException {
        return java(environment, TestServer.SAMPLE_ARTIFACT, options);
    }

    /// The same with another model artifact.
    public static ServeProcess java(Map<String, String> environment, Path artifact, String... options)
            throws IOException {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--enable-native-access=ALL-UNNAMED",
                "-Xmx512m",
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(List.of(options));
        command.addAll(List.of("dev.berth.Main", "--model-dir", artifact.toString(), "--host", "127.0.0.1"));
        return start(environment, command);
    }

    public static ServeProcess start(Map<String, String> environment, List<String> command) throws IOException {
        int port = freePort();
        var out = Files.createTempFile("berth-out", ".log");
        var err = Files.createTempFile("berth-err", ".log");
        var builder = new ProcessBuilder(command).redirectOutput(out.toFile()).redirectError(err.toFile());
        builder.environment().put("SAGEMAKER_BIND_TO_PORT", String.valueOf(port));
        builder.environment().putAll(environment);
        return new ServeProcess(builder.start(), port, out, err);
    }

    public static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    public Process process() {
        return process;
    }

    public int port() {
        return port;
    }

    public String out() throws IOException {
        return Files.readString(out);
    }

    public String err() throws IOException {
        return Files.readString(err);
    }

    /// Waits until `/ping` is 200. A process that ends before fails the wait with what it printed.
    public ServeProcess awaitReady() {
        await().atMost(LONGEST).until(() -> {
            if (!process.isAlive()) {
                throw new IllegalStateException(
                        "it ended with %d:%n%s%n%s".formatted(process.exitValue(), out(), err()));
            }
            return answersPing();
        });
        return this;
    }

    public HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), BodyHandlers.ofString());
    }

    public HttpRequest.Builder invocation(String body) {
        return HttpRequest.newBuilder(uri("/invocations")).POST(BodyPublishers.ofString(body));
    }

    /// Posts to `/invocations`.
    ///
    /// @param headers name, value, name, value, …
    public CompletableFuture<HttpResponse<String>> invokeAsync(String body, String... headers) {
        return invokeAsync(BodyPublishers.ofString(body), headers);
    }

    public CompletableFuture<HttpResponse<String>> invokeAsync(BodyPublisher body, String... headers) {
        var request = invocation("").POST(body);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return client.sendAsync(request.build(), BodyHandlers.ofString());
    }

    /// Asks the sample model its sample.
    public void invokeSample() throws IOException {
        var sample = Files.readString(TestServer.SAMPLE_ARTIFACT.resolve("sample.json"));
        var response = invokeAsync(sample, "Content-Type", "application/json").join();
        if (response.statusCode() != 200) {
            throw new IllegalStateException("found %d: %s".formatted(response.statusCode(), response.body()));
        }
    }

    public HttpClient client() {
        return client;
    }

    public URI uri(String path) {
        return URI.create("http://127.0.0.1:%d%s".formatted(port, path));
    }

    /// Sends SIGTERM.
    public ServeProcess terminate() {
        process.destroy();
        return this;
    }

    /// Waits for the end and gives the exit code.
    public int exitCode() throws InterruptedException, IOException {
        if (!process.waitFor(LONGEST.toSeconds(), TimeUnit.SECONDS)) {
            throw new IllegalStateException("it still runs:%n%s%n%s".formatted(out(), err()));
        }
        return process.exitValue();
    }

    @Override
    public void close() {
        client.shutdownNow();
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly().onExit().join();
        try {
            Files.delete(out);
            Files.delete(err);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private boolean answersPing() throws InterruptedException {
        try {
            return get("/ping").statusCode() == 200;
        } catch (IOException e) {
            return false;
        }
    }
}
