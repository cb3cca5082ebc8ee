package dev.berth.artifact;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/// The kind of device that a model is traced for. A traced file runs on no other kind.
public enum Target {
    CPU,
    GPU,
    INF1,
    INF2,
    TRN1;

    /// Whether this device runs what was traced for `traced`: its own kind, and Inferentia2 and
    /// Trainium run the same code.
    public boolean runs(Target traced) {
        return this == traced || (isNeuronCoreV2() && traced.isNeuronCoreV2());
    }

    /// Whether models for it are compiled for NeuronCores.
    public boolean isNeuron() {
        return this == INF1 || isNeuronCoreV2();
    }

    private boolean isNeuronCoreV2() {
        return this == INF2 || this == TRN1;
    }

    /// The target of this name, such as `gpu`; nothing where there is none.
    public static Optional<Target> named(String name) {
        return Arrays.stream(values())
                .filter(target -> target.toString().equals(name))
                .findFirst();
    }

    /// As `model.json`, `trace.py` and `INSTANCE_TYPE` spell it.
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
