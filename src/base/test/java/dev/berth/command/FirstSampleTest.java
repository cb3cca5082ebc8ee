package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.HookProbe;
import dev.berth.testing.TestServer;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The artifact's sample is asked before `/ping` is 200, whatever hooks it has.
class FirstSampleTest {

    @TempDir
    Path directory;

    @BeforeEach
    void reset() {
        HookProbe.reset();
    }

    @ParameterizedTest
    @CsvSource({
        "new Object(), modelFn [one] [two] modelFn [one] [two]",
        // Workers share it.
        "null, modelFn [one] [two] modelFn"
    })
    void eachModelIsAskedOnceBeforeItServes(String model, String notes) throws Exception {
        var artifact = CodeArtifact.hooks(directory, """
        @Override public Object modelFn(ModelContext context) { HookProbe.note("modelFn"); return %s; }
        @Override public List<String> predictFn(List<String> records, Object model) {
          HookProbe.note(records.toString());
          return records;
        }
        """.formatted(model)).file("sample.txt", "one\ntwo");
        try (var server = artifact.server().start("SAGEMAKER_MODEL_SERVER_WORKERS=2")) {
            assertThat(HookProbe.NOTES).containsExactly(notes.split(" "));
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "sample.png,  image/png,   image/png",
        "sample.png,  application/x-image image/png, application/x-image",
        "sample.jpg,  image/png image/jpeg, image/jpeg",
        "sample.wav,  audio/wav,   audio/wav",
        "sample.wav,  audio/x-wav, audio/x-wav"
    })
    void aSampleIsSentInTheTypeThatTheHooksTake(String name, String types, String sent) throws Exception {
        var list = Stream.of(types.split(" "))
                .map("MediaType.parse(\"%s\").get()"::formatted)
                .collect(Collectors.joining(", "));
        var artifact = CodeArtifact.hooks(directory, """
        @Override public List<MediaType> requestTypes() { return List.of(%s); }
        @Override public List<String> inputFn(InvocationRequest request) { HookProbe.note(request.contentType().toString()); return List.of(""); }
        @Override public List<String> predictFn(List<String> records, Object model) { return records; }
        """.formatted(list)).file(name, "bytes");
        try (var _ = artifact.server().start()) {
            assertThat(HookProbe.NOTES).containsExactly(sent);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
      List<String> inputFn(InvocationRequest request) { throw new BadInputException("body: expected more"); } | body: expected more
      List<String> inputFn(InvocationRequest request) { return null; } | inputFn (code/Inference.java) returned null, expected a list of records
      List<String> predictFn(List<String> records, Object model) { throw new IllegalStateException("boom"); } | predictFn (code/Inference.java) failed at Inference.java:2: boom
      List<String> predictFn(List<String> records, Object model) { throw new IllegalStateException("boom", new java.io.IOException("disk")); } | predictFn (code/Inference.java) failed at Inference.java:2: boom, caused by java.io.IOException: disk
      List<String> predictFn(List<String> records, Object model) { return List.of(); } | predictFn (code/Inference.java) failed: found 0 predictions, expected 1, one for each record
      List<String> predictFn(List<String> records, Object model) { return Arrays.asList((String) null); } | predictFn (code/Inference.java) failed: found null as prediction 1 of 1, expected one for each record
      InvocationResponse outputFn(List<String> predictions, InvocationRequest request) { return null; } | outputFn (code/Inference.java) returned null, expected a response
      List<MediaType> requestTypes() { return List.of(MediaType.CSV); } | Content-Type: found "text/plain", expected one of [text/csv]
      """)
    @Tag("RUN-14")
    void aSampleThatIsNotAnsweredIsNamedAndNothingIsServed(String hook, String problem) throws Exception {
        var artifact = CodeArtifact.hooks(directory, "@Override public " + hook).file("sample.txt", "one");
        assertStartFails(artifact.server(), "sample.txt: the model does not answer it: " + problem);
    }

    @Test
    @Tag("RUN-14")
    void anotherResponseThanTheSamplesOwnIsRefused() throws Exception {
        var artifact =
                CodeArtifact.hooks(directory, "").file("sample.txt", "one").file("sample-response.json", "\"TWO\"");
        assertStartFails(
                artifact.server(), "sample-response.json: found a response to sample.txt that is not JSON: ONE");
        artifact.file("sample.txt", "1").file("sample-response.json", "2");
        assertStartFails(
                artifact.server(),
                "sample-response.json: found another response to sample.txt: 1; if it is the right one,"
                        + " put it into this file, or delete the file");
        artifact.file("sample-response.json", "{1");
        assertStartFails(
                artifact.server(), "sample-response.json: not JSON at column 2: found unexpected character ('1'");
        artifact.file("sample-response.json", "1.0001");
        artifact.server().start().close();
    }

    private static void assertStartFails(TestServer.Builder builder, String problem) throws Exception {
        try (var server = builder.startWithoutWaiting()) {
            var thrown = catchThrowableOfType(
                    StartException.class, () -> server.server().awaitReady());
            assertThat(thrown).hasMessageContaining(problem);
            assertThat(thrown.saysWhy()).isTrue();
            assertThat(server.get("/ping").statusCode()).isEqualTo(503);
        }
    }
}
