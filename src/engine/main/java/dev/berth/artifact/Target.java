package dev.berth.artifact;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/// The kind of device that a model is traced for. A traced file runs on no other kind.
public enum Target {
    CPU,
    GPU,
    INF1,
    INF2,
    TRN1;

    /// The family, the generation and the rest of an instance's full name, such as `g`, `5`.
    private static final Pattern INSTANCE =
            Pattern.compile("(?:ml\\.)?([a-z]+)(\\d+)([a-z-]*)\\.([a-z0-9]+|metal(-\\w+)?)");

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

    /// The device of an `INSTANCE_TYPE`: its own name, or that of an instance with or without
    /// SageMaker's `ml.` (`ml.g5.xlarge`, `inf2.xlarge`). Nothing where the text is neither.
    public static Optional<Target> ofInstance(String type) {
        var name = type.strip().toLowerCase(Locale.ROOT);
        var parts = INSTANCE.matcher(name);
        if (!parts.matches()) {
            return named(name);
        }
        boolean isFirst = parts.group(2).equals("1");
        return switch (parts.group(1)) {
            case "g", "gr", "p" -> Optional.of(GPU);
            case "inf" -> Optional.of(isFirst ? INF1 : INF2);
            // Later ones have another generation of NeuronCores, which no target here compiles for.
            case "trn" -> Optional.of(TRN1).filter(_ -> isFirst);
            default -> Optional.of(CPU);
        };
    }

    /// As `model.json`, `trace.py` and `INSTANCE_TYPE` spell it.
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
