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

    private final int room;

    IdleRunner(Batcher<String, String> model, int room) {
        super(model, 0, NONE);
        this.room = room;
    }

    @Override
    void predictWhatWaits() {}

    @Override
    int room() {
        return room;
    }
}
