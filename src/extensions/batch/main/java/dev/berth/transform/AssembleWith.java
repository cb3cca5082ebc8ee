package dev.berth.transform;

/// `TransformOutput.AssembleWith`: what is written after each answer.
enum AssembleWith {
    NONE("None"),
    /// A newline.
    LINE("Line");

    private final String word;

    AssembleWith(String word) {
        this.word = word;
    }

    /// As the API spells it.
    @Override
    public String toString() {
        return word;
    }
}
