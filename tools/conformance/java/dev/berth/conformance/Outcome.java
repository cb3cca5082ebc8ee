package dev.berth.conformance;

import java.time.Duration;

/// What came of one row.
///
/// @param found what came back, or why the row was not asked, in a few words
record Outcome(ContractRow row, Result result, String found, Duration time) {

    enum Result {
        HOLDS("holds"),
        MISSED("missed"),
        NOT_ASKED("not asked"),
        /// The caller said so, and why.
        SKIPPED("skipped");

        private final String words;

        Result(String words) {
            this.words = words;
        }

        @Override
        public String toString() {
            return words;
        }
    }

    boolean is(Result one) {
        return result == one;
    }
}
