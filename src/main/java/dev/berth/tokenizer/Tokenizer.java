package dev.berth.tokenizer;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import dev.berth.memory.HeapRoom;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.concurrent.CancellationException;

/// A Hugging Face `tokenizer.json`. Safe for use by many threads at once.
///
/// Text is only ever encoded by itself: no truncation, no padding, no pairs, no batches. With any of those some texts
/// make the native library abort the process, which Java can't catch. It also aborts when the heap has no room for
/// what it hands over, several objects a token; so a long text is encoded in pieces, and the heap is asked before each.
/// What the tokens take is counted for the request that the thread works for.
public final class Tokenizer implements AutoCloseable {

  /// The most characters of a piece. Large enough for nearly every text to be one.
  private static final int PIECE = 1 << 16;

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

  private Tokenizer(HuggingFaceTokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /// @throws IOException when the file is missing or no tokenizer
  public static Tokenizer load(Path file) throws IOException {
    try {
      return new Tokenizer(HuggingFaceTokenizer.builder()
          .optTokenizerPath(file)
          .optTruncation(false)
          .optPadding(false)
          .build());
    } catch (IOException | RuntimeException e) {
      throw new IOException("%s can't be loaded as a tokenizer: %s".formatted(file, e.getMessage()), e);
    }
  }

  /// The tokens of `text` without special ones. `text` must have no unpaired surrogates.
  ///
  /// @throws CancellationException when the thread is interrupted while a long text is encoded
  /// @throws dev.berth.memory.MemoryShortException when there is no memory for the tokens
  public Tokens encode(String text) {
    // A third of a token for each character is much. Of those that make more, a character may make many.
    RequestMemory.charge((long) TOKEN / 3 * text.length());
    if (text.length() <= PIECE) {
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

  /// Before the last white space, where every pre-tokenizer cuts; where a text has none, as Japanese may, between
  /// characters.
  private static int endOfPiece(String text, int from) {
    if (text.length() - from <= PIECE) {
      return text.length();
    }
    int limit = from + PIECE;
    for (int i = limit; i > from + PIECE / 2; i--) {
      if (Character.isWhitespace(text.charAt(i)) && !Character.isWhitespace(text.charAt(i - 1))) {
        return i;
      }
    }
    return Character.isLowSurrogate(text.charAt(limit)) ? limit - 1 : limit;
  }

  /// As the tokenizer's own `encode`, which asks for nine things of which three are needed: it takes half as long again.
  private Tokens encodePiece(String text) {
    long encoding = TokenizersLibrary.LIB.encode(tokenizer.getHandle(), text, false);
    try {
      return tokens(encoding, text.length());
    } finally {
      TokenizersLibrary.LIB.deleteEncoding(encoding);
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
  }
}
