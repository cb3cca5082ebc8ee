package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.HookProbe;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// Hooks of an artifact that fail while they are served: the answer names the hook, its file and the line, and the next
/// request is answered.
class OwnHooksFailureTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  /// A record says in which hook it wants which fault: `predictFn throw`.
  private static final String FAULTS = """
      class Faults {
        static class Own extends Error {}
        static class Silent extends RuntimeException {
          @Override public String getMessage() { throw new IllegalStateException("no message"); }
        }
        static class Broken {
          static final int SIZE = Integer.parseInt("none");
        }

        static String in(String hook, List<String> records) throws Exception {
          var record = records.isEmpty() ? "" : records.getFirst();
          return record.startsWith(hook + " ") ? fail(hook, record.substring(hook.length() + 1)) : "none";
        }

        static String fail(String hook, String fault) throws Exception {
          switch (fault) {
            case "throw" -> throw new IllegalStateException("boom");
            case "checked" -> throw new IOException("disk");
            case "cause" -> throw new IllegalStateException(new IOException("disk"));
            case "argument" -> throw new IllegalArgumentException("odd");
            case "nothing" -> throw new IllegalStateException();
            case "long" -> throw new IllegalStateException("ä\\n\\"".repeat(1000));
            case "bad input" -> throw new BadInputException("line 1: found 悪, expected 良");
            case "memory" -> throw new OutOfMemoryError("heap");
            case "error" -> throw new Own();
            case "overflow" -> fail(hook, fault);
            case "gone" -> throw new NoClassDefFoundError("com/acme/Gone");
            case "broken" -> HookProbe.note("" + Broken.SIZE);
            case "silent" -> throw new Silent();
            case "interrupted" -> throw new InterruptedException("by itself");
            case "exit" -> System.exit(1);
            case "runtime exit" -> Runtime.getRuntime().exit(2);
            case "halt" -> Runtime.getRuntime().halt(3);
            case "sleep" -> {
              try {
                Thread.sleep(600_000);
              } finally {
                HookProbe.note(hook + " interrupted");
              }
            }
            case "lock" -> HookProbe.LOCK.lockInterruptibly();
            case "spin" -> HookProbe.spin();
            default -> { return fault; }
          }
          throw new IllegalStateException("unreachable");
        }
      }
      """;

  private static final String HOOKS = """
      @Override public List<String> inputFn(InvocationRequest request) throws IOException {
        var records = super.inputFn(request);
        return switch (Unchecked.fault("inputFn", records)) {
          case "null" -> null;
          case "null record" -> Arrays.asList("fine", null, "fine");
          default -> records;
        };
      }
      @Override public int length(String record) {
        return switch (Unchecked.fault("length", List.of(record))) { case "negative" -> -1; case "zero" -> 0; default -> 1; };
      }
      @Override public List<String> predictFn(List<String> records, Object model) throws Exception {
        return switch (Faults.in("predictFn", records)) {
          case "null" -> null;
          case "null prediction" -> Arrays.asList((String) null);
          case "too many" -> List.of("a", "b");
          case "too few" -> List.of();
          default -> records;
        };
      }
      @Override public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) throws IOException {
        return switch (Unchecked.fault("outputFn", predictions)) {
          case "null" -> null;
          case "null body" -> InvocationResponse.of((byte[]) null, MediaType.TEXT);
          default -> super.outputFn(predictions, request);
        };
      }
      static class Unchecked {
        static String fault(String hook, List<String> records) {
          try { return Faults.in(hook, records); } catch (Exception e) { throw Unchecked.<RuntimeException>sneak(e); }
        }
        @SuppressWarnings("unchecked") static <E extends Exception> E sneak(Exception e) throws E { throw (E) e; }
      }
      """;

  private static final String TRANSFORM = """
      class Transform implements TransformHandler<Void> {
        @Override public Void modelFn(ModelContext context) { return null; }
        @Override public InvocationResponse transformFn(InvocationRequest request, Void model) throws Exception {
          var text = request.text();
          return Faults.in("transformFn", List.of(text)).equals("null") ? null : InvocationResponse.of(text, MediaType.TEXT);
        }
      }
      """;

  private static final List<String> ALL = List.of("inputFn", "length", "predictFn", "outputFn", "transformFn");

  @TempDir
  static Path directory;

  private static TestServer hooks;
  private static TestServer transform;

  @BeforeAll
  static void start() throws Exception {
    HookProbe.reset();
    var artifact = CodeArtifact.hooks(directory, HOOKS).source("Faults.java", FAULTS).source("Transform.java", TRANSFORM);
    hooks = artifact.server().start();
    transform = artifact.server().set("SAGEMAKER_PROGRAM", "Transform.java").start();
  }

  @AfterAll
  static void stop() throws Exception {
    hooks.close();
    transform.close();
  }

  static Stream<Arguments> faults() {
    return ALL.stream().flatMap(hook -> Stream.of(
        Arguments.of(hook, "throw", 500, "HOOK failed at Faults.java:LINE: boom"),
        Arguments.of(hook, "checked", 500, "HOOK failed at Faults.java:LINE: disk"),
        Arguments.of(hook, "cause", 500, "HOOK failed at Faults.java:LINE: java.io.IOException: disk"),
        Arguments.of(hook, "argument", 500, "HOOK failed at Faults.java:LINE: odd"),
        Arguments.of(hook, "nothing", 500, "HOOK failed at Faults.java:LINE: IllegalStateException"),
        Arguments.of(hook, "long", 500, "HOOK failed at Faults.java:LINE: ä\n\"ä\n\""),
        Arguments.of(hook, "bad input", 400, "line 1: found 悪, expected 良"),
        Arguments.of(hook, "memory", 507, "HOOK ran out of memory: heap"),
        Arguments.of(hook, "error", 500, "HOOK failed at Faults.java:LINE: Own"),
        Arguments.of(hook, "overflow", 500, "HOOK failed at Faults.java:"),
        Arguments.of(hook, "gone", 500, "HOOK failed at Faults.java:LINE: NoClassDefFoundError: com/acme/Gone"),
        Arguments.of(hook, "broken", 500, "HOOK failed at Faults.java:"),
        Arguments.of(hook, "silent", 500, "HOOK failed at Faults.java:"),
        Arguments.of(hook, "interrupted", 500, "HOOK failed at Faults.java:LINE: by itself"),
        Arguments.of(hook, "exit", 500, "HOOK failed at Faults.java:LINE: it called exit(1), which would have ended the server"),
        Arguments.of(hook, "runtime exit", 500, "HOOK failed at Faults.java:LINE: it called exit(2), which would have ended"),
        Arguments.of(hook, "halt", 500, "HOOK failed at Faults.java:LINE: it called exit(3), which would have ended")));
  }

  @ParameterizedTest
  @MethodSource("faults")
  @Tag("ERR-02")
  @Tag("ERR-04")
  @Tag("ERR-05")
  @Tag("ERR-06")
  void whatAHookThrowsIsAnsweredWithItsPlace(String hook, String fault, int status, String message) throws Exception {
    var response = server(hook).invoke(hook + " " + fault);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(status);
    assertThat(message(response)).startsWith(message.replace("HOOK", shown(hook)).replace("LINE", line(fault))).doesNotContain("\tat ");
    assertThat(response.body()).hasSizeLessThanOrEqualTo(2048);
    assertFine(server(hook));
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      inputFn null              | inputFn (code/Inference.java) returned null, expected a list of records
      inputFn null record       | inputFn (code/Inference.java) returned null as record 2 of 3, expected a record
      length negative           | length (code/Inference.java) returned -1, expected a positive number
      predictFn null            | predictFn (code/Inference.java) failed: found null, expected a list of 1 predictions, one for each record
      predictFn null prediction | predictFn (code/Inference.java) failed: found null as prediction 1 of 1, expected one for each record
      predictFn too many        | predictFn (code/Inference.java) failed: found 2 predictions, expected 1, one for each record
      predictFn too few         | predictFn (code/Inference.java) failed: found 0 predictions, expected 1, one for each record
      outputFn null             | outputFn (code/Inference.java) returned null, expected a response
      outputFn null body        | outputFn (code/Inference.java) failed at Inference.java:25: body
      transformFn null          | transformFn (code/Transform.java) failed: found null, expected a response
      """)
  @Tag("ERR-02")
  void whatAHookMustNotReturnIsAnsweredWithWhatItShould(String fault, String message) throws Exception {
    var server = server(fault.split(" ")[0]);
    var response = server.invoke(fault);
    assertThat(response.statusCode()).as(response.body()).isEqualTo(500);
    assertThat(message(response)).isEqualTo(message);
    assertFine(server);
  }

  @Test
  void aLengthOfZeroIsALength() throws Exception {
    assertThat(hooks.invoke("length zero").body()).isEqualTo("length zero");
  }

  @Test
  @Tag("INV-12")
  void aHookThatDoesNotEndIsLeftBehindAtTheDeadline() throws Exception {
    HookProbe.reset();
    var artifact = new CodeArtifact(directory);
    HookProbe.LOCK.lock();
    try (var hooks = artifact.server()
            .set("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "2").set("SAGEMAKER_MODEL_SERVER_WORKERS", "4").start();
        var transform = artifact.server().set("SAGEMAKER_PROGRAM", "Transform.java")
            .set("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "2").set("SAGEMAKER_MODEL_SERVER_WORKERS", "4").start()) {
      var responses = new HashMap<String, CompletableFuture<HttpResponse<String>>>();
      for (var hook : ALL) {
        var server = hook.equals("transformFn") ? transform : hooks;
        for (var fault : List.of("sleep", "lock", "spin")) {
          responses.put(hook + " " + fault, server.invokeAsync(hook + " " + fault));
        }
      }
      for (var response : responses.entrySet()) {
        var late = response.getValue().get();
        assertThat(late.statusCode()).as(response.getKey() + ": " + late.body()).isEqualTo(504);
        assertThat(message(late)).isEqualTo("the request's time ran out while %s ran", shown(response.getKey().split(" ")[0]));
      }
      await().untilAsserted(() ->
          assertThat(HookProbe.NOTES).containsExactlyInAnyOrderElementsOf(ALL.stream().map(hook -> hook + " interrupted").toList()));
      assertFine(hooks);
      assertFine(transform);
      HookProbe.endSpinning();
      assertFine(hooks);
      assertFine(transform);
    } finally {
      HookProbe.LOCK.unlock();
    }
  }

  /// Nobody can end a thread that only computes. Requests are refused in time, `/ping` tells that the process lives, and
  /// the worker goes on when the hook ends at last.
  @Test
  void aPredictFnThatNeverEndsHoldsItsWorker() throws Exception {
    HookProbe.reset();
    try (var server = new CodeArtifact(directory).server()
        .set("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "1").set("SAGEMAKER_MODEL_SERVER_WORKERS", "1").start()) {
      assertThat(message(server.invoke("predictFn spin"))).contains("ran out while predictFn (code/Inference.java) ran");
      var waiting = server.invoke("fine");
      assertThat(waiting.statusCode()).isEqualTo(504);
      assertThat(message(waiting)).isEqualTo("the request's time ran out while it was queued");
      assertThat(server.get("/ping").statusCode()).isEqualTo(200);
      HookProbe.endSpinning();
      await().until(() -> server.invoke("fine").statusCode() == 200);
    }
  }

  private static TestServer server(String hook) {
    return hook.equals("transformFn") ? transform : hooks;
  }

  private static String shown(String hook) {
    return "%s (code/%s.java)".formatted(hook, hook.equals("transformFn") ? "Transform" : "Inference");
  }

  private static String line(String fault) {
    var lines = FAULTS.lines().toList();
    return lines.stream().filter(line -> line.contains("case \"%s\"".formatted(fault))).findFirst()
        .map(line -> String.valueOf(lines.indexOf(line) + 1)).orElseThrow();
  }

  private static String message(HttpResponse<String> response) throws IOException {
    return JSON.readTree(response.body()).path("message").textValue();
  }

  private static void assertFine(TestServer server) throws Exception {
    assertThat(server.invoke("fine", "Accept", "text/plain").body()).isEqualTo("fine");
    assertThat(server.get("/ping").statusCode()).isEqualTo(200);
  }
}
