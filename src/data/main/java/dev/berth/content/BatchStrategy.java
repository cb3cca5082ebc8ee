package dev.berth.content;

/// `BatchStrategy` of a transform job: how many records a request may hold. [#name()] is as the
/// environment spells it, [#toString()] as the API does.
public enum BatchStrategy {
    SINGLE_RECORD("SingleRecord"),
    MULTI_RECORD("MultiRecord");

    private final String word;

    BatchStrategy(String word) {
        this.word = word;
    }

    @Override
    public String toString() {
        return word;
    }
}
