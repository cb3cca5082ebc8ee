package dev.berth.config;

import static dev.berth.config.Reading.number;

import dev.berth.hooks.CpuProfile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Which model is served, and on what.
///
/// @param directory where models come and go, each has its own
/// @param name what protocols call it that name their models
/// @param program empty: `Inference.java`
public record ModelConfig(Path directory, String name, Optional<String> program, Hardware hardware, boolean watch) {

    /// What it runs on.
    ///
    /// @param instanceType unchecked; empty: look at the machine
    /// @param workers empty: as the accelerator wants
    /// @param neuronCores empty: all of the machine
    public record Hardware(
            Optional<String> instanceType,
            OptionalInt workers,
            CpuProfile cpuProfile,
            OptionalInt neuronCores,
            List<Path> extraLibraries) {}

    private static final Pattern CORES = Pattern.compile("(\\d{1,4})(?:-(\\d{1,4}))?");
    private static final String FILE = "file://";

    static ModelConfig read(Reading reading, Path home) {
        return new ModelConfig(
                directory(reading, home),
                reading.value("--model-name", Syntax.word("<name>", "a name"), "model"),
                reading.optional("--program", Syntax.word("<file>", "the name of a file")),
                new Hardware(
                        reading.optional(
                                "--instance-type",
                                Syntax.matching(
                                        "<type>",
                                        "cpu, gpu, inf1, inf2, trn1 or a name such as ml.g5.xlarge",
                                        "(?i)cpu|gpu|inf1|inf2|trn1|(ml\\.)?[a-z]+\\d+[a-z-]*\\.[a-z0-9-]+")),
                        number(reading.optional("--workers", Syntax.positive())),
                        reading.value("--cpu-profile", Syntax.oneOf(CpuProfile.class), CpuProfile.ADAPTIVE),
                        neuronCores(reading),
                        reading.value("--extra-libraries", files(), List.of())),
                watch(reading));
    }

    private static Path directory(Reading reading, Path home) {
        var mounted = mounted(reading);
        var unset = Files.isDirectory(mounted) ? mounted : sample(home);
        var directory = reading.value(
                "--model-dir",
                Syntax.directory().in("AIP_STORAGE_URI", artifactUri()).in("HF_MODEL_ID", hubDirectory()),
                unset);
        boolean many = MultiModelConfig.isEnabled(reading);
        if (!reading.isSet("model-dir")) {
            if (!many && !Files.isDirectory(unset)) {
                reading.problem(("model-dir: found neither %s nor %s; mount a model artifact at the first, or name one"
                                + " with --model-dir or BERTH_MODEL_DIR")
                        .formatted(mounted, unset));
            }
        } else if (reading.isSet("models")) {
            reading.problem("models: found model-dir too, expected one of them; models serves every artifact of a"
                    + " directory, model-dir one artifact");
        } else if (many) {
            reading.warning(
                    "model-dir: has no effect, because SAGEMAKER_MULTI_MODEL is true; POST /models loads models");
        }
        return directory;
    }

    static Path mounted(Reading reading) {
        return reading.value("base-dir", new Syntax<>("<dir>", "a path", Path::of), Path.of("/opt/ml"))
                .resolve("model");
    }

    static Path sample(Path home) {
        return home.resolve("model-artifact");
    }

    /// A container of SageMaker's must serve what was deployed, and nothing that somebody edits
    /// there.
    private static boolean watch(Reading reading) {
        boolean watch = reading.value("--watch", Syntax.trueOrFalse(), false);
        if (watch && reading.isSet("models")) {
            reading.problem("watch: found models too, expected one of them; models picks up changes by itself");
        }
        if (watch) {
            PlatformConfig.ofSageMaker(reading.environment())
                    .forEach(name ->
                            reading.problem(("watch: found %s too, which SageMaker sets; watch is for a machine where"
                                            + " hooks are written")
                                    .formatted(name)));
        }
        return watch;
    }

    /// Where a platform has put the artifact: a directory, also as a `file` URI.
    private static Syntax<Path> artifactUri() {
        return Syntax.directory(
                "a directory that exists or its file:// URI; no artifact is downloaded: mount the bucket,"
                        + " for instance with Cloud Storage FUSE, and name its directory in BERTH_MODEL_DIR, or"
                        + " copy the artifact into the image and leave artifactUri out",
                text -> Path.of(text.startsWith(FILE) ? text.substring(FILE.length()) : text));
    }

    /// What Hugging Face's containers download.
    private static Syntax<Path> hubDirectory() {
        return Syntax.directory(
                "the directory of a model of the hub that exists; nothing is downloaded: get it with hf download"
                        + " MODEL --local-dir DIR, mount DIR, and name it in HF_MODEL_ID, or mount it at"
                        + " /opt/ml/model and leave HF_MODEL_ID out",
                Path::of);
    }

    /// 0 is `NEURON_RT_NUM_CORES`'s word for all.
    private static OptionalInt neuronCores(Reading reading) {
        var syntax = new Syntax<>(
                        "<cores>", "NeuronCores such as 0, 0-3 or 0,2-3, each once", ModelConfig::visibleCores)
                .in("NEURON_RT_NUM_CORES", Syntax.wholeNumber(0, Integer.MAX_VALUE))
                .in("BERTH_NEURON_CORES", Syntax.positive());
        return number(reading.optional("neuron-cores", syntax).filter(cores -> cores > 0));
    }

    /// How many cores `NEURON_RT_VISIBLE_CORES` names: a number, a range as in `4-7`, or several of
    /// those. Null: it is none of that.
    private static Integer visibleCores(String text) {
        var cores = new BitSet();
        for (var part : text.split(",", -1)) {
            var range = CORES.matcher(part.strip());
            if (!range.matches()) {
                return null;
            }
            int first = Integer.parseInt(range.group(1));
            int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
            if (last < first || !cores.get(first, last + 1).isEmpty()) {
                return null;
            }
            cores.set(first, last + 1);
        }
        return cores.cardinality();
    }

    private static Syntax<List<Path>> files() {
        return new Syntax<>(
                        "<files>",
                        "files that exist, with commas between them",
                        text -> Arrays.stream(text.split(","))
                                .map(name -> Path.of(name.strip()))
                                .toList())
                .where(files -> files.stream().allMatch(Files::isRegularFile))
                .shown(files -> files.isEmpty()
                        ? "none"
                        : files.stream().map(Path::toString).collect(Collectors.joining(",")));
    }
}
