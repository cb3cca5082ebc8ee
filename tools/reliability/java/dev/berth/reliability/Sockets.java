package dev.berth.reliability;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;

/// Good requests over WebSockets, a message on a connection of its own each.
final class Sockets {

    static {
        // A container has another address each time. The JDK looks before it makes the first client.
        System.setProperty("jdk.internal.httpclient.disableHostnameVerification", "true");
    }

    private static final HttpClient CLIENT = HttpClient.newHttpClient();
    private static final Map<Tls, HttpClient> SECURE = new ConcurrentHashMap<>();
    private static final Pattern ERROR = Pattern.compile("\\{\"error\":\\{.*\"code\":(\\d+)\\D*}\\s*", Pattern.DOTALL);
    private static final int TRY_AGAIN_LATER = 1013;

    private Sockets() {}

    /// @return the answer, with the status that HTTP would have
    /// @throws IOException when there is none
    static Wire.Answer ask(Target target, Seeds.Payload payload, Duration patience) throws IOException {
        var answer = new CompletableFuture<Wire.Answer>();
        var path = target.launch().path().replaceFirst("(?:invoke|invocations)$", "");
        var uri = URI.create("%s://%s:%d%sinvocations-bidirectional-stream"
                .formatted(
                        target.tls().isPresent() ? "wss" : "ws",
                        target.address().getHostString(),
                        target.address().getPort(),
                        path));
        WebSocket socket = null;
        try {
            socket = client(target)
                    .newWebSocketBuilder()
                    .header("Content-Type", payload.type())
                    .connectTimeout(patience)
                    .buildAsync(uri, new Answers(answer))
                    .get(patience.toSeconds(), TimeUnit.SECONDS);
            var _ = socket.sendBinary(ByteBuffer.wrap(payload.body()), true);
            return answer.get(patience.toSeconds(), TimeUnit.SECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof WebSocketHandshakeException refused) {
                return ofStatus(refused.getResponse().statusCode(), new byte[0]);
            }
            throw new IOException(e.getCause());
        } catch (TimeoutException e) {
            throw new IOException("no answer over a WebSocket within " + patience, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException(e);
        } finally {
            if (socket != null) {
                socket.abort();
            }
        }
    }

    private static HttpClient client(Target target) {
        return target.tls()
                .map(tls -> SECURE.computeIfAbsent(tls, Sockets::secure))
                .orElse(CLIENT);
    }

    private static HttpClient secure(Tls tls) {
        return HttpClient.newBuilder().sslContext(tls.context()).build();
    }

    private static Wire.Answer ofStatus(int status, byte[] body) {
        return new Wire.Answer(status, Map.of(), body);
    }

    private record Answers(CompletableFuture<Wire.Answer> answer, ByteArrayOutputStream received)
            implements WebSocket.Listener {
        Answers(CompletableFuture<Wire.Answer> answer) {
            this(answer, new ByteArrayOutputStream());
        }

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean isLast) {
            return receive(socket, StandardCharsets.UTF_8.encode(text.toString()), isLast);
        }

        @Override
        public CompletionStage<?> onBinary(WebSocket socket, ByteBuffer bytes, boolean isLast) {
            return receive(socket, bytes, isLast);
        }

        private CompletionStage<?> receive(WebSocket socket, ByteBuffer bytes, boolean isLast) {
            try {
                Channels.newChannel(received).write(bytes);
            } catch (IOException e) {
                answer.completeExceptionally(e);
            }
            if (isLast) {
                var error = ERROR.matcher(received.toString(StandardCharsets.UTF_8));
                int status = error.matches() ? Integer.parseInt(error.group(1)) : 200;
                answer.complete(ofStatus(status, received.toByteArray()));
            }
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
            if (code == TRY_AGAIN_LATER) {
                answer.complete(ofStatus(503, reason.getBytes(StandardCharsets.UTF_8)));
            }
            answer.completeExceptionally(new IOException("closed with " + code + ": " + reason));
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable error) {
            answer.completeExceptionally(error);
        }
    }
}
