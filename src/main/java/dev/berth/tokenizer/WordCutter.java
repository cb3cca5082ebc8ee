package dev.berth.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;

/// Cuts a text into words before the tokenizer sees it, as transformers' BertJapaneseTokenizer
/// does: special tokens apart, then NFKC, MeCab, and lower case. Safe for use by many threads.
///
/// `tokenizer.json` has it as `words`, before all else:
///
/// ```json
/// {"words": {"cutter": "mecab", "dictionary": "ipadic", "directory": "mecab", "normalize": true, "lowercase": false}, …}
/// ```
///
/// The directory of the dictionary stands beside the file. Hugging Face's tokenizers do not know
/// `words` and refuse the file, so that none cuts the words in another way.
final class WordCutter implements AutoCloseable {

  /// A word, and where the original of each of its characters stands in the text, in code points.
  ///
  /// @param starts where each begins
  /// @param ends where each ends, exclusive
  record Word(String text, int[] starts, int[] ends) {

    static Word of(NormalisedText text, int from, int to) {
      return new Word(
          new String(text.codePoints(), from, to - from),
          Arrays.copyOfRange(text.starts(), from, to),
          Arrays.copyOfRange(text.ends(), from, to));
    }

    Word inLowerCase() {
      return new Word(text.toLowerCase(Locale.ROOT), starts, ends);
    }

    int start(int character) {
      return starts[Math.min(character, starts.length - 1)];
    }

    /// Lower case makes two characters of `İ`, and of no other: what follows in its word is then
    /// one place off.
    int end(int character) {
      return ends[Math.min(character, ends.length - 1)];
    }
  }

  /// The name in tokenizer.json.
  static final String NAME = "words";

  private static final String MECAB = "mecab";

  private final MecabDictionary dictionary;
  private final MecabWords mecab;
  private final boolean lowercase;
  private final boolean normalize;
  private final Pattern specialTokens;

  private WordCutter(
      MecabDictionary dictionary, boolean lowercase, boolean normalize, Pattern specialTokens) {
    this.dictionary = dictionary;
    this.mecab = new MecabWords(dictionary);
    this.lowercase = lowercase;
    this.normalize = normalize;
    this.specialTokens = specialTokens;
  }

  /// @param tokenizer the whole of tokenizer.json
  /// @param directory where it stands
  /// @throws IOException when `words` is not as it must be, or the dictionary can't be read
  static WordCutter of(JsonNode tokenizer, Path directory) throws IOException {
    var settings = tokenizer.path(NAME);
    var cutter = settings.path("cutter").asText();
    if (!cutter.equals(MECAB)) {
      throw new IOException(
          "words.cutter: found \"%s\", expected \"%s\"; trace the model again"
              .formatted(cutter, MECAB));
    }
    var name = settings.path("directory").asText();
    var path = directory.resolve(name).normalize();
    if (name.isEmpty() || !path.startsWith(directory.normalize())) {
      throw new IOException(
          "words.directory: found \"%s\", expected a directory beside tokenizer.json"
              .formatted(name));
    }
    boolean lowercase = flag(settings, "lowercase");
    boolean normalize = flag(settings, "normalize");
    return new WordCutter(MecabDictionary.open(path), lowercase, normalize, special(tokenizer));
  }

  private static boolean flag(JsonNode settings, String name) throws IOException {
    if (!settings.path(name).isBoolean()) {
      throw new IOException(
          "words.%s: found %s, expected true or false".formatted(name, settings.get(name)));
    }
    return settings.path(name).booleanValue();
  }

  /// The longest first, because of two that begin alike the longer one counts.
  private static Pattern special(JsonNode tokenizer) {
    var tokens =
        tokenizer
            .path("added_tokens")
            .valueStream()
            .map(token -> token.path("content").asText())
            .sorted(Comparator.comparingInt(String::length).reversed())
            .map(Pattern::quote)
            .toList();
    return Pattern.compile(tokens.isEmpty() ? "(?!)" : String.join("|", tokens));
  }

  List<Word> cut(String text) {
    var words = new ArrayList<Word>();
    var matcher = specialTokens.matcher(text);
    int from = 0;
    int place = 0;
    while (matcher.find()) {
      place = cut(text.substring(from, matcher.start()), place, words);
      var token = NormalisedText.of(matcher.group(), place, false);
      words.add(Word.of(token, 0, token.codePoints().length));
      place += token.codePoints().length;
      from = matcher.end();
    }
    cut(text.substring(from), place, words);
    return words;
  }

  /// @param place where the text begins, in code points
  /// @return where it ends
  private int cut(String text, int place, List<Word> words) {
    var normalised = NormalisedText.of(text, place, normalize);
    var bounds = mecab.cut(normalised.codePoints());
    for (int i = 0; i < bounds.length; i += 2) {
      var word = Word.of(normalised, bounds[i], bounds[i + 1]);
      words.add(lowercase ? word.inLowerCase() : word);
    }
    return place + text.codePointCount(0, text.length());
  }

  @Override
  public void close() {
    dictionary.close();
  }
}
