import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Json;
import dev.berth.hooks.Tensor;
import dev.berth.tokenizer.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.LongStream;

/// What must be known of the model: its tokens, their bytes, and its shape. Safe for use by many
/// threads.
///
/// The marks that stand around a message are no tokens of `tokenizer.json`. So no text that a
/// caller sends can hold one.
final class Language implements AutoCloseable {

    private final Tokenizer tokenizer;
    private final Map<Long, byte[]> bytes = new HashMap<>();
    private final JsonNode shape;

    Language(Path modelDirectory) throws IOException {
        var file = modelDirectory.resolve("tokenizer.json");
        this.shape = Json.parse(Files.readString(modelDirectory.resolve("text.json")), "text.json");
        var characters = bytesOfCharacters();
        Json.parse(Files.readString(file), "tokenizer.json")
                .at("/model/vocab")
                .properties()
                .forEach(token -> {
                    var text = token.getKey();
                    var own = new byte[text.length()];
                    for (int i = 0; i < own.length; i++) {
                        own[i] = characters.get(text.charAt(i));
                    }
                    bytes.put(token.getValue().longValue(), own);
                });
        this.tokenizer = Tokenizer.load(file);
    }

    long[] ids(String text) {
        return tokenizer.tokens(text).ids();
    }

    /// The bytes of a token, which may be a part of a character; none of a mark.
    byte[] bytes(long id) {
        return bytes.getOrDefault(id, new byte[0]);
    }

    /// Whether it is a token of texts, and no mark.
    boolean has(long id) {
        return bytes.containsKey(id);
    }

    String text(long[] ids) {
        var all = new ByteArrayOutputStream();
        LongStream.of(ids).forEach(id -> all.writeBytes(bytes(id)));
        return all.toString(StandardCharsets.UTF_8);
    }

    /// The token that opens a message of this role, or `end`.
    long mark(String name) {
        return shape.at("/marks/" + name).longValue();
    }

    /// How many tokens the model can look back on, its own included.
    int context() {
        return shape.path("context").intValue();
    }

    Tensor emptyCache() {
        int heads = shape.path("heads").intValue();
        int size = shape.path("width").intValue() / heads;
        return Tensor.of(new float[0], shape.path("layers").intValue(), 2, heads, 0, size);
    }

    @Override
    public void close() {
        tokenizer.close();
    }

    /// A byte-level vocabulary writes each byte as one printable character: itself where it is one in
    /// Latin-1, else one from U+0100 on, in their order.
    private static Map<Character, Byte> bytesOfCharacters() {
        var characters = new HashMap<Character, Byte>();
        int others = 0;
        for (int value = 0; value < 256; value++) {
            boolean printable = value > 0x20 && value < 0x7f || value > 0xa0 && value != 0xad;
            characters.put((char) (printable ? value : 0x100 + others++), (byte) value);
        }
        return characters;
    }
}
