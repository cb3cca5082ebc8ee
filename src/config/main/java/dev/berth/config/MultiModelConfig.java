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
        var config = new MultiModelConfig(
                isEnabled(reading),
                directory(reading),
                reading.value("--load-models", Syntax.oneOf(Load.class), Load.LAZY),
                reading.optional("--models-memory", megabytes())
                        .map(megabytes -> OptionalLong.of((long) megabytes << 20))
                        .orElseGet(OptionalLong::empty),
                reading.value("--load-timeout-seconds", Syntax.seconds(1), Duration.ofMinutes(6)));
        if (!reading.isSet("models")) {
            Stream.of("load-models", "models-memory")
                    .filter(reading::isSet)
                    .forEach(name -> reading.warning("%s: has no effect without models".formatted(name)));
        } else if (isSageMakers(reading)) {
            reading.problem("models: found SAGEMAKER_MULTI_MODEL=true too, expected one of them; with the variable,"
                    + " POST /models loads models");
        }
        return config;
    }

    private static Syntax<Integer> megabytes() {
        return new Syntax<>("<MB>", "a whole number of MB, at least 1", Integer::valueOf)
                .where(megabytes -> megabytes > 0)
                .shown(megabytes -> megabytes + " MB");
    }

    /// Whether the settings ask for many models.
    public static boolean isEnabled(Reading reading) {
        directory(reading);
        return isSageMakers(reading) || reading.isSet("models");
    }

    private static boolean isSageMakers(Reading reading) {
        return reading.value("multi-model", Syntax.trueOrFalse(), false);
    }

    private static Optional<Path> directory(Reading reading) {
        return reading.optional("--models", Syntax.directory());
    }
}
