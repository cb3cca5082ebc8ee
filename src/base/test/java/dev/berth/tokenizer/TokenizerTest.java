package dev.berth.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import dev.berth.memory.RequestMemory.ProcessMemory;
import dev.berth.testing.Gzipped;
import dev.berth.testing.Malloc;
import dev.berth.tokenizer.Truncation.Side;
import dev.berth.tokenizer.Truncation.Strategy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Rows as Python's tokenizers makes them. `trace/tokenizer_fixtures.py` makes the files.
class TokenizerTest {

    private static final Path FILES = Path.of("src/test/resources/tokenizers");
    private static final Path BERT = Path.of("model-artifact/tokenizer.json");
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"bert", "byte-level-bpe", "unigram"})
    void rowsBatchesAndTextsAreThoseOfPython(String name) throws IOException {
        var files = FILES.resolve(name);
        var recorded = JSON.readTree(Gzipped.bytes(files.resolve("expected.json.gz")));
        try (var tokenizer = Tokenizer.load(name.equals("bert") ? BERT : files)) {
            for (var expected : recorded.path("single")) {
                assertRow(tokenizer.encode(expected.path("text").asText(), Truncation.NONE), expected);
            }
            for (var expected : recorded.path("pairs")) {
                assertRow(pair(tokenizer, expected, Truncation.NONE), expected);
            }
            for (var expected : recorded.path("truncated")) {
                var truncation = new Truncation(
                        expected.path("length").intValue(),
                        Strategy.valueOf(expected.path("strategy").asText().toUpperCase(Locale.ROOT)),
                        Side.valueOf(expected.path("side").asText().toUpperCase(Locale.ROOT)));
                if (expected.path("expected").isNull()) {
                    assertThatThrownBy(() -> pair(tokenizer, expected, truncation))
                            .isInstanceOf(BadInputException.class)
                            .hasMessageContaining("which alone may be cut");
                } else {
                    assertRow(pair(tokenizer, expected, truncation), expected);
                }
            }
            for (var expected : recorded.path("decoded")) {
                var ids = longs(expected.path("ids"));
                assertThat(tokenizer.decode(ids, false))
                        .isEqualTo(expected.path("text").asText());
                assertThat(tokenizer.decode(ids, true))
                        .isEqualTo(expected.path("plain").asText());
            }
            var batch = recorded.path("batch");
            var padded = batch(
                    tokenizer,
                    batch.path("texts").valueStream().map(JsonNode::asText).toList());
            assertThat(padded.ids()).isEqualTo(tensor(batch, "ids"));
            assertThat(padded.typeIds()).isEqualTo(tensor(batch, "typeIds"));
            assertThat(padded.attentionMask()).isEqualTo(tensor(batch, "attentionMask"));
        }
    }

    private static Encoding pair(Tokenizer tokenizer, JsonNode texts, Truncation truncation) {
        return tokenizer.encode(texts.path("text").asText(), texts.path("pair").asText(), truncation);
    }

    @Test
    void aRowIsCutToWhatTheModelTakes() throws IOException {
        var longText = "word ".repeat(1000);
        Files.copy(BERT, directory.resolve("tokenizer.json"));
        assertLongest(longText, 1002);
        Files.writeString(
                directory.resolve("tokenizer_config.json"), "{\"model_max_length\": 512, \"pad_token\": \"[PAD]\"}");
        assertLongest(longText, 512);
        Files.writeString(directory.resolve("model.json"), "{\"format\": 1, \"maxSequenceLength\": 128}");
        assertLongest(longText, 128);
        try (var tokenizer = Tokenizer.load(directory)) {
            assertThat(tokenizer.encode(longText, tokenizer.truncation().to(16)).size())
                    .isEqualTo(16);
            assertThat(tokenizer.encode(longText, longText).sequences()).containsOnly(-1, 0, 1);
        }
    }

    private void assertLongest(String text, int tokens) throws IOException {
        try (var tokenizer = Tokenizer.load(directory)) {
            assertThat(tokenizer.encode(text).size()).isEqualTo(tokens);
        }
    }

    @Test
    void aTokenizerWithItsOwnLengthCutsToIt() throws IOException {
        var json = Files.readString(FILES.resolve("unigram/tokenizer.json"))
                .replace(
                        "\"truncation\":null",
                        "\"truncation\":{\"direction\":\"Left\",\"max_length\":5,\"strategy\":\"LongestFirst\",\"stride\":0}");
        Files.writeString(directory.resolve("tokenizer.json"), json);
        try (var tokenizer = Tokenizer.load(directory)) {
            assertThat(tokenizer.truncation()).isEqualTo(new Truncation(5, Strategy.LONGEST_FIRST, Side.LEFT));
            assertThat(tokenizer.encode("The quick brown fox").ends())
                    .endsWith(19, 0)
                    .hasSize(5);
        }
    }

    @Test
    void aTokenizerWithoutATokenForPaddingSaysSo() throws IOException {
        var json = Files.readString(FILES.resolve("unigram/tokenizer.json"));
        Files.writeString(directory.resolve("tokenizer.json"), json);
        assertThat(shorterRow()).endsWith(1);
        Files.writeString(directory.resolve("tokenizer.json"), json.replace("<pad>", "<fill>"));
        assertThatThrownBy(this::shorterRow)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageStartingWith("tokenizer_config.json: pad_token: found nothing");
        try (var tokenizer = Tokenizer.load(directory)) {
            assertThat(batch(tokenizer, List.of("fox", "fox")).ids().shape()).startsWith(2);
        }
        Files.writeString(directory.resolve("special_tokens_map.json"), "{\"pad_token\": \"<fill>\"}");
        assertThat(shorterRow()).endsWith(1);
    }

    @Test
    void spacesBeforeMarksGoWhereTheTokenizerSaysSo() throws IOException {
        Files.copy(BERT, directory.resolve("tokenizer.json"));
        Files.writeString(directory.resolve("tokenizer_config.json"), "{\"clean_up_tokenization_spaces\": true}");
        try (var tokenizer = Tokenizer.load(directory)) {
            assertThat(tokenizer.decode(
                            tokenizer.encode("It doesn't matter, they've said!").ids(), true))
                    .isEqualTo("it doesn't matter, they've said!");
        }
    }

    @Test
    @Tag("RUN-14")
    void aFileThatIsNoTokenizerIsNamed() throws IOException {
        var json = (ObjectNode)
                JSON.readTree(FILES.resolve("byte-level-bpe/tokenizer.json").toFile());
        json.putObject("post_processor").put("type", "NoneProcessing");
        for (var text : List.of("{}", json.toString())) {
            var file = Files.writeString(directory.resolve("tokenizer.json"), text);
            assertThatThrownBy(() -> Tokenizer.load(file))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining(file + " can't be loaded as a tokenizer");
        }
        assertThatThrownBy(() -> Tokenizer.load(directory)).hasMessageContaining("PostProcessor");
        assertThatThrownBy(() -> Tokenizer.load(directory.resolve("nothing.json")))
                .isInstanceOf(IOException.class);
    }

    @Test
    void postProcessorsAddTheirSpecialTokensOneAfterAnother() throws IOException {
        var none = """
        {"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true}""";
        var own = """
        {"type": "BertProcessing", "cls": ["<s>", 0], "sep": ["</s>", 2]}""";
        var json = (ObjectNode)
                JSON.readTree(FILES.resolve("byte-level-bpe/tokenizer.json").toFile());
        for (var processors : List.of(List.of(none, own), List.of(own, none))) {
            json.set(
                    "post_processor",
                    JSON.readTree("{\"type\": \"Sequence\", \"processors\": %s}".formatted(processors)));
            JSON.writeValue(directory.resolve("tokenizer.json").toFile(), json);
            try (var tokenizer = Tokenizer.load(directory)) {
                var row = tokenizer.encode("fox", "fox", Truncation.NONE);
                int tokens = tokenizer.tokens("fox").size();
                assertThat(row.size()).isEqualTo(3 + 2 * tokens);
                assertThat(row.ids()).startsWith(0).endsWith(2);
                assertThat(row.typeIds()).startsWith(0).endsWith(1);
                assertThat(row.sequences()).startsWith(-1, 0).endsWith(1, -1);
            }
        }
    }

    /// A tokenizer takes 6 MB, and the JVM itself takes some meanwhile.
    @Test
    @EnabledOnOs(OS.LINUX)
    void filesOfTheSameContentShareOneTokenizerUntilTheLastIsClosed() throws IOException {
        var copy = Files.copy(BERT, directory.resolve("tokenizer.json"));
        try (var last = Tokenizer.load(BERT)) {
            long one = Malloc.used();
            var others = new ArrayList<Tokenizer>();
            for (int i = 0; i < 10; i++) {
                others.add(Tokenizer.load(copy));
            }
            assertThat(Malloc.used() - one).isLessThan(30 << 20);
            others.forEach(Tokenizer::close);
            others.forEach(Tokenizer::close);
            assertThat(last.tokens("How old?").starts()).hasSize(3);
        }
    }

    @Test
    void anotherFileHasATokenizerOfItsOwn() throws IOException {
        var sample = BERT;
        var changed = Files.writeString(
                directory.resolve("changed.json"),
                Files.readString(sample).replace("\"lowercase\":true", "\"lowercase\":false"));
        assertThat(Files.size(changed)).isNotEqualTo(Files.size(sample));
        try (var one = Tokenizer.load(sample);
                var other = Tokenizer.load(changed)) {
            assertThat(other.tokens("HOW OLD?").ids())
                    .isNotEqualTo(one.tokens("HOW OLD?").ids());
        }
    }

    private static void assertRow(Encoding row, JsonNode recorded) {
        var expected = recorded.path("expected");
        assertThat(List.of(
                        row.ids(),
                        row.typeIds(),
                        Arrays.stream(row.sequences())
                                .mapToLong(i -> i < 0 ? 1 : 0)
                                .toArray(),
                        wide(row.starts()),
                        wide(row.ends()),
                        row.words(),
                        wide(row.sequences())))
                .as(recorded.toString())
                .usingRecursiveComparison()
                .isEqualTo(List.of(
                        longs(expected.path("ids")),
                        longs(expected.path("typeIds")),
                        longs(expected.path("specialTokensMask")),
                        offsets(expected, 0),
                        offsets(expected, 1),
                        longs(expected.path("words")),
                        longs(expected.path("sequences"))));
    }

    /// One long text among many short ones asks for much more than they take.
    @Test
    void paddingIsPartOfWhatARequestTakes() throws Exception {
        try (var tokenizer = Tokenizer.load(BERT);
                var memory = new RequestMemory(ProcessMemory.ofThisProcess(), Long.MAX_VALUE, () -> {})) {
            var rows = new ArrayList<>(Collections.nCopies(1 << 20, tokenizer.encode("fox")));
            rows.add(tokenizer.encode("fox ".repeat(10_000), Truncation.NONE));
            assertThatThrownBy(() -> memory.call(() -> tokenizer.pad(rows)))
                    .hasMessageContaining("found data that need more memory than");
        }
    }

    private static long[] offsets(JsonNode expected, int side) {
        return expected.path("offsets")
                .valueStream()
                .mapToLong(offset -> offset.path(side).longValue())
                .toArray();
    }

    private static long[] wide(int[] numbers) {
        return Arrays.stream(numbers).asLongStream().toArray();
    }

    private static long[] longs(JsonNode list) {
        return list.valueStream().mapToLong(JsonNode::longValue).toArray();
    }

    private static Tensor tensor(JsonNode batch, String part) {
        return Tensor.stack(batch.path("expected")
                .valueStream()
                .map(row -> longs(row.path(part)))
                .map(row -> Tensor.of(row, row.length))
                .toList());
    }

    private long[] shorterRow() throws IOException {
        try (var tokenizer = Tokenizer.load(directory)) {
            var batch = batch(tokenizer, List.of("fox", "fox fox"));
            return batch.ids().unstack().getFirst().longs();
        }
    }

    private static EncodedBatch batch(Tokenizer tokenizer, List<String> texts) {
        return tokenizer.pad(texts.stream().map(tokenizer::encode).toList());
    }
}
