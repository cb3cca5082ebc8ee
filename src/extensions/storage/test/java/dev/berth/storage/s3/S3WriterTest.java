package dev.berth.storage.s3;

import static dev.berth.storage.s3.S3ErrorsTest.assertRetryable;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.storage.ObjectWriter;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.testing.FaultyProxy;
import dev.berth.testing.FaultyProxy.Fault;
import dev.berth.testing.FaultyProxy.Request;
import dev.berth.testing.Gate;
import dev.berth.testing.S3Server;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class S3WriterTest {

    private static final String BUCKET = "bucket";
    private static final String OBJECT = "s3://bucket/out/object";
    private static final byte[] MEBIBYTE = new byte[1 << 20];

    static {
        new Random(1).nextBytes(MEBIBYTE);
    }

    @AutoClose
    private S3Server server;

    @BeforeEach
    void start() throws Exception {
        server = S3Server.start().createBucket(BUCKET);
    }

    @Test
    void anObjectIsWrittenInOneRequestWhereItFitsAndElseInParts() throws IOException {
        try (var proxy = proxy(_ -> new Fault.Pass());
                var storage = Impatient.storage(proxy.endpoint())) {
            write(storage, 8);
            assertThat(proxy.requests()).extracting(Request::method).containsExactly("PUT");
            write(storage, 17);
            assertThat(proxy.requests())
                    .extracting(Request::method)
                    // The listing of unfinished uploads is the last.
                    .containsExactly("PUT", "POST", "PUT", "PUT", "PUT", "POST", "GET");
        }
        assertThat(server.etag(BUCKET, "out/object")).endsWith("-3\"");
        assertThat(server.bytes(BUCKET, "out/object")).hasSize(17 << 20);
    }

    @Test
    void tenThousandPartsOfGrowingSizeReachToNearlyFourTebibytes() {
        assertThat(S3Writer.partBytes(1)).isEqualTo(8 << 20);
        assertThat(S3Writer.partBytes(1000)).isEqualTo(8 << 20);
        assertThat(S3Writer.partBytes(1001)).isEqualTo(16 << 20);
        assertThat(S3Writer.partBytes(10_000)).isEqualTo(1 << 30);
        assertThat(IntStream.rangeClosed(1, 10_000)
                        .mapToLong(S3Writer::partBytes)
                        .sum())
                .isBetween(3900L << 30, 4L << 40);
    }

    @Test
    @Tag("slow")
    void anObjectLargerThanTheHeapIsWrittenAndRead() throws Exception {
        var command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx48m",
                "-XX:+ExitOnOutOfMemoryError",
                // The parser of the JDK, as without the libraries of tests.
                "-Djavax.xml.stream.XMLInputFactory=com.sun.xml.internal.stream.XMLInputFactoryImpl",
                "-cp",
                System.getProperty("java.class.path")));
        S3Server.credentials()
                .forEach(credential -> command.add("-D%s=%s".formatted(credential.name(), credential.value())));
        command.addAll(List.of(SmallHeap.class.getName(), server.endpoint().toString(), OBJECT.toString()));
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        var printed = new String(process.getInputStream().readAllBytes());
        assertThat(process.waitFor()).as(printed).isZero();
        assertThat(server.bytes(BUCKET, "out/object")).hasSize(SmallHeap.OBJECT_BYTES);
        assertThat(server.unfinishedUploads(BUCKET)).isEmpty();
    }

    @Test
    void afterAPartThatCannotBeSentNothingIsLeft() throws IOException {
        try (var proxy = proxy(
                        request -> request.target().contains("partNumber=2") ? Fault.slowDown() : new Fault.Pass());
                var storage = Impatient.storage(proxy.endpoint())) {
            try (var writer = storage.at(OBJECT).create()) {
                assertRetryable(() -> writeTo(writer, 30))
                        .hasMessage("s3://bucket/out/object: S3 failed (503 SlowDown): as scheduled");
                assertThatThrownBy(writer::commit)
                        .isInstanceOf(IllegalStateException.class)
                        .hasMessageContaining("has failed");
                assertThat(server.unfinishedUploads(BUCKET)).containsExactly("out/object");
            }
            assertThat(proxy.requests())
                    .filteredOn(request -> request.target().contains("partNumber=2"))
                    .hasSize(Impatient.RETRIES.attempts());
        }
        assertThat(server.unfinishedUploads(BUCKET)).isEmpty();
        assertThat(server.keys(BUCKET)).isEmpty();
    }

    @Test
    void anUploadWhoseEndIsNeverAnsweredIsAnErrorAndLeavesNothing() throws IOException {
        try (var proxy = proxy(request -> isPost(request, "uploadId") ? new Fault.LoseAnswer() : new Fault.Pass());
                var storage = Impatient.storage(proxy.endpoint());
                var writer = storage.at(OBJECT).create()) {
            assertRetryable(() -> {
                writeTo(writer, 9);
                writer.commit();
            });
        }
        assertThat(server.unfinishedUploads(BUCKET)).isEmpty();
    }

    @Test
    void anErrorInAnAnswerThatSays200IsSeenAndUploadsNeedNotBeListed() throws IOException {
        try (var proxy = proxy(request -> isPost(request, "uploadId") && request.attempt() == 1
                        ? new Fault.Answer(200, "InternalError")
                        : request.method().equals("GET") ? new Fault.Answer(403, "AccessDenied") : new Fault.Pass());
                var storage = Impatient.storage(proxy.endpoint())) {
            write(storage, 9);
        }
        assertThat(server.bytes(BUCKET, "out/object")).hasSize(9 << 20);
    }

    private static boolean isPost(Request request, String query) {
        return request.method().equals("POST") && request.target().contains(query);
    }

    @Test
    void uploadsOfOtherObjectsAreNotEnded() throws IOException {
        try (var storage = Impatient.storage(server.endpoint());
                var other = storage.at("s3://bucket/out/object2").create()) {
            writeTo(other, 9);
            write(storage, 10);
            other.commit();
        }
        assertThat(server.bytes(BUCKET, "out/object2")).hasSize(9 << 20);
    }

    @Test
    void partsThatCannotBeRemovedAreSaid() throws IOException {
        try (var proxy = proxy(request ->
                        request.method().equals("DELETE") ? new Fault.Answer(403, "AccessDenied") : new Fault.Pass());
                var storage = Impatient.storage(proxy.endpoint())) {
            var writer = storage.at(OBJECT).create();
            writeTo(writer, 9);
            assertThatThrownBy(writer::close)
                    .isInstanceOf(StorageException.class)
                    .hasMessage("s3://bucket/out/object: access denied (403 AccessDenied): as scheduled");
        }
    }

    @Test
    void anInterruptedWriterFailsAndCleansUp() throws Exception {
        var gate = new Gate(1);
        try (var proxy =
                        proxy(request -> request.target().contains("partNumber=1") ? silence(gate) : new Fault.Pass());
                var storage = Impatient.storage(proxy.endpoint())) {
            var seen = new ArrayList<Throwable>();
            var thread = Thread.ofVirtual().start(() -> {
                try (var writer = storage.at(OBJECT).create()) {
                    writeTo(writer, 17);
                } catch (RuntimeException | IOException e) {
                    seen.add(e);
                    seen.addAll(List.of(e.getSuppressed()));
                }
                assertThat(Thread.currentThread().isInterrupted()).isTrue();
                seen.add(null);
            });
            gate.awaitArrival();
            thread.interrupt();
            thread.join();
            assertThat(seen)
                    .hasSize(2)
                    .first()
                    .isInstanceOf(StorageException.class)
                    .hasToString("dev.berth.storage.StorageException: s3://bucket/out/object: interrupted");
        }
        assertThat(server.unfinishedUploads(BUCKET)).isEmpty();
    }

    /// Lets the test know that a part is on its way.
    private static Fault silence(Gate gate) {
        gate.open();
        gate.passWhateverInterrupts();
        return new Fault.Silence();
    }

    private FaultyProxy proxy(Function<Request, Fault> schedule) throws IOException {
        return new FaultyProxy(server.endpoint(), schedule);
    }

    private static void write(Storage storage, int mebibytes) throws IOException {
        try (var writer = storage.at(OBJECT).create()) {
            writeTo(writer, mebibytes);
            writer.commit();
        }
    }

    private static void writeTo(ObjectWriter writer, int mebibytes) throws IOException {
        for (int i = 0; i < mebibytes; i++) {
            writer.write(MEBIBYTE);
        }
    }
}
