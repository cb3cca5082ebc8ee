package dev.berth.hooks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.testing.SpellingHandler;
import dev.berth.testing.TextHandler;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// What a server promises to hooks holds without one too.
class LocalModelTest {

    private static final Path ANYWHERE = Path.of(".");

    private final SpellingHandler speller = new SpellingHandler();

    @Test
    void noBatchIsLargerThanTheHandlerWants() throws Exception {
        var sizes = new ArrayList<Integer>();
        var handler = new TextHandler() {
            @Override
            public int maxBatchSize(Accelerator accelerator) {
                return 2;
            }

            @Override
            public List<String> predictFn(List<String> records, Object model) {
                sizes.add(records.size());
                assertThatThrownBy(() -> records.set(0, "x")).isInstanceOf(UnsupportedOperationException.class);
                return records;
            }
        };
        try (var model = LocalModel.load(handler, ANYWHERE)) {
            assertThat(model.invoke(MediaType.TEXT, "a\nb\nc\nd\ne")).isEqualTo("a\nb\nc\nd\ne");
            assertThat(sizes).containsExactly(2, 2, 1);
            assertThat(model.invoke(MediaType.TEXT, "")).isEmpty();
        }
    }

    @Test
    void typesThatTheHandlerDoesNotNameAreRefused() throws Exception {
        var handler = new TextHandler() {
            @Override
            public List<MediaType> requestTypes() {
                return List.of(MediaType.TEXT);
            }

            @Override
            public List<MediaType> responseTypes() {
                return List.of(MediaType.TEXT, MediaType.CSV);
            }
        };
        try (var model = LocalModel.load(handler, ANYWHERE)) {
            var body = "a".getBytes(StandardCharsets.UTF_8);
            var text = MediaType.parse("text/plain; charset=utf-8").orElseThrow();
            assertThat(model.invoke(text, body, MediaType.ANY).body()).isEqualTo(new byte[] {'A'});
            assertThatThrownBy(() -> model.invoke(MediaType.JSON, body, MediaType.TEXT))
                    .isInstanceOf(UnsupportedMediaTypeException.class)
                    .hasMessage("Content-Type: found \"application/json\", expected one of [text/plain]");
            assertThatThrownBy(() -> model.invoke(MediaType.TEXT, body, MediaType.JSON))
                    .isInstanceOf(NotAcceptableException.class)
                    .hasMessage("Accept: found \"application/json\", expected one of [text/plain, text/csv]");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      inputFn: found null, expected a list
      inputFn: found null at 1 of 2, expected a record
      split: found no pieces, expected the record itself or several
      predictFn: found null at 0 of 1, expected a prediction
      predictFn: found 0 predictions, expected 1, one for each record
      join: found null, expected a prediction
      outputFn: found null, expected a response
      """)
    void nullAndWrongCountsNameTheirHook(String message) throws Exception {
        try (var model = LocalModel.load(new Broken(message), ANYWHERE)) {
            assertThatThrownBy(() -> model.invoke(MediaType.TEXT, "a"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(message);
        }
    }

    /// Whose hooks return what a message says was found.
    private static final class Broken extends TextHandler {
        private final String message;

        private Broken(String message) {
            this.message = message;
        }

        private boolean returns(String found) {
            return message.startsWith(found);
        }

        @Override
        public List<String> inputFn(InvocationRequest request) {
            return returns("inputFn: found null,") ? null : Arrays.asList("a", returns("inputFn") ? null : "b");
        }

        @Override
        public List<String> split(String record) {
            return returns("split") ? List.of() : returns("join") ? List.of(record, record) : List.of(record);
        }

        @Override
        public List<String> predictFn(List<String> records, Object model) {
            return returns("predictFn: found null")
                    ? Collections.nCopies(records.size(), null)
                    : returns("predictFn") ? List.of() : records;
        }

        @Override
        public String join(String record, List<String> parts) {
            return null;
        }

        @Override
        public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
            return null;
        }
    }

    @Test
    void hooksGetCustomAttributesHeadersAndADeadline() throws Exception {
        var handler = new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) {
                assertThat(request.remaining()).isPositive().isLessThanOrEqualTo(Duration.ofSeconds(60));
                return Stream.of(request.customAttributes(), request.header("X-Amzn-SageMaker-Target-Variant"))
                        .flatMap(Optional::stream)
                        .toList();
            }

            @Override
            public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
                return InvocationResponse.of(String.join("\n", predictions), MediaType.TEXT)
                        .withCustomAttributes("seen");
            }
        };
        try (var model = LocalModel.load(handler, ANYWHERE)) {
            var response = model.invoke(MediaType.TEXT, new byte[0], MediaType.TEXT, "trace=1");
            assertThat(new String(response.body(), StandardCharsets.UTF_8)).isEqualTo("TRACE=1");
            assertThat(response.customAttributes()).contains("seen");
            var request = new InvocationRequest(
                            new ByteArrayInputStream(new byte[0]),
                            MediaType.TEXT,
                            MediaType.TEXT,
                            Optional.empty(),
                            "id",
                            false)
                    .withHeaders(Map.of("X-Amzn-SageMaker-Target-Variant", "b"))
                    .withDeadline(System.nanoTime() + 1_000_000_000L);
            assertThat(new String(model.invoke(request).body(), StandardCharsets.UTF_8))
                    .isEqualTo("B");
        }
    }

    @Test
    void partsOfAStreamComeOneByOne() throws Exception {
        try (var model = LocalModel.load(speller, ANYWHERE)) {
            var body = "abc\nde".getBytes(StandardCharsets.UTF_8);
            assertThat(model.stream(MediaType.TEXT, body, MediaType.EVENT_STREAM))
                    .extracting(part -> new String(part, StandardCharsets.UTF_8))
                    .containsExactly("A", "B", "C", "D", "E");
        }
        var whole = new SpellingHandler() {
            @Override
            public Optional<MediaType> streamedAs(InvocationRequest request) {
                return Optional.empty();
            }
        };
        try (var model = LocalModel.load(whole, ANYWHERE)) {
            assertThatThrownBy(() -> model.stream(MediaType.TEXT, new byte[0], MediaType.TEXT))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("streamedAs: found nothing for the type text/plain, expected the type of the parts");
        }
        try (var model = LocalModel.load(new TextHandler(), ANYWHERE)) {
            assertThatThrownBy(() -> model.stream(MediaType.TEXT, new byte[0], MediaType.EVENT_STREAM))
                    .hasMessage("handler: found dev.berth.testing.TextHandler, expected a StreamingHandler");
        }
    }

    @Test
    void aLocalModelPutsThePartsTogether() throws Exception {
        try (var model = LocalModel.load(speller, ANYWHERE)) {
            assertThat(model.invoke(MediaType.JSON, "abc\n\nde")).isEqualTo("ABC\n\nDE");
        }
        assertThat(speller.open()).isZero();
        assertThat(speller.steps().getFirst()).containsExactly("abc", "", "de");
        assertThat(speller.steps().getLast()).containsExactly("abc");
    }

    @Test
    void whatARecordFailsWithComesOutAndNothingStaysOpen() throws Exception {
        try (var model = LocalModel.load(speller, ANYWHERE)) {
            assertThatThrownBy(() -> model.invoke(MediaType.JSON, "abc\na?"))
                    .isInstanceOf(BadInputException.class)
                    .hasMessage("line: found a ?, expected letters");
            assertThatThrownBy(() -> model.invoke(MediaType.JSON, "abc\n0")).isInstanceOf(BadInputException.class);
            assertThatThrownBy(() -> model.invoke(MediaType.JSON, "!")).hasMessage("no such letter");
        }
        assertThat(speller.open()).isZero();
    }

    @Test
    void aPartAfterTheEndIsRefused() {
        var late = new SpellingHandler() {
            @Override
            public void stepFn(List<PartStream<Spelling, String>> streams, Object model) {
                streams.getFirst().end();
                streams.getFirst().emit("late");
            }
        };
        assertThatThrownBy(() -> late.predictFn(List.of("abc"), late))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("found a part after the end of its stream");
        assertThat(late.open()).isZero();
    }
}
