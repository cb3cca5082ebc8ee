package dev.berth.engine;

import dev.berth.artifact.Target;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/// Reads `INSTANCE_TYPE`: a device (`cpu`, `gpu`, `inf1`, `inf2`, `trn1`) or the full name of an
/// instance, with or without SageMaker's `ml.` (`ml.g5.xlarge`, `inf2.xlarge`).
final class InstanceType {

    private static final Pattern FULL_NAME =
            Pattern.compile("(?:ml\\.)?([a-z]+)(\\d+)([a-z-]*)\\.([a-z0-9]+|metal(-\\w+)?)");

    private InstanceType() {}

    /// The device of an instance type; nothing where the text is no instance type.
    static Optional<Target> target(String instanceType) {
        var name = instanceType.strip().toLowerCase(Locale.ROOT);
        var parts = FULL_NAME.matcher(name);
        if (!parts.matches()) {
            return Target.named(name);
        }
        return switch (parts.group(1)) {
            case "g", "gr", "p" -> Optional.of(Target.GPU);
            case "inf" -> parts.group(2).equals("1") ? Optional.of(Target.INF1) : Optional.of(Target.INF2);
            // Later ones have another generation of NeuronCores, which no target here compiles for.
            case "trn" -> parts.group(2).equals("1") ? Optional.of(Target.TRN1) : Optional.empty();
            default -> Optional.of(Target.CPU);
        };
    }
}
