package dev.berth.testing;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// Predicts only after the test has opened the gate, and counts the records that it predicted.
public final class GatedHandler extends TextHandler {

    private final Gate gate;
    private final AtomicInteger predicted = new AtomicInteger();

    public GatedHandler(Gate gate) {
        this.gate = gate;
    }

    public int predicted() {
        return predicted.get();
    }

    @Override
    public List<String> predictFn(List<String> records, Object model) throws Exception {
        gate.pass();
        predicted.addAndGet(records.size());
        return super.predictFn(records, model);
    }
}
