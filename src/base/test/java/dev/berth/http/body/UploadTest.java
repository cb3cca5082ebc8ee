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

    /// Much may arrive of which nothing comes out, or all of it, of which much does, in pieces with pauses
    /// for others.
    @Test
    void whatIsCompressedIsInflatedUntilTheDeadline() throws IOException {
        var packed = new ByteArrayOutputStream();
        try (var out = new DeflaterOutputStream(packed)) {
            out.write(new byte[200_000]);
        }
        var empty = ByteBuffer.wrap(new byte[] {0, 0, 0, -1, -1});
        assertLate(Content.Chunk.from(empty, false), Deadline.in(Duration.ZERO, System::nanoTime));
        var all = ByteBuffer.wrap(packed.toByteArray());
        assertLate(Content.Chunk.from(all, true), new Deadline(5, new AtomicLong()::incrementAndGet));
    }

    private static void assertLate(Content.Chunk arrived, Deadline deadline) {
        try (var body = new RequestBody(new Upload(request(arrived), unused()), -1, 1 << 20, deadline)) {
            var _ = body.decode(in -> new Inflated(in, "deflate", "coding", body.memory()));
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
