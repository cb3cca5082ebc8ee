package dev.berth.handler.text;

import dev.berth.handler.task.ScoreFunction;
import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Vocabulary;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Makes entities of the labels of tokens, as the token-classification pipeline of `transformers`
/// 5. Safe for use by many threads.
record EntityFinder(Tokenizer tokenizer, Vocabulary vocabulary, List<String> labels) {

    /// @param word as the decoder writes its tokens
    /// @param tokens at least one
    record Entity(String label, float score, String word, List<Token> tokens) {}

    /// A token with the scores of all labels.
    ///
    /// @param text as it is written, where the vocabulary does not know it
    /// @param start in the text, in Unicode code points
    /// @param end exclusive
    record Token(long id, String text, float[] scores, int index, int start, int end) {}

    /// The tokenizer's names for what it does not know.
    private static final List<String> UNKNOWN = List.of("[UNK]", "<unk>");

    List<Entity> find(String text, Encoding row, float[] logits, Aggregation aggregation) {
        boolean isOfTokens = aggregation == Aggregation.NONE || aggregation == Aggregation.SIMPLE;
        var entities = words(text, row, logits).stream()
                .flatMap(word -> isOfTokens ? word.stream().map(List::of) : Stream.of(word))
                .map(part -> {
                    var scores = scores(part, aggregation);
                    int best = best(scores);
                    var written = isOfTokens ? part.getFirst().text : decoded(part);
                    return new Entity(labels.get(best), scores[best], written, part);
                })
                .toList();
        return aggregation == Aggregation.NONE
                ? entities
                : groups(entities).stream()
                        .map(group -> group(group, isOfTokens))
                        .toList();
    }

    /// The tokens of each word.
    private List<List<Token>> words(String text, Encoding row, float[] logits) {
        var words = new ArrayList<List<Token>>();
        int counted = 0;
        int place = 0;
        for (int i = 0; i < row.size(); i++) {
            if (row.sequences()[i] < 0) {
                continue;
            }
            int start = row.starts()[i];
            int end = row.ends()[i];
            // Not from the text's beginning, which may be megabytes away.
            place += text.codePointCount(counted, start);
            counted = start;
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
            if (words.isEmpty() || unknown || !subword) {
                words.add(new ArrayList<>());
            }
            words.getLast()
                    .add(new Token(
                            id,
                            unknown ? written : spelled,
                            ScoreFunction.softmax(logits, i * labels.size(), labels.size()),
                            i,
                            place,
                            place + text.codePointCount(start, end)));
        }
        return words;
    }

    /// Of equal scores the first.
    private static int best(float[] scores) {
        return IntStream.range(0, scores.length)
                .boxed()
                .max(Comparator.comparingDouble(label -> scores[label]))
                .orElseThrow();
    }

    private static float[] scores(List<Token> word, Aggregation aggregation) {
        return switch (aggregation) {
            case AVERAGE -> {
                var sums = new double[word.getFirst().scores.length];
                word.forEach(token -> Arrays.setAll(sums, label -> sums[label] + token.scores[label]));
                var average = new float[sums.length];
                for (int label = 0; label < sums.length; label++) {
                    average[label] = (float) (sums[label] / word.size());
                }
                yield average;
            }
            // Of equally sure ones the first.
            case MAX ->
                word.stream()
                        .map(Token::scores)
                        .max(Comparator.comparingDouble(scores -> scores[best(scores)]))
                        .orElseThrow();
            case NONE, SIMPLE, FIRST -> word.getFirst().scores;
        };
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

    private Entity group(List<Entity> group, boolean isOfTokens) {
        double score = group.stream().mapToDouble(Entity::score).average().orElseThrow();
        // As the pipeline: behind the first dash, whatever stands before it.
        var first = group.getFirst().label;
        var label = first.substring(first.indexOf('-') + 1);
        var tokens = group.stream().flatMap(entity -> entity.tokens.stream()).toList();
        return new Entity(label, (float) score, isOfTokens ? decoded(tokens) : joined(group), tokens);
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
