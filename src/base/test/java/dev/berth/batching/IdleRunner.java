package dev.berth.batching;

import dev.berth.batching.Submission.Pending;
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

    private final boolean inSteps;

    IdleRunner(Batcher<String, String> model, boolean inSteps) {
        super(model, 0, NONE);
        this.inSteps = inSteps;
    }

    @Override
    void predictWhatWaits() {}

    @Override
    List<Pending<String, String>> held() {
        return List.of();
    }

    @Override
    boolean predictsInSteps() {
        return inSteps;
    }
}
