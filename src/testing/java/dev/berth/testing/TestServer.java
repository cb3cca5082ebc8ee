package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.command.Server;
import dev.berth.command.StartException;
import dev.berth.config.Configuration;
import dev.berth.content.Json;
import dev.berth.hooks.InferenceHandler;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandler;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import java.util.function.Supplier;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sagemakerruntime.SageMakerRuntimeClient;

/// A real server on a free port of the loopback interface, configured by environment variables as
/// users do it, with a real HTTP client to talk to it.
public final class TestServer implements AutoCloseable {

    private static final JsonMapper JSON = new JsonMapper();

    public static final Path SAMPLE_ARTIFACT = Path.of("model-artifact").toAbsolutePath();

    private final Server server;
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    private TestServer(Server server) {
        this.server = server;
    }

    /// A server with the sample model.
    public static Builder sample() {
        return new Builder(null);
    }

    /// A server of a multi-model endpoint, without a model.
    public static Builder ofModels() {
        return new Builder(null).set("SAGEMAKER_MULTI_MODEL", "true").set("BERTH_MODEL_DIR", "");
    }

    /// A server of all artifacts of a directory.
    public static Builder ofDirectory(Path directory) {
        return new Builder(null).set("BERTH_MODELS", directory.toString()).set("BERTH_MODEL_DIR", "");
    }

    /// A server with another model artifact.
    public static Builder artifact(Path directory) {
        return new Builder(null).set("BERTH_MODEL_DIR", directory.toString());
    }

    /// A server with hooks of the test's own.
    public static Builder with(InferenceHandler<?, ?, ?> handler) {
        return new Builder(handler);
    }

    /// What to start.
    public static final class Builder {
        private final InferenceHandler<?, ?, ?> handler;
        private final Map<String, String> environment = new HashMap<>(Map.of(
                "SAGEMAKER_BIND_TO_PORT", "0",
                "BERTH_HOST", "127.0.0.1",
                "INSTANCE_TYPE", "cpu",
                // As long as a test waits, so that a request that hangs ends with it.
                "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS",
                        String.valueOf(Patience.limit().toSeconds()),
                "BERTH_MODEL_DIR", SAMPLE_ARTIFACT.toString()));

        private Builder(InferenceHandler<?, ?, ?> handler) {
            this.handler = handler;
        }

        public Builder set(String variable, String value) {
            environment.put(variable, value);
            return this;
        }

        /// Starts and waits until the model can serve.
        ///
        /// @param variables more of them, each `NAME=value`
        public TestServer start(String... variables) throws Exception {
            var server = startWithoutWaiting(variables);
            server.server.awaitReady();
            return server;
        }

        /// @param problems what the failure of the start says
        public void assertDoesNotStart(String... problems) throws Exception {
            try (var server = startWithoutWaiting()) {
                assertThatThrownBy(() -> server.server.awaitReady())
                        .isInstanceOf(StartException.class)
                        .hasMessageContainingAll(problems);
                assertThat(server.get("/ping").statusCode()).isEqualTo(503);
            }
        }

        public TestServer startWithoutWaiting(String... variables) {
            for (var variable : variables) {
                var parts = variable.split("=", 2);
                set(parts[0], parts[1]);
            }
            var config = Configuration.read(environment, Map.of(), Path.of(".")).config();
            return new TestServer(handler == null ? Server.start(config) : Server.start(config, handler));
        }
    }

    public Server server() {
        return server;
    }

    /// What it answers to JSON, with 200.
    public String answer(String json) throws Exception {
        return answer("application/json", json);
    }

    public String answer(String contentType, String body) throws Exception {
        var response = invoke(body, "Content-Type", contentType);
        assertStatus(response, 200);
        return response.body();
    }

    public HttpClient client() {
        return client;
    }

    public int port() {
        return server.port();
    }

    public URI uri(String path) {
        return URI.create("http://127.0.0.1:%d%s".formatted(port(), path));
    }

    public HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(uri(path)).build());
    }

    /// Posts JSON to any path.
    public HttpResponse<String> post(String path, String json) throws IOException, InterruptedException {
        return send(request(path, BodyPublishers.ofString(json), "Content-Type", "application/json"));
    }

    /// Posts to `/invocations`.
    ///
    /// @param headers name, value, name, value, …
    public HttpResponse<String> invoke(String body, String... headers) throws IOException, InterruptedException {
        return invoke(BodyPublishers.ofString(body), headers);
    }

    public HttpResponse<String> invoke(BodyPublisher body, String... headers) throws IOException, InterruptedException {
        return send(request(body, headers));
    }

    public HttpResponse<byte[]> invoke(byte[] body, String... headers) throws IOException, InterruptedException {
        return send(request(BodyPublishers.ofByteArray(body), headers), BodyHandlers.ofByteArray());
    }

    public CompletableFuture<HttpResponse<String>> invokeAsync(String body, String... headers) {
        return sendAsync(request(BodyPublishers.ofString(body), headers));
    }

    /// Posts to `/models`.
    public HttpResponse<String> load(String name, Path directory) throws IOException, InterruptedException {
        return loadAsync(name, directory).join();
    }

    public CompletableFuture<HttpResponse<String>> loadAsync(String name, Path directory) {
        var body = Json.write(Map.of("model_name", name, "url", directory.toString()));
        var request = HttpRequest.newBuilder(uri("/models"))
                .header("Content-Type", "application/json")
                .POST(BodyPublishers.ofString(body));
        return sendAsync(request.build());
    }

    /// Asks a model that was loaded.
    public HttpResponse<String> ask(String name, String body, String... headers) {
        return askAsync(name, body, headers).join();
    }

    public CompletableFuture<HttpResponse<String>> askAsync(String name, String body, String... headers) {
        var request = request("/models/%s/invoke".formatted(encoded(name)), BodyPublishers.ofString(body), headers);
        return sendAsync(request);
    }

    public HttpResponse<String> describe(String name) throws IOException, InterruptedException {
        return get("/models/" + encoded(name));
    }

    public HttpResponse<String> unload(String name) {
        return unloadAsync(name).join();
    }

    public CompletableFuture<HttpResponse<String>> unloadAsync(String name) {
        var request =
                HttpRequest.newBuilder(uri("/models/" + encoded(name))).DELETE().build();
        return sendAsync(request);
    }

    private static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }

    public HttpResponse<String> send(HttpRequest request) throws IOException, InterruptedException {
        return send(request, BodyHandlers.ofString());
    }

    public <T> HttpResponse<T> send(HttpRequest request, BodyHandler<T> handler)
            throws IOException, InterruptedException {
        return client.send(limited(request), handler);
    }

    /// The body too: a request's own timeout ends with the head of the answer.
    private CompletableFuture<HttpResponse<String>> sendAsync(HttpRequest request) {
        return client.sendAsync(limited(request), BodyHandlers.ofString())
                .orTimeout(Patience.limit().toSeconds(), TimeUnit.SECONDS);
    }

    /// A test that gets no answer fails.
    private static HttpRequest limited(HttpRequest request) {
        return request.timeout().isPresent()
                ? request
                : HttpRequest.newBuilder(request, (_, _) -> true)
                        .timeout(Patience.limit())
                        .build();
    }

    /// @param texts what the body has, all of them
    public static void assertStatus(HttpResponse<?> response, int status, String... texts) {
        var body = response.body() instanceof byte[] bytes
                ? new String(bytes, StandardCharsets.UTF_8)
                : String.valueOf(response.body());
        assertThat(response.statusCode()).as(body).isEqualTo(status);
        assertThat(List.of(texts)).allSatisfy(text -> assertThat(body).contains(text));
    }

    /// The body of an answer of this status.
    public static JsonNode json(HttpResponse<String> response, int status) throws IOException {
        assertStatus(response, status);
        return JSON.readTree(response.body());
    }

    /// The id of the session that a request has opened.
    public static String session(HttpResponse<?> opened) {
        var name = "X-Amzn-SageMaker-Session-Id";
        return opened.headers().firstValue(name).orElseThrow().split(";")[0];
    }

    /// Waits for all answers.
    public static void assertAll(List<CompletableFuture<HttpResponse<String>>> answers, int status) {
        assertThat(answers).extracting(answer -> answer.join().statusCode()).containsOnly(status);
    }

    /// What `/metrics` has, all of them, once what has just been answered is counted.
    public void awaitMetrics(String... texts) {
        await().untilAsserted(() -> assertThat(get("/metrics").body()).contains(texts));
    }

    /// Waits until so many requests of the only model wait in its queue.
    public void awaitQueued(int count) {
        awaitMetrics("berth_queue_depth{model=\"model\"} %d.0\n".formatted(count));
    }

    /// AWS's SDK for endpoints of SageMaker. It does not try again what is throttled.
    public SageMakerRuntimeClient runtimeClient() {
        return SageMakerRuntimeClient.builder()
                .endpointOverride(uri("/"))
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("none", "none")))
                .overrideConfiguration(how -> how.retryStrategy(retries -> retries.maxAttempts(1)))
                .httpClientBuilder(Apache5HttpClient.builder())
                .build();
    }

    /// Sends one request after another until so many hooks hang. On a busy machine the time of one
    /// may run out before its hook begins.
    ///
    /// @param hanging how many hang
    public static List<CompletableFuture<HttpResponse<String>>> hang(
            int hooks, IntSupplier hanging, Supplier<CompletableFuture<HttpResponse<String>>> request) {
        var answers = new ArrayList<CompletableFuture<HttpResponse<String>>>();
        while (hanging.getAsInt() < hooks) {
            int before = hanging.getAsInt();
            var answer = request.get();
            answers.add(answer);
            await().until(() -> hanging.getAsInt() > before || answer.isDone());
        }
        return answers;
    }

    /// Stops it as a signal does, while the test goes on.
    public CompletableFuture<Void> stop() {
        return CompletableFuture.supplyAsync(() -> {
            try {
                server.close();
                return null;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /// Ends the test: requests that wait for an answer get none, and no hook waits for the test.
    /// `server().close()` stops it as a signal does.
    @Override
    public void close() throws Exception {
        Gate.openAll();
        HookProbe.end();
        client.shutdownNow();
        server.close();
    }

    private HttpRequest request(BodyPublisher body, String... headers) {
        return request("/invocations", body, headers);
    }

    /// A POST to any path.
    public HttpRequest request(String path, BodyPublisher body, String... headers) {
        var request = HttpRequest.newBuilder(uri(path)).POST(body);
        if (headers.length > 0) {
            request.headers(headers);
        }
        return request.build();
    }
}
