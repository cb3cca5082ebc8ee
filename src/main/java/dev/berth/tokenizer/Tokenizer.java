package dev.berth.tokenizer;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.memory.HeapRoom;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;

/// A Hugging Face `tokenizer.json`. Safe for use by many threads at once.
///
/// Text is only ever encoded by itself: no truncation, no padding, no pairs, no batches. With any of those some texts
/// make the native library abort the process, which Java can't catch. It also aborts when the heap has no room for
/// what it hands over, several objects a token; so a long text is encoded in pieces, and the heap is asked before each.
/// What the tokens take is counted for the request that the thread works for.
///
/// Where the file says that MeCab cuts the words, as for Japanese BERTs, that is done here, and each word is a word of the
/// [Tokens].
public final class Tokenizer implements AutoCloseable {

  /// The most characters of a piece. Large enough for nearly every text to be one.
  private static final int PIECE = 1 << 16;

  /// The same where MeCab cuts, which keeps all words that a piece may have until it has read the whole.
  private static final int PIECE_OF_WORDS = 1 << 12;

  /// What a character of a text may take while its words are handed over, in bytes: at most a word of its own.
  private static final int WORD = 150;

  private static final ObjectMapper JSON = new ObjectMapper();

  /// What a token takes in [Tokens], in bytes.
  private static final int TOKEN = 24;
  /// What it takes besides while it is handed over.
  private static final int HANDED_OVER = 40;

  static {
    // The launcher sets these too. Here they hold for everyone who starts the JVM in another way: DJL downloads nothing and
    // reports nothing.
    System.setProperty("ai.djl.offline", "true");
    System.setProperty("OPT_OUT_TRACKING", "true");
  }

  private final HuggingFaceTokenizer tokenizer;
  private final Optional<WordCutter> words;
  private final int piece;

  private Tokenizer(HuggingFaceTokenizer tokenizer, Optional<WordCutter> words) {
    this.tokenizer = tokenizer;
    this.words = words;
    this.piece = words.isPresent() ? PIECE_OF_WORDS : PIECE;
  }

  /// @throws IOException when the file is missing or no tokenizer
  public static Tokenizer load(Path file) throws IOException {
    try {
      if (hasWords(file)) {
        return withWords(file);
      }
      var builder = HuggingFaceTokenizer.builder().optTokenizerPath(file).optTruncation(false).optPadding(false);
      return new Tokenizer(builder.build(), Optional.empty());
    } catch (IOException | RuntimeException e) {
      throw new IOException("%s can't be loaded as a tokenizer: %s".formatted(file, e.getMessage()), e);
    }
  }

  /// Whether `words` comes first. Only there it is looked for, so that no large file is read twice.
  private static boolean hasWords(Path file) throws IOException {
    try (var parser = JSON.createParser(file.toFile())) {
      return parser.nextToken() == JsonToken.START_OBJECT && WordCutter.NAME.equals(parser.nextFieldName());
    }
  }

  private static Tokenizer withWords(Path file) throws IOException {
    var json = (ObjectNode) JSON.readTree(file.toFile());
    var words = WordCutter.of(json, file.toAbsolutePath().getParent());
    try {
      json.remove(WordCutter.NAME);
      var rest = new ByteArrayInputStream(JSON.writeValueAsBytes(json));
      var options = Map.of("truncation", "false", "padding", "false");
      return new Tokenizer(HuggingFaceTokenizer.newInstance(rest, options), Optional.of(words));
    } catch (IOException | RuntimeException e) {
      words.close();
      throw e;
    }
  }

  /// The tokens of `text` without special ones. `text` must have no unpaired surrogates.
  ///
  /// @throws CancellationException when the thread is interrupted while a long text is encoded
  /// @throws dev.berth.memory.MemoryShortException when there is no memory for the tokens
  public Tokens encode(String text) {
    // A third of a token for each character is much. Of those that make more, a character may make many.
    RequestMemory.charge((long) TOKEN / 3 * text.length());
    if (text.length() <= piece) {
      return encodePiece(text);
    }
    var pieces = new ArrayList<Tokens>();
    int codePoints = 0;
    long words = 0;
    for (int from = 0; from < text.length(); ) {
      if (Thread.currentThread().isInterrupted()) {
        throw new CancellationException("interrupted after %d characters".formatted(from));
      }
      int to = endOfPiece(text, from);
      var piece = encodePiece(text.substring(from, to)).shifted(codePoints, words);
      pieces.add(piece);
      codePoints += text.codePointCount(from, to);
      words = Math.max(words, piece.nextWord());
      from = to;
    }
    RequestMemory.charge(TOKEN * pieces.stream().mapToLong(Tokens::size).sum());
    return Tokens.join(pieces);
  }

  /// Before the last white space, where every pre-tokenizer cuts, or after the last sentence where MeCab cuts; where a text
  /// has none, as Japanese may, between characters.
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

  /// As the tokenizer's own `encode`, which asks for nine things of which three are needed: it takes half as long again.
  private Tokens encodePiece(String text) {
    if (words.isPresent()) {
      return encodeWords(words.get(), text);
    }
    long encoding = TokenizersLibrary.LIB.encode(tokenizer.getHandle(), text, false);
    try {
      return tokens(encoding, text.length());
    } finally {
      TokenizersLibrary.LIB.deleteEncoding(encoding);
    }
  }

  /// The tokenizer is given the words one by one, and says of each token in which word it stands, and where.
  private Tokens encodeWords(WordCutter cutter, String text) {
    try (var _ = RequestMemory.hold((long) WORD * text.length())) {
      var cut = cutter.cut(text);
      var texts = cut.stream().map(WordCutter.Word::text).toArray(String[]::new);
      long encoding = TokenizersLibrary.LIB.encodeList(tokenizer.getHandle(), texts, false);
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
    RequestMemory.charge(Math.max(0, (long) TOKEN * ids.length - TOKEN / 3 * characters));
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
    tokenizer.close();
    words.ifPresent(WordCutter::close);
  }
}
