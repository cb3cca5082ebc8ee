package dev.berth.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.StreamWriteConstraints;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.ser.DefaultSerializerProvider;
import com.fasterxml.jackson.databind.type.TypeFactory;
import dev.berth.error.ServingException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapRoom;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// Reads the one value that a text holds, and writes values.
public final class JsonText {

    /// Whoever hands over a text limits its size; a string in it may be as long as that.
    private static final StreamReadConstraints ANY_LENGTH =
            StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build();

    /// Numbers are not read here, and a join makes a value one level deeper.
    private static final StreamReadConstraints AS_THEY_STAND = ANY_LENGTH
            .rebuild()
            .maxNameLength(Integer.MAX_VALUE)
            .maxNumberLength(Integer.MAX_VALUE)
            .maxNestingDepth(StreamWriteConstraints.DEFAULT_MAX_DEPTH - 1)
            .build();

    private static final JsonMapper JSON = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(ANY_LENGTH)
                    .enable(StreamReadFeature.USE_FAST_DOUBLE_PARSER)
                    .build())
            .addModule(new SimpleModule().addSerializer(Tensor.class, new TensorSerializer()))
            .build();
    private static final ObjectReader TREES = JSON.readerFor(JsonNode.class);
    private static final ObjectReader UNIQUE = TREES.with(DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY);
    private static final JsonFactory EXACT =
            JsonFactory.builder().streamReadConstraints(AS_THEY_STAND).build();

    private static final JsonParser.Feature NAN = JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS.mappedFeature();

    /// Half of a character: JSON may hold one as `\ud800`, UTF-8 may not.
    private static final Pattern LONE_SURROGATE = Pattern.compile("\\p{Cs}");

    /// What a tree takes of memory for each byte of its text, about.
    private static final int TREE = 16;

    private JsonText() {}

    private interface Opening {
        JsonParser open() throws IOException;
    }

    /// Reads the value that begins at the parser's token.
    public interface Reading<T> {
        T read(JsonParser parser) throws IOException;
    }

    /// The value of a file, or of what is as short. No object in it has a name twice.
    public static JsonNode read(byte[] text) throws NotJsonException {
        return only(() -> JSON.createParser(text), UNIQUE::readTree);
    }

    /// @see #read(byte[])
    /// @throws NotJsonException when it is there, and is not one value
    public static JsonNode read(Path file) throws IOException {
        return read(HeapRoom.read(file, TREE));
    }

    /// The values of a file one behind the other, such as those of its lines.
    public static List<JsonNode> readAll(byte[] text) throws NotJsonException {
        return parsed(() -> JSON.createParser(text), parser -> {
            var values = new ArrayList<JsonNode>();
            while (parser.nextToken() != null) {
                values.add(UNIQUE.readTree(parser));
            }
            return values;
        });
    }

    /// The value of a payload, whose memory is counted. As in Python, the last one of several members
    /// of one name counts, and NaN, Infinity and -Infinity are numbers.
    public static JsonNode payload(String text) throws NotJsonException {
        return only(() -> new CountedParser(JSON.createParser(text).enable(NAN)), TREES::readTree);
    }

    /// What is read of the one value of a text, whose numbers are not looked at.
    public static <T> T exactly(String text, Reading<T> reading) throws NotJsonException {
        return only(() -> EXACT.createParser(text), reading);
    }

    /// For those who need a part of a file. Errors are the parser's own.
    public static JsonParser parser(Path file) throws IOException {
        return JSON.createParser(file.toFile());
    }

    /// For those who need no tree. Errors are the parser's own.
    public static JsonParser parser(byte[] text) throws IOException {
        return JSON.createParser(text);
    }

    private static <T> T only(Opening opening, Reading<T> reading) throws NotJsonException {
        return parsed(opening, parser -> {
            if (parser.nextToken() == null) {
                throw new NotJsonException("found nothing, expected a JSON value");
            }
            var value = reading.read(parser);
            if (parser.nextToken() != null) {
                throw NotJsonException.second(parser.currentTokenLocation());
            }
            return value;
        });
    }

    private static <T> T parsed(Opening opening, Reading<T> reading) throws NotJsonException {
        try (var parser = opening.open()) {
            return reading.read(parser);
        } catch (JsonProcessingException e) {
            throw NotJsonException.of(e);
        } catch (NotJsonException e) {
            throw e;
        } catch (IOException e) {
            // The text is in memory already.
            throw new NotJsonException("found bytes that are not UTF-8, expected JSON");
        }
    }

    /// A value as plain Java.
    ///
    /// @throws IllegalArgumentException when it is none of that type
    public static <T> T as(JsonNode value, TypeReference<T> type) {
        return JSON.convertValue(value, type);
    }

    /// A value of plain Java as [#write] writes it.
    public static JsonNode tree(Object value) {
        return JSON.valueToTree(value);
    }

    /// Writes a value of plain Java: records, maps, lists, texts, numbers, [JsonNode], [Tensor]. Without line
    /// breaks, so that it may be a line of JSON Lines.
    public static String write(Object value) {
        try {
            var written = new CountedText();
            JSON.writeValue(written, value);
            var text = written.toString();
            // Hardly any text has one, which is faster to see than to match.
            return text.chars().noneMatch(c -> Character.isSurrogate((char) c))
                    ? text
                    : LONE_SURROGATE
                            .matcher(text)
                            .replaceAll(half ->
                                    "\\\\u%04x".formatted((int) half.group().charAt(0)));
        } catch (JsonProcessingException e) {
            if (e.getCause() instanceof ServingException thrown) {
                throw thrown;
            }
            throw new IllegalArgumentException("found a value that has no JSON: " + e.getOriginalMessage(), e);
        } catch (IOException e) {
            throw new IllegalStateException("it is written to memory", e);
        }
    }

    /// The same in UTF-8.
    public static byte[] bytes(Object value) {
        return write(value).getBytes(StandardCharsets.UTF_8);
    }

    /// Lets the classes go that values had, so that those of a model can be unloaded with it.
    public static void forgetClasses() {
        // Of all mappers: they share this one.
        TypeFactory.defaultInstance().clearCache();
        ((DefaultSerializerProvider) JSON.getSerializerProvider()).flushCachedSerializers();
    }
}
