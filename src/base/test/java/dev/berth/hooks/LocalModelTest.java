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

/// What a server promises to hooks holds without one too.
class LocalModelTest {

    private static final Path ANYWHERE = Path.of(".");

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

    @Test
    void nullAndWrongCountsNameTheirHook() throws Exception {
        refused("inputFn: found null, expected a list", new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) {
                return null;
            }
        });
        refused("inputFn: found null at 1 of 2, expected a record", new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) {
                return Arrays.asList("a", null);
            }
        });
        refused("split: found no pieces, expected the record itself or several", new TextHandler() {
            @Override
            public List<String> split(String record) {
                return List.of();
            }
        });
        refused("predictFn: found null at 0 of 1, expected a prediction", new TextHandler() {
            @Override
            public List<String> predictFn(List<String> records, Object model) {
                return Collections.singletonList(null);
            }
        });
        refused("predictFn: found 0 predictions, expected 1, one for each record", new TextHandler() {
            @Override
            public List<String> predictFn(List<String> records, Object model) {
                return List.of();
            }
        });
        refused("join: found null, expected a prediction", new TextHandler() {
            @Override
            public List<String> split(String record) {
                return List.of(record, record);
            }

            @Override
            public String join(String record, List<String> parts) {
                return null;
            }
        });
        refused("outputFn: found null, expected a response", new TextHandler() {
            @Override
            public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
                return null;
            }
        });
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
        try (var model = LocalModel.load(new SpellingHandler(), ANYWHERE)) {
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

    private static void refused(String message, TextHandler handler) throws Exception {
        try (var model = LocalModel.load(handler, ANYWHERE)) {
            assertThatThrownBy(() -> model.invoke(MediaType.TEXT, "a"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage(message);
        }
    }
}
