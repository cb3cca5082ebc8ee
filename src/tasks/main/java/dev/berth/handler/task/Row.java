package dev.berth.handler.task;

/// One sequence of tokens for a model, without padding.
///
/// @param types the token types, as long as `ids`
public record Row(long[] ids, long[] types) {

    public int size() {
        return ids.length;
    }
}
