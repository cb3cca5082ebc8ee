package dev.berth.tokenizer;

import ai.djl.huggingface.tokenizers.HuggingFaceTokenizer;
import ai.djl.huggingface.tokenizers.jni.TokenizersLibrary;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.LongStream;

/// Where the special tokens of a row stand, read off the rows of a short text and of a pair of it.
/// The native library lays out those as the `post_processor` of `tokenizer.json` says.
///
/// @param single the parts of a row of one text
/// @param pair the parts of a row of two
public record RowTemplate(List<Part> single, List<Part> pair) {

    private static final int SPECIAL = -1;

    /// How many tokens of the vocabulary are tried as the text, from the first on. One that goes on
    /// with a word, or that the normalizer removes, may have no tokens as a text.
    private static final int MOST_TRIED = 100;

    /// A special token, or all tokens of a text.
    ///
    /// @param id of the special token
    /// @param sequence the text, 0 or 1; -1: this is a special token
    public record Part(long id, long typeId, int sequence) {
        boolean isSpecial() {
            return sequence == SPECIAL;
        }
    }

    /// @throws IOException when no token of the vocabulary is a text
    static RowTemplate of(HuggingFaceTokenizer tokenizer) throws IOException {
        var library = TokenizersLibrary.LIB;
        long handle = tokenizer.getHandle();
        return LongStream.range(0, MOST_TRIED)
                .mapToObj(id -> library.decode(handle, new long[] {id}, false))
                .map(text -> new RowTemplate(
                        parts(library.encode(handle, text, true)), parts(library.encodeDual(handle, text, text, true))))
                .filter(template -> !template.single.stream().allMatch(Part::isSpecial))
                .findFirst()
                .orElseThrow(() -> new IOException("found no text that has tokens"));
    }

    /// Frees the encoding, too.
    private static List<Part> parts(long encoding) {
        try {
            var ids = TokenizersLibrary.LIB.getTokenIds(encoding);
            var types = TokenizersLibrary.LIB.getTypeIds(encoding);
            var special = TokenizersLibrary.LIB.getSpecialTokenMask(encoding);
            var sequences = TokenizersLibrary.LIB.getSequenceIds(encoding);
            var parts = new ArrayList<Part>();
            for (int i = 0; i < ids.length; i++) {
                int sequence = special[i] == 1 ? SPECIAL : (int) sequences[i];
                if (sequence == SPECIAL || parts.isEmpty() || parts.getLast().sequence != sequence) {
                    parts.add(new Part(ids[i], types[i], sequence));
                }
            }
            return List.copyOf(parts);
        } finally {
            TokenizersLibrary.LIB.deleteEncoding(encoding);
        }
    }

    /// Whether a pair begins with a classification token.
    public boolean hasClassification() {
        return pair.getFirst().isSpecial();
    }

    /// Where the second text of a pair begins, in which the first is one of the parts before it.
    ///
    /// @param first the tokens of the first text
    public int secondOfPair(int first) {
        return (int) pair.stream().takeWhile(part -> part.sequence != 1).count() - 1 + first;
    }

    /// The ids of a pair, by those of its texts. Without any they are those of the special tokens.
    public long[] idsOfPair(long[] first, long[] second) {
        return pair.stream()
                .flatMapToLong(part ->
                        part.isSpecial() ? LongStream.of(part.id) : Arrays.stream(part.sequence == 0 ? first : second))
                .toArray();
    }

    /// The token types of a pair whose texts have so many tokens.
    public long[] typesOfPair(int first, int second) {
        return pair.stream()
                .flatMapToLong(part -> LongStream.generate(() -> part.typeId)
                        .limit(part.isSpecial() ? 1 : part.sequence == 0 ? first : second))
                .toArray();
    }

    /// A row of texts that are cut to fit.
    ///
    /// @param texts one or two, by the indexes of their strings
    Encoding row(List<Tokens> texts, Truncation truncation) {
        var parts = texts.size() == 1 ? single : pair;
        int special = Math.toIntExact(parts.stream().filter(Part::isSpecial).count());
        int second = texts.size() == 1 ? 0 : texts.getLast().size();
        var kept = truncation.kept(texts.getFirst().size(), second, special);
        var lengths = new int[] {kept.first(), kept.second()};
        int size = special;
        for (var part : parts) {
            size += part.isSpecial() ? 0 : lengths[part.sequence];
        }
        var row = Encoding.ofSize(size, 0, 0, 1);
        int at = 0;
        for (var part : parts) {
            if (part.isSpecial()) {
                row.ids()[at] = part.id;
                row.typeIds()[at++] = part.typeId;
            } else {
                var text = texts.get(part.sequence);
                int count = lengths[part.sequence];
                int from = truncation.side() == Truncation.Side.RIGHT ? 0 : text.size() - count;
                System.arraycopy(text.ids(), from, row.ids(), at, count);
                System.arraycopy(text.starts(), from, row.starts(), at, count);
                System.arraycopy(text.ends(), from, row.ends(), at, count);
                Arrays.fill(row.typeIds(), at, at + count, part.typeId);
                Arrays.fill(row.specialTokensMask(), at, at + count, 0);
                Arrays.fill(row.sequences(), at, at + count, part.sequence);
                for (int i = 0; i < count; i++) {
                    row.words()[at + i] = (int) Math.max(-1, text.words()[from + i]);
                }
                at += count;
            }
        }
        return row;
    }
}
