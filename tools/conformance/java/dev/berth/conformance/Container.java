package dev.berth.conformance;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import javax.net.ssl.SSLContext;

/// The container that is asked, and what it is asked with. Safe for use by many threads.
final class Container {

    /// The longest message of an error that a caller of InvokeEndpoint gets to see, in characters.
    static final int LONGEST_MESSAGE = 2048;

    private static final int LATER_PINGS = 20;

    private final URI base;
    private final Sample sample;
    private final Settings settings;
    private final Client client;
    private Answer plain;
    private Boolean takesAnyPath;

    /// What the container's model understands; a part is null where the caller did not give it.
    ///
    /// @param body one request, and its type
    /// @param lines a request of several records, one a line, and its type
    /// @param modelUrl the directory of an artifact, as the container sees it, for `POST /models`
    record Sample(byte[] body, String type, byte[] lines, String linesType, String modelUrl) {}

    /// How it is asked.
    ///
    /// @param headers of every request: names and values in turn
    /// @param tls whom to trust, for `https`
    /// @param timeout of one request
    /// @param patience what limits of time are multiplied by, for a machine that is busy with other
    ///   things
    record Settings(List<String> headers, SSLContext tls, Duration timeout, double patience) {}

    Container(URI base, Sample sample, Settings settings) {
        this.base = base;
        this.sample = sample;
        this.settings = settings;
        this.client = new Client(
                base, "https".equals(base.getScheme()) ? settings.tls : null, settings.headers, settings.timeout);
    }

    URI base() {
        return base;
    }

    Client client() {
        return client;
    }

    Duration timeout() {
        return settings.timeout;
    }

    /// A limit of time of a row, made longer as the caller asked.
    Duration limit(long millis) {
        return Duration.ofMillis((long) (millis * settings.patience));
    }

    Answer send(Request request) throws IOException {
        return client.send(request);
    }

    CompletableFuture<Answer> sendAsync(Request request) {
        return client.sendAsync(request);
    }

    Answer get(String path) throws IOException {
        return send(Request.get(path));
    }

    Answer post(String path, byte[] body, String... headers) throws IOException {
        return send(Request.post(path, body, headers));
    }

    /// Sends the sample's body with its type, and other headers.
    Answer invoke(String... headers) throws Exception {
        return send(invocation(headers));
    }

    Request invocation(String... headers) throws Exception {
        return invocation(body(), headers);
    }

    private Request invocation(byte[] body, String... headers) {
        var all = new ArrayList<>(List.of("Content-Type", type()));
        all.addAll(List.of(headers));
        return Request.post("/invocations", body, all.toArray(String[]::new));
    }

    /// The answer to the sample, which is asked once. It may be an error.
    synchronized Answer plain() throws Exception {
        if (plain == null) {
            plain = send(invocation(givenBody()));
        }
        return plain;
    }

    /// The sample's body. A row that sends it tells nothing where the container refuses it as it is.
    byte[] body() throws Exception {
        if (!plain().isSuccess()) {
            throw new Check.NotAsked("the request of --body is answered with " + plain().shown());
        }
        return givenBody();
    }

    byte[] givenBody() throws Check.NotAsked {
        return given(sample.body, "--body FILE");
    }

    boolean hasBody() {
        return sample.body != null;
    }

    String type() {
        return sample.type;
    }

    void needsJson() throws Check.NotAsked {
        if (!sample.type.startsWith("application/json")) {
            throw new Check.NotAsked("needs a model that takes application/json");
        }
    }

    byte[] lines() throws Check.NotAsked {
        return given(sample.lines, "--lines FILE");
    }

    String linesType() {
        return sample.linesType;
    }

    String modelUrl() throws Check.NotAsked {
        return given(sample.modelUrl, "--model-url PATH");
    }

    boolean hasModelUrl() {
        return sample.modelUrl != null;
    }

    private static <T> T given(T part, String option) throws Check.NotAsked {
        if (part == null) {
            throw new Check.NotAsked("needs " + option);
        }
        return part;
    }

    /// Ends a check of something that a container need not offer, where it answers any path.
    void needsPaths() throws Exception {
        if (takesAnyPath()) {
            throw new Check.NotAsked("it answers any path with 2xx");
        }
    }

    private synchronized boolean takesAnyPath() throws IOException {
        if (takesAnyPath == null) {
            takesAnyPath = get("/no-such-path").isSuccess();
        }
        return takesAnyPath;
    }

    /// Ends a check whose answer is not that to the plain request.
    void expectSame(Answer answer) throws Exception {
        var likeness = likeness();
        Check.expect(
                likeness.alike(Likeness.text(plain()), Likeness.text(answer)), "another answer: " + answer.shown());
    }

    /// What the model's answers to the sample have in common.
    Likeness likeness() throws Exception {
        body();
        var likeness = new Likeness(Likeness.text(plain()), Likeness.text(invoke()));
        if (!likeness.isKnown()) {
            throw new Check.NotAsked("its answers to one request differ");
        }
        return likeness;
    }

    /// Ends a check after which the container is no longer well: one ping may reach the one worker of
    /// many that is.
    void expectHealth() throws Exception {
        for (int i = 0; i < LATER_PINGS; i++) {
            var ping = get("/ping");
            Check.expect(ping.status() == 200, "then GET /ping is " + ping.shown());
        }
        if (hasBody() && plain().isSuccess()) {
            var answer = invoke();
            Check.expect(answer.isSuccess(), "then POST /invocations is " + answer.shown());
        }
    }

    /// Opens a socket.
    ///
    /// @throws ExecutionException with an [IOException] if there is none
    WebSocket webSocket(String path, WebSocket.Listener listener) throws Exception {
        var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1);
        if (settings.tls != null) {
            client.sslContext(settings.tls);
        }
        var socket = client.build().newWebSocketBuilder().connectTimeout(timeout());
        for (int i = 0; i < settings.headers.size(); i += 2) {
            if (!settings.headers.get(i).equalsIgnoreCase("Host")) {
                socket.header(settings.headers.get(i), settings.headers.get(i + 1));
            }
        }
        var address = base.toString().replaceFirst("^http", "ws").replaceFirst("/$", "") + path;
        return socket.buildAsync(URI.create(address), listener).get();
    }
}
