package dev.berth.conformance;

import java.io.IOException;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/// Streams, sessions, sockets and OpenAI's routes. A container need not offer any of them.
final class TalkChecks {

    private static final String SESSION = "X-Amzn-SageMaker-Session-Id";

    /// `NewSessionResponseHeader` in the service model of SageMaker Runtime.
    private static final Pattern NEW_SESSION =
            Pattern.compile("([a-zA-Z0-9](-*[a-zA-Z0-9])*);\\sExpires=(\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z)");

    private TalkChecks() {}

    static Map<String, Check> all() {
        return Map.ofEntries(
                Map.entry("STR-07", TalkChecks::events),
                Map.entry("SES-01", TalkChecks::newSession),
                Map.entry("SES-02", TalkChecks::expiry),
                Map.entry("SES-04", TalkChecks::closedSession),
                Map.entry("SES-05", TalkChecks::unknownSession),
                Map.entry("SES-06", TalkChecks::sessionsThatAreOff),
                Map.entry("SES-07", TalkChecks::otherMembers),
                Map.entry("BIDI-01", TalkChecks::socket),
                Map.entry("BIDI-02", TalkChecks::socketPing),
                Map.entry("BIDI-03", TalkChecks::fragments),
                Map.entry("OAI-01", TalkChecks::chat),
                Map.entry("ADP-01", TalkChecks::adapters));
    }

    private static String events(Container container) throws Exception {
        var answer = container.invoke("Accept", "text/event-stream");
        if (!answer.is("text/event-stream")) {
            throw new Check.NotAsked("it does not stream events: " + answer.shownType());
        }
        Check.expect(answer.isSuccess(), answer.shown());
        Check.expect(
                answer.text().lines().allMatch(line -> line.isEmpty() || line.matches("(data|event|id|retry)?:.*")),
                "lines that are no events");
        return answer.text().lines().filter(line -> line.startsWith("data:")).count() + " data: lines";
    }

    private static Answer begin(Container container) throws Exception {
        return container.post(
                "/invocations",
                bytes("{\"requestType\":\"NEW_SESSION\"}"),
                "Content-Type",
                "application/json",
                SESSION,
                "NEW_SESSION");
    }

    private static String id(Container container) throws Exception {
        var answer = begin(container);
        var header = answer.header(SESSION);
        if (!answer.isSuccess() || isIgnored(header)) {
            throw new Check.NotAsked(
                    "it has no sessions: " + answer.status() + (answer.isSuccess() ? " without " + SESSION : ""));
        }
        var found = NEW_SESSION.matcher(header);
        Check.expect(found.matches() && header.length() <= 256, SESSION + ": " + header);
        Check.expect(Instant.parse(found.group(3)).isAfter(Instant.now()), "a session that has expired: " + header);
        return found.group(1);
    }

    private static Answer end(Container container, String id) throws Exception {
        return container.post(
                "/invocations", bytes("{\"requestType\":\"CLOSE\"}"), "Content-Type", "application/json", SESSION, id);
    }

    private static String newSession(Container container) throws Exception {
        end(container, id(container));
        return "200 with " + SESSION;
    }

    private static String expiry(Container container) throws Exception {
        end(container, id(container));
        return "expires in the future";
    }

    private static String closedSession(Container container) throws Exception {
        var id = id(container);
        var answer = end(container, id);
        Check.expect(answer, 200);
        Check.expect(answer.header("X-Amzn-SageMaker-Closed-Session-Id").equals(id), "200 without the closed id");
        return "200 with the closed id";
    }

    private static String unknownSession(Container container) throws Exception {
        end(container, id(container));
        Check.expect(container.invoke(SESSION, "00000000-0000-4000-8000-000000000000"), 400);
        return "400";
    }

    /// A container that echoes headers has no sessions either.
    private static boolean isIgnored(String header) {
        return header.isEmpty() || header.equals("NEW_SESSION");
    }

    /// The body that begins a session is none that the model takes, so only the model's own body
    /// shows whether the header is refused.
    private static String sessionsThatAreOff(Container container) throws Exception {
        container.needsJson();
        var answer = begin(container);
        if (answer.isSuccess() && !isIgnored(answer.header(SESSION))) {
            end(container, answer.header(SESSION).split(";")[0]);
            throw new Check.NotAsked("it has sessions");
        }
        if (answer.isSuccess()) {
            throw new Check.Missed("the header is ignored: " + answer.shown());
        }
        var other = container.invoke(SESSION, "NEW_SESSION");
        Check.expect(!other.isSuccess(), "the header is ignored: " + other.shown());
        Check.expect(other, 400);
        return "400";
    }

    private static String otherMembers(Container container) throws Exception {
        end(container, id(container));
        Check.expect(
                container.post(
                        "/invocations",
                        bytes("{\"requestType\":\"NEW_SESSION\",\"x\":1}"),
                        "Content-Type",
                        "application/json",
                        SESSION,
                        "NEW_SESSION"),
                400);
        return "400";
    }

    private static String socket(Container container) throws Exception {
        connect(container, new Messages()).abort();
        return "101";
    }

    private static String socketPing(Container container) throws Exception {
        var messages = new Messages();
        var socket = connect(container, messages);
        socket.sendPing(ByteBuffer.wrap(bytes("conformance"))).join();
        var pong = messages.pong.get(container.limit(5000).toMillis(), TimeUnit.MILLISECONDS);
        socket.abort();
        Check.expect(pong.equals("conformance"), "a pong of \"" + pong + "\"");
        return "a pong with the same payload";
    }

    private static String fragments(Container container) throws Exception {
        var messages = new Messages();
        var socket = connect(container, messages);
        var text = new String(container.body(), StandardCharsets.UTF_8);
        int third = text.length() / 3;
        socket.sendText(text.substring(0, third), false).join();
        socket.sendText(text.substring(third, 2 * third), false).join();
        socket.sendText(text.substring(2 * third), true).join();
        var first = messages.first.get(container.timeout().toMillis(), TimeUnit.MILLISECONDS);
        socket.abort();
        return "a message of 3 fragments is answered with " + first.length() + " characters";
    }

    private static WebSocket connect(Container container, Messages messages) throws Exception {
        try {
            return container.webSocket("/invocations-bidirectional-stream", messages);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof IOException) {
                throw new Check.NotAsked("it offers no socket");
            }
            throw e;
        }
    }

    /// What comes on a socket.
    private static final class Messages implements WebSocket.Listener {
        private final CompletableFuture<String> pong = new CompletableFuture<>();
        private final CompletableFuture<String> first = new CompletableFuture<>();
        private final StringBuilder text = new StringBuilder();

        @Override
        public CompletionStage<?> onPong(WebSocket socket, ByteBuffer message) {
            pong.complete(StandardCharsets.UTF_8.decode(message).toString());
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
            text.append(data);
            if (last) {
                first.complete(text.toString());
            }
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
            var closed = new IOException("closed with " + status + " " + reason);
            pong.completeExceptionally(closed);
            first.completeExceptionally(closed);
            return null;
        }
    }

    private static String chat(Container container) throws Exception {
        var body =
                "{\"model\":\"m\",\"max_tokens\":8,\"stream\":%s,\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}";
        var whole = container.post(
                "/v1/chat/completions", bytes(body.formatted(false)), "Content-Type", "application/json");
        if (!whole.isSuccess()) {
            throw new Check.NotAsked("its model does not chat: " + whole.status());
        }
        if (container
                .post("/v1/no-such-path", bytes(body.formatted(false)), "Content-Type", "application/json")
                .isSuccess()) {
            throw new Check.NotAsked("it answers any path with 2xx");
        }
        whole.json();
        var streamed =
                container.post("/v1/chat/completions", bytes(body.formatted(true)), "Content-Type", "application/json");
        Check.expect(streamed, 200);
        Check.expect(streamed.text().strip().endsWith("data: [DONE]"), "a stream that does not end with data: [DONE]");
        return "JSON; a stream that ends with data: [DONE]";
    }

    private static String adapters(Container container) throws Exception {
        var answer = container.get("/adapters");
        if (answer.status() != 200) {
            throw new Check.NotAsked("it does not offer adapters: " + answer.status());
        }
        container.needsPaths();
        return "200";
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
