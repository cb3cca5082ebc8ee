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

    public int specialOfPair() {
        return special(pair);
    }

    private static int special(List<Part> parts) {
        return (int) parts.stream().filter(Part::isSpecial).count();
    }

    /// A row of texts that are cut to fit.
    ///
    /// @param texts one or two
    public Encoding row(List<Tokens> texts, Truncation truncation) {
        var parts = texts.size() == 1 ? single : pair;
        var cut = truncation.cut(texts, special(parts));
        int size = special(parts) + cut.stream().mapToInt(Tokens::size).sum();
        var row = new Encoding(Tokens.ofSize(size), new long[size], new int[size]);
        int at = 0;
        for (var part : parts) {
            var tokens = part.isSpecial() ? Tokens.special(part.id) : cut.get(part.sequence);
            tokens.copyTo(row.tokens(), at);
            Arrays.fill(row.typeIds(), at, at + tokens.size(), part.typeId);
            Arrays.fill(row.sequences(), at, at + tokens.size(), part.sequence);
            at += tokens.size();
        }
        return row;
    }
}
