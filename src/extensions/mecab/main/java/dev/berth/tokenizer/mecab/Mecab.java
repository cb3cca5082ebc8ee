package dev.berth.tokenizer.mecab;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.tokenizer.WordCutter;
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
/// In `tokenizer.json` it is this, and the directory of the dictionary stands beside the file:
///
/// ```json
/// {"words": {"cutter": "mecab", "dictionary": "ipadic", "directory": "mecab", "normalize": true, …}, …}
/// ```
public final class Mecab implements WordCutter {

    @Override
    public String name() {
        return "mecab";
    }

    @Override
    public Opened open(JsonNode tokenizer, Path directory) throws IOException {
        var settings = tokenizer.path(NAME);
        var name = settings.path("directory").asText();
        var path = directory.resolve(name).normalize();
        if (name.isEmpty() || !path.startsWith(directory.normalize())) {
            throw new IOException(
                    "words.directory: found \"%s\", expected a directory beside tokenizer.json".formatted(name));
        }
        boolean lowercase = flag(settings, "lowercase");
        boolean normalize = flag(settings, "normalize");
        var dictionary = new MecabDictionary(path);
        return new Cut(dictionary, new MecabWords(dictionary), lowercase, normalize, special(tokenizer));
    }

    private static boolean flag(JsonNode settings, String name) throws IOException {
        if (!settings.path(name).isBoolean()) {
            throw new IOException("words.%s: found %s, expected true or false".formatted(name, settings.get(name)));
        }
        return settings.path(name).booleanValue();
    }

    /// The longest first, because of two that begin alike the longer one counts.
    private static Pattern special(JsonNode tokenizer) {
        var tokens = tokenizer
                .path("added_tokens")
                .valueStream()
                .map(token -> token.path("content").asText())
                .sorted(Comparator.comparingInt(String::length).reversed())
                .map(Pattern::quote)
                .toList();
        return Pattern.compile(tokens.isEmpty() ? "(?!)" : String.join("|", tokens));
    }

    private static Word word(NormalisedText text, int from, int to, boolean inLowerCase) {
        var word = new String(text.codePoints(), from, to - from);
        return new Word(
                inLowerCase ? word.toLowerCase(Locale.ROOT) : word,
                Arrays.copyOfRange(text.starts(), from, to),
                Arrays.copyOfRange(text.ends(), from, to));
    }

    private record Cut(
            MecabDictionary dictionary, MecabWords mecab, boolean lowercase, boolean normalize, Pattern specialTokens)
            implements Opened {

        @Override
        public List<Word> cut(String text) {
            var words = new ArrayList<Word>();
            var matcher = specialTokens.matcher(text);
            int from = 0;
            int place = 0;
            while (matcher.find()) {
                place = cut(text.substring(from, matcher.start()), place, words);
                var token = NormalisedText.of(matcher.group(), place, false);
                words.add(word(token, 0, token.codePoints().length, false));
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
                words.add(word(normalised, bounds[i], bounds[i + 1], lowercase));
            }
            return place + text.codePointCount(0, text.length());
        }

        @Override
        public void close() {
            dictionary.close();
        }
    }
}
