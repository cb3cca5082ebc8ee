package dev.berth.tokenizer.mecab;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.tokenizer.WordCutter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
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
                place = cut(text.substring(from, matcher.start()), place, false, words);
                place = cut(matcher.group(), place, true, words);
                from = matcher.end();
            }
            cut(text.substring(from), place, false, words);
            return words;
        }

        /// @param place where the text begins, in code points
        /// @param isSpecial whether it is a special token, which stays as it is
        /// @return where it ends
        private int cut(String text, int place, boolean isSpecial, List<Word> words) {
            var normalised = NormalisedText.of(text, place, normalize && !isSpecial);
            int size = normalised.codePoints().length;
            var bounds = isSpecial ? new int[] {0, size} : mecab.cut(normalised.codePoints());
            for (int i = 0; i < bounds.length; i += 2) {
                words.add(normalised.word(bounds[i], bounds[i + 1], lowercase && !isSpecial));
            }
            return place + text.codePointCount(0, text.length());
        }

        @Override
        public void close() {
            dictionary.close();
        }
    }
}
