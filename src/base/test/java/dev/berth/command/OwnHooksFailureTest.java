package dev.berth.command;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.HookProbe;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Hooks of an artifact that fail while they are served: the answer names the hook, its file and
/// the line, and the next request is answered.
class OwnHooksFailureTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    /// Its hooks do what a record asks for: `predictFn throw` lets predictFn throw.
    private static final Path ARTIFACT = Path.of("src/test/resources/artifacts/faulty-hooks");

    private static final List<String> ALL = List.of("inputFn", "length", "predictFn", "outputFn", "transformFn");

    @AutoClose
    private static TestServer hooks;

    @AutoClose
    private static TestServer transform;

    @BeforeAll
    static void start() throws Exception {
        HookProbe.reset();
        hooks = server("Inference.java").start();
        transform = server("Transform.java").start();
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      throw          | 500 | HOOK failed at Faults.java:LINE: boom
      checked        | 500 | HOOK failed at Faults.java:LINE: disk
      cause          | 500 | HOOK failed at Faults.java:LINE: java.io.IOException: disk
      argument       | 500 | HOOK failed at Faults.java:LINE: odd
      nothing        | 500 | HOOK failed at Faults.java:LINE: IllegalStateException
      long           | 500 | HOOK failed at Faults.java:LINE: ä\\n"ä\\n"
      bad input      | 400 | line 1: found 悪, expected 良
      huge           | 500 | HOOK failed at Faults.java:LINE: xxxx
      huge bad input | 400 | xxxx
      endless        | 500 | HOOK failed at Faults.java:LINE: EndlessException
      memory         | 507 | HOOK ran out of memory: heap
      error          | 500 | HOOK failed at Faults.java:LINE: OwnError
      overflow       | 500 | HOOK failed at Faults.java:
      gone           | 500 | HOOK failed at Faults.java:LINE: NoClassDefFoundError: com/acme/Gone; put the jar that has this class into code/lib
      not found      | 500 | HOOK failed at Faults.java:LINE: ClassNotFoundException: com.acme.Gone; put the jar that has this class into code/lib
      broken         | 500 | HOOK failed at Faults.java:
      silent         | 500 | HOOK failed at Faults.java:
      interrupted    | 500 | HOOK failed at Faults.java:LINE: by itself
      exit           | 500 | HOOK failed at Faults.java:LINE: it called exit(1), which would have ended
      runtime exit   | 500 | HOOK failed at Faults.java:LINE: it called exit(2), which would have
      halt           | 500 | HOOK failed at Faults.java:LINE: it called exit(3), which would have
      """)
    @Tag("ERR-02")
    @Tag("ERR-04")
    @Tag("ERR-05")
    @Tag("ERR-06")
    void whatAHookThrowsIsAnsweredWithItsPlace(String fault, int status, String message) throws Exception {
        for (var hook : ALL) {
            var response = serverOf(hook).invoke(hook + " " + fault);
            assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
            assertThat(message(response).replace("\n", "\\n"))
                    .startsWith(message.replace("HOOK", shown(hook)).replace("LINE", line(fault)))
                    .doesNotContain("\tat ");
            assertThat(response.body()).hasSizeLessThanOrEqualTo(2048);
            assertFine(serverOf(hook));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      inputFn null              | inputFn (FILE) returned null, expected a list of records
      inputFn null record       | inputFn (FILE) returned null as record 2 of 3, expected a record
      length negative           | length (FILE) returned -1, expected a positive number
      predictFn null            | predictFn (FILE) failed: found null, expected a list of 1 predictions, one for each record
      predictFn null prediction | predictFn (FILE) failed: found null as prediction 1 of 1, expected one for each record
      predictFn too many        | predictFn (FILE) failed: found 2 predictions, expected 1, one for each record
      predictFn too few         | predictFn (FILE) failed: found 0 predictions, expected 1, one for each record
      outputFn null             | outputFn (FILE) returned null, expected a response
      outputFn null body        | outputFn (FILE) failed at Inference.java:46: body
      transformFn null          | transformFn (code/Transform.java) failed: found null, expected a response
      """)
    @Tag("ERR-02")
    void whatAHookMustNotReturnIsAnsweredWithWhatItShould(String fault, String message) throws Exception {
        var server = serverOf(fault.split(" ")[0]);
        var response = server.invoke(fault);
        assertThat(response.statusCode()).as(response.body()).isEqualTo(500);
        assertThat(message(response)).isEqualTo(message.replace("FILE", "code/Inference.java"));
        assertFine(server);
    }

    @Test
    @Tag("OBS-05")
    void theLogHasThePlaceAndAStackThatEndsWithTheHook() throws Exception {
        try (var log = new CapturedLog()) {
            hooks.invoke("predictFn throw");
            await().until(() -> log.text().contains("POST /invocations 500"));
            assertThat(log.text())
                    .contains("failed at Faults.java:" + line("throw"))
                    .doesNotContain("ServingException");
            assertThat(log.events())
                    .filteredOn(event -> event.getThrowableProxy() != null)
                    .singleElement()
                    .satisfies(event -> assertThat(ThrowableProxyUtil.asString(event.getThrowableProxy()))
                            .contains("at code//Faults.")
                            .doesNotContain("dev.berth.", "jetty"));
        }
    }

    @Test
    void aLengthOfZeroIsALength() throws Exception {
        assertThat(hooks.invoke("length zero").body()).isEqualTo("length zero");
    }

    @Test
    @Tag("slow")
    @Tag("INV-12")
    void aHookThatDoesNotEndIsLeftBehindAtTheDeadline() throws Exception {
        HookProbe.reset();
        HookProbe.hold();
        try (var hooks = patient("Inference.java").start();
                var transform = patient("Transform.java").start()) {
            var responses = new HashMap<String, CompletableFuture<HttpResponse<String>>>();
            for (var hook : ALL) {
                var server = hook.equals("transformFn") ? transform : hooks;
                for (var fault : List.of("sleep", "lock", "spin", "mute")) {
                    responses.put(hook + " " + fault, server.invokeAsync(hook + " " + fault));
                }
            }
            for (var response : responses.entrySet()) {
                var late = response.getValue().get();
                assertStatus(late, 504);
                assertThat(message(late))
                        .isEqualTo(
                                "the request's time ran out while %s ran",
                                shown(response.getKey().split(" ")[0]));
            }
            var interrupted = ALL.stream().map(hook -> hook + " interrupted").toList();
            await().untilAsserted(() -> assertThat(HookProbe.NOTES).containsExactlyInAnyOrderElementsOf(interrupted));
            assertFine(hooks);
            assertFine(transform);
            HookProbe.endSpinning();
            assertFine(hooks);
            assertFine(transform);
        } finally {
            HookProbe.letGo();
        }
    }

    private static TestServer.Builder server(String program) {
        return TestServer.artifact(ARTIFACT).set("SAGEMAKER_PROGRAM", program);
    }

    /// All hooks must begin before their time is over.
    private static TestServer.Builder patient(String program) {
        return server(program)
                .set("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "5")
                .set("SAGEMAKER_MODEL_SERVER_WORKERS", "5");
    }

    private static TestServer serverOf(String hook) {
        return hook.equals("transformFn") ? transform : hooks;
    }

    private static String shown(String hook) {
        return "%s (code/%s.java)".formatted(hook, hook.equals("transformFn") ? "Transform" : "Inference");
    }

    /// The line of a fault.
    private static String line(String fault) throws IOException {
        var lines = Files.readAllLines(ARTIFACT.resolve("code/Faults.java"));
        return lines.stream()
                .filter(line -> line.contains("case \"%s\"".formatted(fault)))
                .findFirst()
                .map(line -> String.valueOf(lines.indexOf(line) + 1))
                .orElseThrow();
    }

    private static String message(HttpResponse<String> response) throws IOException {
        return JSON.readTree(response.body()).path("message").textValue();
    }

    private static void assertFine(TestServer server) throws Exception {
        assertThat(server.invoke("fine", "Accept", "text/plain").body()).isEqualTo("fine");
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
    }
}
