package dev.berth.handler.task;

import dev.berth.tokenizer.Encoding;

/// One sequence of tokens for a model, without padding.
///
/// @param types the token types, as long as `ids`
public record Row(long[] ids, long[] types) {

    public Row(Encoding row) {
        this(row.ids(), row.typeIds());
    }

    public int size() {
        return ids.length;
    }
}
