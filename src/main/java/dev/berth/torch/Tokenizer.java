package dev.berth.torch;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import java.io.IOException;
import java.nio.file.Path;

/// A Hugging Face `tokenizer.json`. Safe for use by many threads at once.
///
/// Text is only ever encoded whole: no truncation, no padding, no pairs, no batches. With any of those some texts make the
/// native library abort the process, which Java can't catch.
public final class Tokenizer implements AutoCloseable {

  private final HuggingFaceTokenizer tokenizer;

  private Tokenizer(HuggingFaceTokenizer tokenizer) {
    this.tokenizer = tokenizer;
  }

  /// @throws TorchException when the file is missing or no tokenizer
  public static Tokenizer load(Path file) {
    Torch.engine();
    try {
      return new Tokenizer(HuggingFaceTokenizer.builder()
          .optTokenizerPath(file)
          .optTruncation(false)
          .optPadding(false)
          .build());
    } catch (IOException | RuntimeException e) {
      throw new TorchException("%s can't be loaded as a tokenizer: %s".formatted(file, EngineMessage.of(e)), e);
    }
  }

  /// The tokens of `text` without special ones. `text` must have no unpaired surrogates.
  public Tokens encode(String text) {
    var encoding = tokenizer.encode(text, false, false);
    var spans = encoding.getCharTokenSpans();
    var starts = new int[spans.length];
    var ends = new int[spans.length];
    for (int i = 0; i < spans.length; i++) {
      starts[i] = spans[i].getStart();
      ends[i] = spans[i].getEnd();
    }
    return new Tokens(encoding.getIds(), starts, ends, encoding.getWordIds());
  }

  @Override
  public void close() {
    tokenizer.close();
  }
}
