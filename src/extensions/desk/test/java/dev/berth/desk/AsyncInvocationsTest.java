package dev.berth.desk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static software.amazon.awssdk.core.SdkBytes.fromUtf8String;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.RawConnection;
import dev.berth.testing.S3Server;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.s3.model.NoSuchKeyException;
import software.amazon.awssdk.services.sagemakerruntime.SageMakerRuntimeClient;
import software.amazon.awssdk.services.sagemakerruntime.model.InvokeEndpointAsyncRequest;
import software.amazon.awssdk.services.sagemakerruntime.model.InvokeEndpointAsyncResponse;
import software.amazon.awssdk.services.sagemakerruntime.model.SageMakerRuntimeException;
import software.amazon.awssdk.services.sagemakerruntime.model.ServiceUnavailableException;
import software.amazon.awssdk.services.sagemakerruntime.model.ValidationErrorException;

/// AWS's SDK asks a server as it asks an asynchronous endpoint.
class AsyncInvocationsTest {

    @TempDir
    static Path shared;

    @AutoClose
    private static TestServer server;

    /// What a test starts for itself, and asks from then on.
    @AutoClose
    private TestServer own;

    @AutoClose
    private SageMakerRuntimeClient client = server.runtimeClient();

    @TempDir
    Path directory;

    /// Says what it is told, and refuses a line `bad`.
    private static final class EchoingHandler extends TextHandler {
        @Override
        public List<String> inputFn(InvocationRequest request) throws IOException {
            var lines = super.inputFn(request);
            if (lines.contains("bad")) {
                throw new BadInputException("line: found bad, expected letters");
            }
            return lines;
        }

        @Override
        public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
            return InvocationResponse.of(
                    "%s %s %s %s %s"
                            .formatted(
                                    predictions,
                                    request.contentType(),
                                    request.customAttributes().orElse(""),
                                    request.inferenceId(),
                                    request.path()),
                    request.accept());
        }
    }

    @BeforeAll
    static void start() throws Exception {
        server = TestServer.with(new EchoingHandler())
                .start("BERTH_ASYNC_OUTPUT=" + shared.resolve("out"), "BERTH_ASYNC_INPUT=" + shared);
    }

    @Test
    void theAnswerToAFileIsWrittenToAnother() throws IOException {
        var input = Files.writeString(shared.resolve("in.txt"), "a\nb");
        var accepted = ask(request -> request.inputLocation(input.toString())
                .contentType("text/plain")
                .accept("text/plain")
                .customAttributes("k=v")
                .inferenceId("id-1")
                .requestTTLSeconds(60)
                .invocationTimeoutSeconds(60));
        assertThat(accepted.sdkHttpResponse().statusCode()).isEqualTo(202);
        assertThat(accepted.inferenceId()).isEqualTo("id-1");
        assertThat(accepted.outputLocation())
                .startsWith(shared.resolve("out").toString())
                .endsWith(".out");
        assertThat(accepted.failureLocation())
                .startsWith(shared.resolve("out/failures").toString())
                .endsWith("-error.out");
        assertThat(written(accepted.outputLocation())).isEqualTo("[A, B] text/plain k=v id-1 /invocations");
        assertThat(Path.of(accepted.failureLocation())).doesNotExist();
    }

    @Test
    void aSmallPayloadNeedsNoFileAndAnAnswerMayHaveAName() throws IOException {
        var accepted = ask(request -> request.body(fromUtf8String("a"))
                .contentType("text/plain")
                .accept("text/plain")
                .s3OutputPathExtension("today/one")
                .filename("a.txt"));
        assertThat(accepted.outputLocation())
                .isEqualTo(shared.resolve("out/today/one/a.txt").toString());
        assertThat(written(accepted.outputLocation()))
                .isEqualTo("[A] text/plain  %s /invocations".formatted(accepted.inferenceId()));
    }

    @Test
    void aPathThatIsTooLongForAFileIsRefused() throws Exception {
        assertThat(raw(server, "InputLocation: " + "/a".repeat(15_000)))
                .startsWith("HTTP/1.1 400")
                .contains("found a file elsewhere");
    }

    @Test
    void namesOfObjectsAreUtf8InHeaders() throws Exception {
        Files.writeString(shared.resolve("zażółć 日本.txt"), "a");
        var out = Files.createDirectories(directory.resolve("wyjście"));
        try (var s3 = S3Server.start().createBucket("bucket");
                var server = TestServer.with(new EchoingHandler())
                        .start(
                                "BERTH_ASYNC_OUTPUT=" + out,
                                "BERTH_ASYNC_INPUT=" + shared,
                                "AWS_ENDPOINT_URL_S3=" + s3.endpoint())) {
            s3.put("bucket", "in/zażółć é.csv", "a");
            for (var input : List.of(shared + "/zażółć 日本.txt", "s3://bucket/in/zażółć é.csv")) {
                var answer = raw(server, "InputLocation: " + input);
                assertThat(answer).startsWith("HTTP/1.1 202");
                assertThat(written(header(answer, "OutputLocation"))).startsWith("[A] application/json");
                assertThat(header(answer, "FailureLocation")).startsWith(out + "/failures/");
            }
            assertThat(raw(server, "InputLocation: /żółw"))
                    .startsWith("HTTP/1.1 400")
                    .contains("InputLocation: /żółw: found a file elsewhere");
        }
    }

    @Test
    void whatAContainerCantBeToldIsAValidationError() throws Exception {
        for (var name : List.of("Content-Type", "Accept", "Custom-Attributes")) {
            assertThat(raw(server, "InputLocation: s3://a/b\r\nX-Amzn-SageMaker-%s: ż".formatted(name)))
                    .startsWith("HTTP/1.1 400")
                    .contains("%s: found \\\"ż\\\", expected printable characters of ASCII".formatted(name));
        }
    }

    /// As boto3 sends headers, and other clients of Java do not.
    private static String raw(TestServer server, String header) throws IOException {
        var request =
                "POST /endpoints/any/async-invocations HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nX-Amzn-SageMaker-%s\r\n\r\n"
                        .formatted(header);
        try (var connection = new RawConnection(server.uri("/").getPort())) {
            return connection.send(request.getBytes(StandardCharsets.UTF_8)).readResponse();
        }
    }

    private static String header(String answer, String name) {
        var line = answer.lines()
                .filter(each -> each.startsWith("X-Amzn-SageMaker-" + name))
                .findFirst();
        var value = line.orElseThrow().split(": ", 2)[1];
        return new String(value.getBytes(StandardCharsets.ISO_8859_1), StandardCharsets.UTF_8);
    }

    @Test
    void whatTheContainerRefusesIsTheObjectOfTheFailure() throws IOException {
        var accepted = ask(request -> request.body(fromUtf8String("bad")).contentType("text/plain"));
        assertThat(written(accepted.failureLocation())).startsWith("{").contains("line: found bad, expected letters");
        assertThat(Path.of(accepted.outputLocation())).doesNotExist();
    }

    @Test
    void anInputThatIsNotThereIsAFailure() throws IOException {
        var missing = shared.resolve("none").toString();
        var accepted = ask(request -> request.inputLocation(missing));
        assertThat(written(accepted.failureLocation()))
                .isEqualTo("Received server error (0) from primary with message \"%s: found no such object\""
                        .formatted(missing));
    }

    @Test
    void filesElsewhereAreRefused() throws IOException {
        var secret = Files.writeString(directory.resolve("secret"), "a");
        var link = Files.createSymbolicLink(shared.resolve("link"), secret);
        for (var input : List.of(secret.toString(), link.toString(), shared + "/../none", "/dev/zero")) {
            assertRefused(
                    request -> request.inputLocation(input),
                    "InputLocation: %s: found a file elsewhere, expected s3://bucket/key or a file below %s (--async-input)"
                            .formatted(input, shared));
        }
    }

    @Test
    void anEmptyInputIsAnEmptyPayload() throws IOException {
        var input = Files.createFile(shared.resolve("empty"));
        var accepted = ask(request -> request.inputLocation(input.toUri().toString()));
        assertThat(written(accepted.outputLocation())).startsWith("[] application/json");
    }

    @Test
    void whatTheApiDoesNotTakeIsAValidationError() {
        assertRefused(request -> {}, "InputLocation: found neither it nor a body");
        assertRefused(
                request -> request.inputLocation("s3://a/b").body(fromUtf8String("a")),
                "InputLocation: found a body too");
        assertRefused(
                request -> request.inputLocation("s3://a/b").requestTTLSeconds(59),
                "RequestTTLSeconds: found \"59\", expected a whole number from 60 to 21600");
        assertRefused(
                request -> request.inputLocation("s3://a/b").invocationTimeoutSeconds(3601),
                "InvocationTimeoutSeconds: found \"3601\", expected a whole number from 1 to 3600");
        assertRefused(request -> request.inputLocation("s3://a/b").filename("a/b"), "Filename: found \"a/b\"");
        assertRefused(
                request -> request.inputLocation("s3://a/b").s3OutputPathExtension("s3://b"),
                "S3OutputPathExtension: found \"s3://b\"");
        assertRefused(
                request -> request.inputLocation("s3://a/b").s3OutputPathExtension("a/../../b"),
                "S3OutputPathExtension and Filename: %s/out: found the key \"a/../../b/".formatted(shared));
        assertRefused(request -> request.inputLocation("s3://a/b").inferenceId("x".repeat(65)), "Inference-Id: found");
        assertRefused(
                request -> request.inputLocation("https://a/b"),
                "InputLocation: \"https://a/b\": found the scheme https");
        assertRefused(
                request -> request.body(SdkBytes.fromByteArray(new byte[128_001])),
                "found 128001 bytes, expected at most the 128000");
    }

    /// A file system takes names of 255 bytes, and one thing of each name.
    @Test
    void aNameThatCannotBeWrittenIsAValidationError() throws IOException {
        var name = "S3OutputPathExtension and Filename: %s/out/".formatted(shared);
        assertRefused(named("x".repeat(300), "a.txt"), name + "x");
        assertAnswered(named("", "taken.txt"));
        assertRefused(
                named("taken.txt", "a.txt"),
                name
                        + "taken.txt/a.txt: can't be written: found a file at %s/out/taken.txt, expected a directory"
                                .formatted(shared));
        assertAnswered(named("held", "a.txt"));
        assertRefused(
                named("", "held"), name + "held: can't be written: found a directory, expected a file or nothing");
    }

    @Test
    void thePlaceForFailuresIsClosedToCallers() throws IOException {
        for (var names : List.of(named("", "failures"), named("failures/mine", "a.txt"))) {
            assertRefused(names, "found the place for failures, expected another name");
        }
        assertAnswered(named("failures2", "a.txt"));
        var failed = ask(named("", "bad.txt").andThen(AsyncInvocationsTest::refused));
        assertThat(Path.of(failed.failureLocation())).hasParentRaw(shared.resolve("out/failures"));
        assertThat(written(failed.failureLocation())).contains("line: found bad");
    }

    /// The second caller makes a directory of the name that the first one's file will have.
    @Test
    void anAnswerWhoseNameIsTakenMeanwhileIsAFailure() throws Exception {
        var gate = new Gate(1);
        serve(new GatedHandler(gate), "BERTH_ASYNC_OUTPUT=" + directory);
        var first = ask(named("", "name"));
        var second = ask(named("name", "a.txt"));
        gate.open();
        assertThat(written(second.outputLocation())).isEqualTo("A");
        assertThat(written(first.failureLocation())).contains("/name: can't be written");
    }

    @Test
    void whereNothingCanBeWrittenNothingIsAccepted() throws Exception {
        var place = Files.createFile(directory.resolve("file"));
        serve(new TextHandler(), "BERTH_ASYNC_OUTPUT=" + directory.resolve("out"), "BERTH_ASYNC_FAILURES=" + place);
        assertThatThrownBy(() -> ask(named("", "a.txt")))
                .isInstanceOf(ServiceUnavailableException.class)
                .hasMessageContaining("nothing can be accepted now: %s/".formatted(place), "found a file at " + place);
        Files.delete(place);
        assertThat(written(ask(named("", "a.txt")).outputLocation())).isEqualTo("A");
    }

    /// Answers and failures in one place are the operator's choice. Their names can't be the same.
    @Test
    void onePlaceMayHoldAnswersAndFailures() throws Exception {
        serve(new EchoingHandler(), "BERTH_ASYNC_OUTPUT=" + directory, "BERTH_ASYNC_FAILURES=" + directory + "/");
        assertAnswered(named("", "a.txt"));
        assertThat(written(ask(named("", "b.txt").andThen(AsyncInvocationsTest::refused))
                        .failureLocation()))
                .contains("line: found bad");
    }

    @Test
    void aBodyOfUnknownLengthIsBoundedToo() throws Exception {
        var bytes = new ByteArrayInputStream(new byte[128_001]);
        var answer = server.send(HttpRequest.newBuilder(server.uri("/endpoints/any/async-invocations"))
                .POST(BodyPublishers.ofInputStream(() -> bytes))
                .build());
        assertThat(answer.statusCode()).isEqualTo(400);
        assertThat(answer.headers().firstValue("x-amzn-ErrorType")).hasValue("ValidationError");
    }

    @Test
    void objectsMayBeInS3() throws Exception {
        try (var s3 = S3Server.start().createBucket("bucket")) {
            serve(
                    new EchoingHandler(),
                    "BERTH_ASYNC_OUTPUT=s3://bucket/out/",
                    "BERTH_ASYNC_FAILURES=s3://bucket/failed",
                    "AWS_ENDPOINT_URL_S3=" + s3.endpoint());
            s3.put("bucket", "in/a.txt", "a");
            assertRefused(
                    request -> request.inputLocation("/etc/passwd"),
                    "found a file, expected s3://bucket/key; --async-input names a directory of files");
            var accepted = ask(request -> request.inputLocation("s3://bucket/in/a.txt")
                    .contentType("text/plain")
                    .accept("text/plain"));
            assertThat(accepted.outputLocation()).startsWith("s3://bucket/out/");
            assertThat(accepted.failureLocation()).startsWith("s3://bucket/failed/");
            var key = accepted.outputLocation().replace("s3://bucket/", "");
            await().ignoreException(NoSuchKeyException.class)
                    .until(() -> s3.keys("bucket").contains(key));
            assertThat(s3.text("bucket", key)).startsWith("[A] text/plain");
            assertThat(s3.contentType("bucket", key)).isEqualTo("text/plain");
        }
    }

    @Test
    void namesOfCallersInS3HaveTheSameBounds() throws Exception {
        var prefix = "p".repeat(600);
        try (var s3 = S3Server.start().createBucket("bucket")) {
            serve(
                    new EchoingHandler(),
                    "BERTH_ASYNC_OUTPUT=s3://bucket/" + prefix,
                    "AWS_ENDPOINT_URL_S3=" + s3.endpoint());
            for (var names : List.of(named("", "failures"), named("failures", "a.txt"))) {
                assertRefused(names, "found the place for failures, expected another name");
            }
            assertRefused(named("x".repeat(423), "a"), "found a key of 1026 bytes below it, expected at most 1024");
            ask(named("failures2", "a.txt"));
            await().until(() -> s3.keys("bucket").equals(List.of(prefix + "/failures2/a.txt")));
        }
    }

    @Test
    void aFullQueueThrottlesAndAStopFailsWhatWaits() throws Exception {
        var gate = new Gate(1);
        serve(
                new GatedHandler(gate),
                "BERTH_ASYNC_OUTPUT=" + directory,
                "BERTH_ASYNC_CONCURRENCY=1",
                "BERTH_ASYNC_QUEUE=1");
        var runs = ask(request -> request.body(fromUtf8String("a")));
        gate.awaitArrival();
        var waits = ask(request -> request.body(fromUtf8String("b")));
        assertThatThrownBy(() -> ask(request -> request.body(fromUtf8String("c"))))
                .isInstanceOfSatisfying(
                        SageMakerRuntimeException.class,
                        error -> assertThat(error.isThrottlingException()).isTrue())
                .hasMessageContaining("1 asynchronous invocations wait already (--async-queue)");
        var stop = own.stop();
        assertThat(written(waits.failureLocation())).contains("the server stopped before its turn; send it again");
        assertThatThrownBy(() -> ask(request -> request.body(fromUtf8String("d"))))
                .isInstanceOf(ServiceUnavailableException.class);
        gate.open();
        stop.join();
        assertThat(Path.of(runs.outputLocation())).hasContent("A");
        assertThat(Path.of(waits.outputLocation())).doesNotExist();
    }

    @Test
    void anAnswerThatTakesTooLongIsAFailure() throws Exception {
        var gate = new Gate(1);
        serve(new GatedHandler(gate), "BERTH_ASYNC_OUTPUT=" + directory);
        var accepted = ask(request -> request.body(fromUtf8String("a")).invocationTimeoutSeconds(1));
        assertThat(written(accepted.failureLocation())).contains("InvocationTimeoutSeconds, 1 s, were over");
        gate.open();
    }

    @Test
    void withoutAPlaceForAnswersThereAreNone() throws Exception {
        serve(new TextHandler());
        assertRefused(
                request -> request.inputLocation("s3://a/b"), "name a directory or s3:// prefix with --async-output");
    }

    @Test
    void wherePlatformsRunTheServerNothingIsAccepted() throws Exception {
        serve(new TextHandler(), "BERTH_ASYNC_OUTPUT=" + directory, "SAGEMAKER_REGION=eu-west-1");
        assertThatThrownBy(() -> ask(request -> request.inputLocation("s3://a/b")))
                .isInstanceOfSatisfying(
                        SageMakerRuntimeException.class,
                        error -> assertThat(error.statusCode()).isEqualTo(404));
    }

    private void serve(InferenceHandler<?, ?, ?> handler, String... variables) throws Exception {
        client.close();
        own = TestServer.with(handler).start(variables);
        client = own.runtimeClient();
    }

    private void assertRefused(Consumer<InvokeEndpointAsyncRequest.Builder> request, String message) {
        assertThatThrownBy(() -> ask(request))
                .isInstanceOf(ValidationErrorException.class)
                .hasMessageContaining(message);
    }

    private void assertAnswered(Consumer<InvokeEndpointAsyncRequest.Builder> request) throws IOException {
        assertThat(written(ask(request).outputLocation())).startsWith("[A]");
    }

    /// @param extension empty: none
    private static Consumer<InvokeEndpointAsyncRequest.Builder> named(String extension, String name) {
        return request -> request.body(fromUtf8String("a"))
                .contentType("text/plain")
                .s3OutputPathExtension(extension.isEmpty() ? null : extension)
                .filename(name);
    }

    private static void refused(InvokeEndpointAsyncRequest.Builder request) {
        request.body(fromUtf8String("bad"));
    }

    private InvokeEndpointAsyncResponse ask(Consumer<InvokeEndpointAsyncRequest.Builder> request) {
        return client.invokeEndpointAsync(builder -> request.accept(builder.endpointName("any")));
    }

    private static String written(String location) throws IOException {
        var file = Path.of(location);
        await().until(() -> Files.exists(file));
        return Files.readString(file);
    }
}
