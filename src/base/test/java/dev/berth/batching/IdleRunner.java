package dev.berth.batching;

import java.util.List;

/// A worker that takes nothing: tests take from the queue themselves.
final class IdleRunner extends Runner<String, String> {

    private static final Predictor<String, String> NONE = new Predictor<>() {
        @Override
        public List<String> predict(List<String> records) {
            throw new IllegalStateException("found records, expected none");
        }

        @Override
        public void close() {}
    };

    IdleRunner(int worker) {
        super("words", worker, NONE);
    }

    @Override
    void predictWhatWaits() {}
}
