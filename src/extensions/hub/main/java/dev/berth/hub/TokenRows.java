package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Vocabulary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;

/// How texts become rows of tokens for a model of the hub, as its tokenizer and `config.json` say.
final class TokenRows {

    static final String TOKENIZER = "tokenizer.json";

    /// Types of models whose first positions, up to the padding id, belong to the padding.
    private static final Set<String> POSITIONS_BEHIND_PADDING = Set.of(
            "roberta",
            "xlm-roberta",
            "xlm-roberta-xl",
            "roberta-prelayernorm",
            "camembert",
            "mpnet",
            "longformer",
            "data2vec-text",
            "xmod",
            "luke",
            "esm",
            "ibert");

    private static final String POSITIONS = "max_position_embeddings";

    /// What families call the most tokens of a row.
    private static final List<String> LIMITS = List.of(
            POSITIONS, "n_positions", "n_ctx", "max_sequence_length", "max_seq_length", "max_seq_len", "seq_length");

    /// Of a model that says nothing of it.
    private static final int USUAL_LONGEST = 512;

    /// No spaces and no punctuation: Japanese, Chinese.
    private static final List<String> UNSPACED_SENTENCES = List.of("東京は日本の首都です", "北京是中国的首都");

    private static final Set<Character.UnicodeScript> WRITTEN_WITHOUT_SPACES = Set.of(
            Character.UnicodeScript.HAN,
            Character.UnicodeScript.HIRAGANA,
            Character.UnicodeScript.KATAKANA,
            Character.UnicodeScript.THAI,
            Character.UnicodeScript.LAO,
            Character.UnicodeScript.KHMER,
            Character.UnicodeScript.MYANMAR,
            Character.UnicodeScript.TIBETAN);

    private final HubModel model;
    private final JsonNode config;

    TokenRows(HubModel model, JsonNode config) {
        this.model = model;
        this.config = config;
        if (!model.has(TOKENIZER)) {
            throw model.refused(
                    "tokenizer.json: not found; save it beside the model with AutoTokenizer.from_pretrained(…).save_pretrained(…), or use trace.py, which makes one");
        }
    }

    /// The id of the token that fills a row up.
    long padding() {
        return Math.max(0, config.path("pad_token_id").asLong());
    }

    /// Whether most letters of the vocabulary are of scripts without spaces, and a sentence of them
    /// is one word. Answers are widened to whole words.
    boolean isUnspaced() {
        try {
            if (!isOfUnspacedScripts(Vocabulary.read(model.directory.resolve(TOKENIZER)))) {
                return false;
            }
            try (var tokenizer = Tokenizer.load(model.directory)) {
                return UNSPACED_SENTENCES.stream()
                        .anyMatch(text -> Arrays.stream(tokenizer.tokens(text).words())
                                        .distinct()
                                        .count()
                                == 1);
            }
        } catch (IOException e) {
            throw model.refused(e.getMessage());
        }
    }

    /// The most tokens of a row: the least that a file says. Python passes over the truncation in
    /// `tokenizer.json`, so that counts where no other file says anything.
    ///
    /// @param warnings gets a line where none does
    int longest(boolean isOfSentences, List<String> warnings) {
        var limits = new ArrayList<Integer>();
        for (var name : LIMITS) {
            limit(config, name)
                    .map(limit -> name.equals(POSITIONS) ? limit - ofPadding() : limit)
                    .ifPresent(limits::add);
        }
        limit(model.json("tokenizer_config.json"), "model_max_length").ifPresent(limits::add);
        if (isOfSentences) {
            limit(SentenceFiles.transformer(model), "max_seq_length").ifPresent(limits::add);
        }
        return limits.stream()
                .min(Comparator.naturalOrder())
                .or(() -> limit(model.json(TOKENIZER).path("truncation"), "max_length"))
                .orElseGet(() -> {
                    warnings.add(
                            "config.json: found no %s, nor a limit in the files of the tokenizer, so the longest row has %d tokens"
                                    .formatted(POSITIONS, USUAL_LONGEST));
                    return USUAL_LONGEST;
                });
    }

    private int ofPadding() {
        return POSITIONS_BEHIND_PADDING.contains(config.path("model_type").asText())
                ? config.path("pad_token_id").asInt(1) + 1
                : 0;
    }

    /// Nothing where it is none: a tokenizer without a limit has the length 1e30, and XLNet has -1.
    private static Optional<Integer> limit(JsonNode json, String name) {
        double limit = json.path(name).asDouble();
        return limit >= 1 && limit <= Integer.MAX_VALUE ? Optional.of((int) limit) : Optional.empty();
    }

    private static boolean isOfUnspacedScripts(Vocabulary vocabulary) {
        var letters = IntStream.range(0, vocabulary.size())
                .mapToObj(vocabulary::token)
                .flatMapToInt(String::codePoints)
                .filter(Character::isLetter)
                .toArray();
        long unspaced = Arrays.stream(letters)
                .filter(letter -> WRITTEN_WITHOUT_SPACES.contains(Character.UnicodeScript.of(letter)))
                .count();
        return unspaced * 2 > letters.length;
    }
}
