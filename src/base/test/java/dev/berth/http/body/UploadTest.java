package dev.berth.http.body;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.serving.hooks.Deadline;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.DeflaterOutputStream;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.junit.jupiter.api.Test;

/// Bodies that do not come, or come too late.
class UploadTest {

    /// A request of whose body nothing arrives.
    private static Request silent() {
        return request(null);
    }

    /// @param arrived of its body, again and again
    private static Request request(Content.Chunk arrived) {
        return (Request) Proxy.newProxyInstance(
                Request.class.getClassLoader(),
                new Class<?>[] {Request.class},
                (_, method, _) -> switch (method.getName()) {
                    case "getHeaders" -> HttpFields.EMPTY;
                    case "read" -> arrived;
                    default -> null;
                });
    }

    private static Response unused() {
        return (Response) Proxy.newProxyInstance(
                Response.class.getClassLoader(), new Class<?>[] {Response.class}, (_, _, _) -> null);
    }

    /// Much may arrive of which nothing comes out.
    @Test
    void whatIsCompressedIsInflatedUntilTheDeadline() {
        var empty = Content.Chunk.from(ByteBuffer.wrap(new byte[] {0, 0, 0, -1, -1}), false);
        var upload = new Upload(request(empty), unused());
        var over = Deadline.in(Duration.ZERO, System::nanoTime);
        try (var body = new RequestBody(upload, -1, 1 << 20, over)) {
            var inflated = body.decode(in -> new Inflated(in, "deflate", "coding", body.memory()));
            assertThat(inflated).isNotNull();
            assertThatThrownBy(body::readAllBytes)
                    .isInstanceOfSatisfying(
                            ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.DEADLINE_EXCEEDED));
        }
    }

    /// All of it has arrived, and it is inflated in pieces, with pauses for others.
    @Test
    void soIsWhatBecomesLong() throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var out = new DeflaterOutputStream(packed)) {
            out.write(new byte[200_000]);
        }
        var upload = new Upload(request(Content.Chunk.from(ByteBuffer.wrap(packed.toByteArray()), true)), unused());
        var deadline = new Deadline(5, new AtomicLong()::incrementAndGet);
        try (var body = new RequestBody(upload, -1, 1 << 20, deadline)) {
            var inflated = body.decode(in -> new Inflated(in, "deflate", "coding", body.memory()));
            assertThat(inflated).isNotNull();
            assertThatThrownBy(body::readWhole)
                    .isInstanceOfSatisfying(
                            ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.DEADLINE_EXCEEDED));
        }
    }

    @Test
    void anInterruptWhileTheRestIsThrownAwayIsNoErrorOfItsOwn() {
        var upload = new Upload(silent(), unused());
        upload.expect(Deadline.in(Duration.ofMinutes(1), System::nanoTime), Long.MAX_VALUE);
        Thread.currentThread().interrupt();

        assertThatCode(upload::discard).doesNotThrowAnyException();
        assertThat(Thread.interrupted()).isTrue();
    }
}
