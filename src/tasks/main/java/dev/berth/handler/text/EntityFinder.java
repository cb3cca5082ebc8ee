package dev.berth.handler.text;

import dev.berth.handler.task.ScoreFunction;
import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Vocabulary;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/// Makes entities of the labels of tokens, as the token-classification pipeline of `transformers`
/// 5. Safe for use by many threads.
record EntityFinder(Tokenizer tokenizer, Vocabulary vocabulary, List<String> labels) {

    /// @param index the place of the token in its row; that of the first where there are several
    /// @param word as the decoder writes its tokens
    /// @param start in the text, in Unicode code points
    /// @param end exclusive
    record Entity(String label, float score, int index, String word, int start, int end) {}

    /// A token or a word with the scores of all labels.
    ///
    /// @param text the word as it is written, where the vocabulary does not know it
    private record Token(long id, String text, float[] scores, int index, int start, int end, boolean subword) {}

    /// The tokenizer's names for what it does not know.
    private static final List<String> UNKNOWN = List.of("[UNK]", "<unk>");

    List<Entity> find(String text, Encoding row, float[] logits, Aggregation aggregation) {
        var tokens = tokens(text, row, logits);
        var entities = switch (aggregation) {
            case NONE, SIMPLE -> tokens.stream().map(this::entity).toList();
            case FIRST, AVERAGE, MAX ->
                words(tokens).stream().map(word -> word(word, aggregation)).toList();
        };
        var found = switch (aggregation) {
            case NONE -> entities;
            case SIMPLE ->
                groups(entities).stream()
                        .map(group -> group(
                                group,
                                decoded(tokens.subList(from(tokens, group), from(tokens, group) + group.size()))))
                        .toList();
            case FIRST, AVERAGE, MAX ->
                groups(entities).stream()
                        .map(group -> group(group, joined(group)))
                        .toList();
        };
        return found.stream()
                .map(entity -> new Entity(
                        entity.label,
                        entity.score,
                        entity.index,
                        entity.word,
                        text.codePointCount(0, entity.start),
                        text.codePointCount(0, entity.end)))
                .toList();
    }

    private List<Token> tokens(String text, Encoding row, float[] logits) {
        var tokens = new ArrayList<Token>();
        for (int i = 0; i < row.size(); i++) {
            if (row.specialTokensMask()[i] == 1) {
                continue;
            }
            int start = row.starts()[i];
            int end = row.ends()[i];
            long id = row.ids()[i];
            var spelled = vocabulary.token(id);
            boolean unknown = UNKNOWN.contains(spelled);
            var written = text.substring(start, end);
            boolean subword = vocabulary.subwordPrefix().isEmpty()
                    ? start > 0
                            && text.substring(text.offsetByCodePoints(start, -1), Math.min(start + 1, text.length()))
                                            .indexOf(' ')
                                    < 0
                    : spelled.codePointCount(0, spelled.length()) != written.codePointCount(0, written.length());
            tokens.add(new Token(
                    id,
                    unknown ? written : spelled,
                    ScoreFunction.softmax(logits, i * labels.size(), labels.size()),
                    i,
                    start,
                    end,
                    subword && !unknown));
        }
        return tokens;
    }

    private Entity entity(Token token) {
        int best = best(token.scores);
        return new Entity(labels.get(best), token.scores[best], token.index, token.text, token.start, token.end);
    }

    private static int best(float[] scores) {
        int best = 0;
        for (int i = 1; i < scores.length; i++) {
            best = scores[i] > scores[best] ? i : best;
        }
        return best;
    }

    private static int from(List<Token> tokens, List<Entity> group) {
        return IntStream.range(0, tokens.size())
                .filter(i -> tokens.get(i).index == group.getFirst().index)
                .findFirst()
                .orElseThrow();
    }

    private static List<List<Token>> words(List<Token> tokens) {
        var words = new ArrayList<List<Token>>();
        for (var token : tokens) {
            if (words.isEmpty() || !token.subword) {
                words.add(new ArrayList<>());
            }
            words.getLast().add(token);
        }
        return words;
    }

    private Entity word(List<Token> word, Aggregation aggregation) {
        var scores = switch (aggregation) {
            case AVERAGE -> average(word);
            case MAX -> surest(word).scores;
            case NONE, SIMPLE, FIRST -> word.getFirst().scores;
        };
        int best = best(scores);
        return new Entity(
                labels.get(best),
                scores[best],
                word.getFirst().index,
                decoded(word),
                word.getFirst().start,
                word.getLast().end);
    }

    /// Of equally sure ones the first.
    private static Token surest(List<Token> word) {
        var surest = word.getFirst();
        for (var token : word) {
            surest = token.scores[best(token.scores)] > surest.scores[best(surest.scores)] ? token : surest;
        }
        return surest;
    }

    private static float[] average(List<Token> word) {
        var average = new float[word.getFirst().scores.length];
        for (int i = 0; i < average.length; i++) {
            int label = i;
            average[i] = (float) word.stream()
                    .mapToDouble(token -> token.scores[label])
                    .average()
                    .orElseThrow();
        }
        return average;
    }

    /// Neighbours of the same label. `B-` begins another.
    private static List<List<Entity>> groups(List<Entity> entities) {
        var groups = new ArrayList<List<Entity>>();
        for (var entity : entities) {
            boolean goesOn = !groups.isEmpty()
                    && !entity.label.startsWith("B-")
                    && tag(entity.label).equals(tag(groups.getLast().getLast().label));
            if (!goesOn) {
                groups.add(new ArrayList<>());
            }
            groups.getLast().add(entity);
        }
        return groups;
    }

    private static String tag(String label) {
        return label.startsWith("B-") || label.startsWith("I-") ? label.substring(2) : label;
    }

    private static Entity group(List<Entity> group, String word) {
        var first = group.getFirst();
        double score = group.stream().mapToDouble(Entity::score).average().orElseThrow();
        // As the pipeline: behind the first dash, whatever stands before it.
        var label = first.label.substring(first.label.indexOf('-') + 1);
        return new Entity(label, (float) score, first.index, word, first.start, group.getLast().end);
    }

    /// The tokens as the decoder writes them, unknown ones as they stand in the text.
    private String decoded(List<Token> tokens) {
        var text = tokenizer.decode(tokens.stream().mapToLong(Token::id).toArray(), false);
        int from = 0;
        for (var token : tokens) {
            var spelled = vocabulary.token(token.id);
            int at = UNKNOWN.contains(spelled) ? text.indexOf(spelled, from) : -1;
            if (at >= 0) {
                text = text.substring(0, at) + token.text + text.substring(at + spelled.length());
                from = at + token.text.length();
            }
        }
        return text;
    }

    /// Words that were decoded one by one, decoded again: where spaces do not stand in them, the
    /// decoder puts them between.
    private String joined(List<Entity> words) {
        var text = new StringBuilder();
        for (var word : words) {
            boolean space = vocabulary.isSpaced() && !text.isEmpty();
            text.append(space ? Tokenizer.cleanedUp(" " + word.word) : word.word);
        }
        return text.toString();
    }
}
