package dev.berth.tokenizer;

import java.util.Arrays;

/// The tokens of a text together with the text, which has them at other places where a character
/// takes two of Java's.
record TextTokens(String text, Tokens tokens) {

    int size() {
        return tokens.size();
    }

    /// Puts some of the tokens into a row.
    void copyTo(Encoding row, int at, int from, int count, long typeId, int sequence) {
        System.arraycopy(tokens.ids(), from, row.ids(), at, count);
        Arrays.fill(row.typeIds(), at, at + count, typeId);
        Arrays.fill(row.specialTokensMask(), at, at + count, 0);
        Arrays.fill(row.sequences(), at, at + count, sequence);
        var places = places();
        for (int i = 0; i < count; i++) {
            int start = tokens.starts()[from + i];
            int end = tokens.ends()[from + i];
            row.starts()[at + i] = places.length == 0 ? start : places[start];
            row.ends()[at + i] = places.length == 0 ? end : places[end];
            row.words()[at + i] = (int) Math.max(-1, tokens.words()[from + i]);
        }
    }

    /// The index in the string of each code point, and of the end; empty where they are the same.
    private int[] places() {
        int codePoints = text.codePointCount(0, text.length());
        if (codePoints == text.length()) {
            return new int[0];
        }
        var places = new int[codePoints + 1];
        for (int i = 0; i < codePoints; i++) {
            places[i + 1] = places[i] + Character.charCount(text.codePointAt(places[i]));
        }
        return places;
    }
}
