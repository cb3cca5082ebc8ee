package dev.berth.tokenizer;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Sha256;
import dev.berth.json.JsonText;
import dev.berth.memory.Footprint;
import dev.berth.memory.HeapRoom;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// A Hugging Face `tokenizer.json`: texts to the rows of a model, and back. Safe for use by many
/// threads at once.
///
/// 1. Load it in the handler's constructor: `Tokenizer.load(modelDirectory)`.
/// 2. Encode each record in `inputFn`: `tokenizer.encode(text)`, or `encode(text, pair)`. The row
///    has the special tokens that `tokenizer.json` asks for, and is cut to the longest one that the
///    model takes.
/// 3. Pad a batch in `predictFn`: `tokenizer.pad(records)` has the tensors for the model.
///
/// ```java
/// var batch = tokenizer.pad(records);
/// var logits = model.forward(List.of(batch.ids(), batch.attentionMask())).getFirst();
/// ```
///
/// Rows are those of Python's `tokenizers` 0.22 and of a fast tokenizer of `transformers` with
/// `truncation=True`. Version 0.23 may share an odd token out otherwise between two texts that are
/// both too long.
///
/// The native library gets each text by itself: truncation, padding and pairs are done here. With
/// any of those some texts make it abort the process, which Java can't catch. It also aborts when
/// the heap has no room for what it hands over, several objects a token; so a long text is encoded
/// in pieces, and the heap is asked before each. What the tokens take is counted for the request
/// that the thread works for.
///
/// Where the file says that MeCab cuts the words, as for Japanese BERTs, that is done here, and
/// each word is a word of the [Tokens].
///
/// Files of the same content share one native tokenizer, as the models of one family have them: the
/// sample's takes 6 MB.
public final class Tokenizer implements AutoCloseable {

    /// The most characters of a piece. Large enough for nearly every text to be one.
    private static final int PIECE = 1 << 16;

    /// The same where words are cut first: MeCab keeps all words that a piece may have until it has
    /// read the whole.
    private static final int PIECE_OF_WORDS = 1 << 12;

    /// What a character of a text may take while its words are handed over, in bytes: at most a word
    /// of its own.
    private static final int WORD = 150;

    /// A pair is one character to a pattern.
    private static final Pattern UNPAIRED = Pattern.compile("[\\ud800-\\udfff]");

    /// What a token may take while it becomes text, in bytes.
    private static final int DECODED = 64;

    /// What a token takes in [Tokens], in bytes.
    private static final int TOKEN = 24;

    /// What it takes besides while it is handed over.
    private static final int HANDED_OVER = 40;

    static {
        // The launcher sets these too. Here they hold for everyone who starts the JVM in another way:
        // DJL downloads nothing and reports nothing.
        System.setProperty("ai.djl.offline", "true");
        System.setProperty("OPT_OUT_TRACKING", "true");
    }

    /// A native tokenizer, how it lays out rows, and how many [Tokenizer]s use it.
    private record Shared(HuggingFaceTokenizer tokenizer, RowTemplate template, AtomicInteger users) {}

    /// Those that are in use, by the digest of their files.
    private static final Map<String, Shared> SHARED = new ConcurrentHashMap<>();

    /// What the native tables take for each byte of the file: 11.6 for a word piece vocabulary of
    /// 30,000.
    private static final int TABLES = 12;

    /// Of the heap, for a file.
    private static final int SHARE = 4;

    private final String digest;
    private final Shared shared;
    private final Optional<WordCutter.Opened> words;
    private final TokenizerFiles files;
    private final int piece;
    private final AtomicBoolean closed = new AtomicBoolean();

    private Tokenizer(String digest, Shared shared, Optional<WordCutter.Opened> words, TokenizerFiles files) {
        this.digest = digest;
        this.shared = shared;
        this.words = words;
        this.files = files;
        this.piece = words.isPresent() ? PIECE_OF_WORDS : PIECE;
    }

    /// @param path a model artifact, or its `tokenizer.json`
    /// @throws IOException when the file is missing or no tokenizer
    public static Tokenizer load(Path path) throws IOException {
        return load(path, false);
    }

    /// @param lowerCase whether texts are put in lower case before anything else, as
    ///   sentence-transformers does for models that ask for it
    /// @see #load(Path)
    public static Tokenizer load(Path path, boolean lowerCase) throws IOException {
        var file = Files.isDirectory(path) ? path.resolve("tokenizer.json") : path;
        try {
            var files = TokenizerFiles.read(file);
            return lowerCase || files.json().has(WordCutter.NAME)
                    ? changed(file, files, lowerCase)
                    : of(HeapRoom.read(file, SHARE), Optional.empty(), files);
        } catch (IOException | RuntimeException e) {
            throw new IOException("%s can't be loaded as a tokenizer: %s".formatted(file, e.getMessage()), e);
        }
    }

    private static Tokenizer of(byte[] content, Optional<WordCutter.Opened> words, TokenizerFiles files) {
        var digest = HexFormat.of().formatHex(Sha256.of(content));
        var shared = SHARED.compute(digest, (_, known) -> {
            var loaded = known == null ? load(content) : known;
            loaded.users.incrementAndGet();
            return loaded;
        });
        return new Tokenizer(digest, shared, words, files);
    }

    /// What the native library gets is not the file itself.
    private static Tokenizer changed(Path file, TokenizerFiles files, boolean lowerCase) throws IOException {
        ObjectNode json;
        try (var parser = JsonText.parser(file)) {
            json = parser.readValueAsTree();
        }
        if (lowerCase) {
            var normalizer = json.path("normalizer");
            var all = json.putObject("normalizer").put("type", "Sequence").putArray("normalizers");
            all.addObject().put("type", "Lowercase");
            if (normalizer.isObject()) {
                all.add(normalizer);
            }
        }
        if (!json.has(WordCutter.NAME)) {
            return of(JsonText.bytes(json), Optional.empty(), files);
        }
        var words = cutter(json).open(json, file.toAbsolutePath().getParent());
        try {
            json.remove(WordCutter.NAME);
            return of(JsonText.bytes(json), Optional.of(words), files);
        } catch (RuntimeException | Error e) {
            words.close();
            throw e;
        }
    }

    private static WordCutter cutter(JsonNode json) throws IOException {
        var name = json.path(WordCutter.NAME).path("cutter").asText();
        var known = ServiceLoader.load(WordCutter.class, WordCutter.class.getClassLoader()).stream()
                .map(ServiceLoader.Provider::get)
                .toList();
        return known.stream()
                .filter(cutter -> cutter.name().equals(name))
                .findFirst()
                .orElseThrow(() -> new IOException("words.cutter: found \"%s\", expected %s; trace the model again"
                        .formatted(
                                name,
                                known.stream()
                                        .map(each -> '"' + each.name() + '"')
                                        .collect(Collectors.joining(" or ")))));
    }

    private static Shared load(byte[] content) {
        try {
            var tokenizer = HuggingFaceTokenizer.newInstance(
                    new ByteArrayInputStream(content), Map.of("truncation", "false", "padding", "false"));
            try {
                return new Shared(tokenizer, RowTemplate.of(tokenizer), new AtomicInteger());
            } catch (IOException | RuntimeException e) {
                tokenizer.close();
                throw e;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// What loading a file takes, unless one of the same content is loaded. It is an estimate.
    public static Footprint footprint(Path file) {
        return new Footprint(TABLES * file.toFile().length(), file.toFile().length());
    }

    /// How rows are cut where nothing else is asked for: to the `maxSequenceLength` of `model.json`
    /// or the `model_max_length` of `tokenizer_config.json`, the smaller one; else to the length in
    /// `tokenizer.json`; else not at all.
    public Truncation truncation() {
        return files.truncation();
    }

    /// How rows are cut for a model that takes at most `longest` tokens: to that, or to the
    /// `model_max_length` of `tokenizer_config.json` where that is less. As in Python, the length in
    /// `tokenizer.json` does not count.
    public Truncation truncation(int longest) {
        return files.truncation(Math.min(longest, files.longest()));
    }

    /// Where the special tokens of rows stand.
    public RowTemplate template() {
        return shared.template;
    }

    /// The row of a text.
    ///
    /// @throws CancellationException when the thread is interrupted while a long text is encoded
    /// @throws dev.berth.error.ServingException when there is no memory for the tokens
    public Encoding encode(String text) {
        return encode(text, truncation());
    }

    /// @see #encode(String)
    public Encoding encode(String text, Truncation truncation) {
        return row(List.of(tokens(text)), truncation);
    }

    /// The row of two texts, such as a question and its context.
    ///
    /// @see #encode(String)
    public Encoding encode(String text, String pair) {
        return encode(text, pair, truncation());
    }

    /// @throws dev.berth.hooks.BadInputException also when the text that alone may be cut is too
    ///   short for it
    /// @see #encode(String, String)
    public Encoding encode(String text, String pair, Truncation truncation) {
        return row(List.of(tokens(text), tokens(pair)), truncation);
    }

    /// Pads rows to the longest of them, on the side and with the token that the files of the
    /// tokenizer name.
    ///
    /// @param rows at least one
    /// @throws IllegalStateException when rows have different lengths and the tokenizer has no token
    ///   for padding
    public EncodedBatch pad(List<Encoding> rows) {
        int longest =
                rows.stream().mapToInt(Encoding::size).max().orElseThrow(() -> new IllegalArgumentException("no rows"));
        if (rows.stream().allMatch(row -> row.size() == longest)) {
            return new EncodedBatch(rows, files.padding(0));
        }
        // In each of the three tensors.
        RequestMemory.charge(3L * Long.BYTES * longest * rows.size());
        return new EncodedBatch(rows, files.padding(paddingId()));
    }

    /// The text of the token that stands for a word to be filled in; empty where the files name none.
    public Optional<String> maskToken() {
        return files.maskToken();
    }

    private long paddingId() {
        var token = files.paddingToken();
        if (token.isEmpty()) {
            throw new IllegalStateException(
                    "tokenizer_config.json: pad_token: found nothing, expected a token to pad rows of different lengths");
        }
        return files.addedToken(token).orElseGet(() -> tokens(token).ids()[0]);
    }

    /// The text of tokens.
    ///
    /// @param skipSpecial whether special tokens and padding are left out
    public String decode(long[] ids, boolean skipSpecial) {
        HeapRoom.require((long) DECODED * ids.length);
        var text = TokenizersLibrary.LIB.decode(shared.tokenizer.getHandle(), ids, skipSpecial);
        return files.cleansUp() ? cleanedUp(text) : text;
    }

    /// Moves marks to the words before them, as `clean_up_tokenization` of `transformers`.
    public static String cleanedUp(String text) {
        var cleaned = text;
        for (var mark : List.of(" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're")) {
            cleaned = cleaned.replace(mark, mark.strip());
        }
        return cleaned;
    }

    private Encoding row(List<Tokens> texts, Truncation truncation) {
        long tokens = texts.stream().mapToLong(Tokens::size).sum();
        RequestMemory.charge(Encoding.TOKEN * Math.min(truncation.maxLength(), tokens));
        return shared.template.row(texts, truncation);
    }

    /// The tokens of a text alone, without special ones and whole. JSON may hold half of a surrogate
    /// pair, which the native library does not take: it is U+FFFD here.
    ///
    /// @throws CancellationException when the thread is interrupted while a long text is encoded
    /// @throws dev.berth.error.ServingException when there is no memory for the tokens
    public Tokens tokens(String asked) {
        var text = UNPAIRED.matcher(asked).replaceAll("\uFFFD");
        // A third of a token for each character is much. Of those that make more, a character may make
        // many.
        RequestMemory.charge((long) TOKEN / 3 * text.length());
        if (text.length() <= piece) {
            return encodePiece(text);
        }
        var pieces = new ArrayList<Tokens>();
        var lengths = new ArrayList<Integer>();
        for (int from = 0; from < text.length(); ) {
            if (Thread.currentThread().isInterrupted()) {
                throw new CancellationException("interrupted after %d characters".formatted(from));
            }
            int to = endOfPiece(text, from);
            pieces.add(encodePiece(text.substring(from, to)));
            lengths.add(to - from);
            from = to;
        }
        RequestMemory.charge(TOKEN * pieces.stream().mapToLong(Tokens::size).sum());
        return Tokens.join(pieces, lengths);
    }

    /// Before the last white space, where every pre-tokenizer cuts, or after the last sentence where
    /// words are cut first; where a text has none, as Japanese may, between characters.
    private int endOfPiece(String text, int from) {
        if (text.length() - from <= piece) {
            return text.length();
        }
        int limit = from + piece;
        for (int i = limit; i > from + piece / 2; i--) {
            if (words.isPresent() && text.charAt(i - 1) == '。') {
                return i;
            }
            if (Character.isWhitespace(text.charAt(i)) && !Character.isWhitespace(text.charAt(i - 1))) {
                return i;
            }
        }
        return Character.isLowSurrogate(text.charAt(limit)) ? limit - 1 : limit;
    }

    /// As the tokenizer's own `encode`, which asks for nine things of which three are needed: it
    /// takes half as long again.
    private Tokens encodePiece(String text) {
        if (words.isPresent()) {
            return encodeWords(words.get(), text).byIndexesOf(text);
        }
        long encoding = TokenizersLibrary.LIB.encode(shared.tokenizer.getHandle(), text, false);
        try {
            return tokens(encoding, text.length()).byIndexesOf(text);
        } finally {
            TokenizersLibrary.LIB.deleteEncoding(encoding);
        }
    }

    /// The tokenizer is given the words one by one, and says of each token in which word it stands,
    /// and where.
    private Tokens encodeWords(WordCutter.Opened cutter, String text) {
        try (var _ = RequestMemory.hold((long) WORD * text.length())) {
            var cut = cutter.cut(text);
            var texts = cut.stream().map(WordCutter.Word::text).toArray(String[]::new);
            long encoding = TokenizersLibrary.LIB.encodeList(shared.tokenizer.getHandle(), texts, false);
            try {
                var tokens = tokens(encoding, text.length());
                for (int i = 0; i < tokens.size(); i++) {
                    var word = cut.get((int) tokens.words()[i]);
                    tokens.starts()[i] = word.start(tokens.starts()[i]);
                    tokens.ends()[i] = word.end(tokens.ends()[i] - 1);
                }
                return tokens;
            } finally {
                TokenizersLibrary.LIB.deleteEncoding(encoding);
            }
        }
    }

    private static Tokens tokens(long encoding, int characters) {
        HeapRoom.require((long) Long.BYTES * characters);
        var ids = TokenizersLibrary.LIB.getTokenIds(encoding);
        RequestMemory.charge(Math.max(0, (long) TOKEN * ids.length - TOKEN / 3 * (long) characters));
        HeapRoom.require((long) HANDED_OVER * ids.length);
        var spans = TokenizersLibrary.LIB.getTokenCharSpans(encoding);
        var starts = new int[spans.length];
        var ends = new int[spans.length];
        for (int i = 0; i < spans.length; i++) {
            starts[i] = spans[i].getStart();
            ends[i] = spans[i].getEnd();
        }
        return new Tokens(ids, starts, ends, TokenizersLibrary.LIB.getWordIds(encoding));
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            words.ifPresent(WordCutter.Opened::close);
            SHARED.compute(digest, (_, known) -> {
                if (known.users.decrementAndGet() > 0) {
                    return known;
                }
                known.tokenizer.close();
                return null;
            });
        }
    }
}
