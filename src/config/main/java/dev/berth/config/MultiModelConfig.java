package dev.berth.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;

/// Whether models come and go while the server runs.
///
/// @param enabled false: there is one model, which is loaded at start
/// @param directory empty: the platform says what to load
/// @param memoryBytes what they may take together; empty: what the machine has
public record MultiModelConfig(
        boolean enabled, Optional<Path> directory, Load load, OptionalLong memoryBytes, Duration loadTimeout) {

    /// When the models of a directory are loaded.
    public enum Load {
        /// By the first request for each.
        LAZY,
        /// Before the server says that it is ready, as many as fit.
        START
    }

    static MultiModelConfig read(Reading reading) {
        boolean platform = isSageMakers(reading);
        var config = new MultiModelConfig(
                isEnabled(reading),
                directory(reading),
                reading.fixed(
                        "--load-models",
                        Syntax.oneOf(Load.class),
                        Load.LAZY,
                        "When the models of --models are loaded: by the first request for each, or as many"
                                + " as fit before /ping is 200"),
                reading.detected(
                                "--models-memory",
                                new Syntax<>(
                                        "<MB>",
                                        "a whole number of MB, at least 1",
                                        Syntax.positive()::read,
                                        megabytes -> megabytes + " MB"),
                                "measured: what the machine and the container have left",
                                "What the models of --models may take together; the least recently used idle"
                                        + " one makes way")
                        .map(megabytes -> OptionalLong.of((long) megabytes << 20))
                        .orElseGet(OptionalLong::empty),
                reading.fixed(
                        "--load-timeout-seconds",
                        Syntax.seconds(1),
                        Duration.ofMinutes(6),
                        "How long a load of one of many models may take before POST /models answers 504;"
                                + " SageMaker waits for 360 s"));
        if (!reading.isSet("models")) {
            Stream.of("load-models", "models-memory")
                    .filter(reading::isSet)
                    .forEach(name -> reading.warning("%s: has no effect without models".formatted(name)));
        } else if (platform) {
            reading.problem("models: found SAGEMAKER_MULTI_MODEL=true too, expected one of them; with the variable,"
                    + " POST /models loads models");
        }
        return config;
    }

    static boolean isEnabled(Reading reading) {
        boolean platform = isSageMakers(reading);
        directory(reading);
        return platform || reading.isSet("models");
    }

    static boolean isSageMakers(Reading reading) {
        return reading.fixed(
                "multi-model",
                Syntax.trueOrFalse(),
                false,
                "Set by the platform: a multi-model endpoint, which starts without a model and is told what"
                        + " to load",
                "SAGEMAKER_MULTI_MODEL");
    }

    private static Optional<Path> directory(Reading reading) {
        return reading.optional(
                "--models",
                Syntax.directory(),
                "not set",
                "Serve every artifact of this directory, at /models/{name}/invoke; changes are picked up");
    }
}
