package dev.berth.config;

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
/// @param program empty: `Inference.java`
/// @param instanceType unchecked; empty: look at the machine
/// @param workers empty: as the accelerator wants
/// @param neuronCores empty: all of the machine
public record ModelConfig(
        Path directory,
        Optional<String> program,
        Optional<String> instanceType,
        OptionalInt workers,
        CpuProfile cpuProfile,
        OptionalInt neuronCores,
        List<Path> extraLibraries,
        boolean watch) {

    private static final Pattern CORES = Pattern.compile("(\\d{1,4})(?:-(\\d{1,4}))?");
    private static final String FILE = "file://";

    static ModelConfig read(Reading reading, Path home) {
        return new ModelConfig(
                directory(reading, home),
                reading.optional(
                        "--program",
                        Syntax.word("<file>", "the name of a file"),
                        "Inference.java",
                        "The file of code/ in the model artifact that has the hooks",
                        "SAGEMAKER_PROGRAM"),
                reading.detected(
                        "--instance-type",
                        Syntax.matching(
                                "<type>",
                                "cpu, gpu, inf1, inf2, trn1 or a name such as ml.g5.xlarge",
                                "(?i)cpu|gpu|inf1|inf2|trn1|(ml\\.)?[a-z]+\\d+[a-z-]*\\.[a-z0-9-]+"),
                        "looked up on the machine",
                        "What to run on: cpu, gpu, inf1, inf2, trn1, or an instance such as ml.g5.xlarge",
                        "INSTANCE_TYPE"),
                Reading.number(reading.detected(
                        "--workers",
                        Syntax.positive(),
                        "chosen from the device",
                        "Threads that predict, spread over the devices",
                        "SAGEMAKER_MODEL_SERVER_WORKERS",
                        "SAGEMAKER_NUM_MODEL_WORKERS",
                        "SAGEMAKER_TS_MAX_WORKERS",
                        "TS_DEFAULT_WORKERS_PER_MODEL",
                        "MMS_DEFAULT_WORKERS_PER_MODEL",
                        "SERVING_MAX_WORKERS")),
                reading.fixed(
                        "--cpu-profile",
                        Syntax.oneOf(CpuProfile.class),
                        CpuProfile.ADAPTIVE,
                        "How workers share a CPU: adaptive gives a long input the idle cores and any other one,"
                                + " latency runs one at a time on all cores, throughput always gives each one"
                                + " core"),
                // 0 is NEURON_RT_NUM_CORES's word for all.
                Reading.number(reading.detected(
                                "neuron-cores",
                                visibleCores()
                                        .in("NEURON_RT_NUM_CORES", Syntax.wholeNumber(0, Integer.MAX_VALUE))
                                        .in("BERTH_NEURON_CORES", Syntax.positive()),
                                "all of the machine",
                                "NeuronCores to use, a copy of the model on each; the Neuron runtime reads the"
                                        + " NEURON_RT variables too",
                                "NEURON_RT_VISIBLE_CORES",
                                "NEURON_RT_NUM_CORES",
                                "BERTH_NEURON_CORES")
                        .filter(cores -> cores > 0)),
                reading.fixed(
                        "--extra-libraries",
                        files(),
                        List.of(),
                        "Libraries of operators that a model file needs, loaded after its engine"),
                watch(reading));
    }

    private static Path directory(Reading reading, Path home) {
        var mounted = mounted(reading);
        var unset = Files.isDirectory(mounted) ? mounted : sample(home);
        var directory = reading.derived(
                "--model-dir",
                Syntax.directory().in("AIP_STORAGE_URI", artifactUri()).in("HF_MODEL_ID", hubDirectory()),
                unset,
                "model/ in base-dir where that exists, else model-artifact/ beside the serve script",
                "The model artifact: the directory unpacked from model.tar.gz",
                "BERTH_MODEL_DIR",
                "AIP_STORAGE_URI",
                "HF_MODEL_ID");
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
                    "model-dir: has no effect, because SAGEMAKER_MULTI_MODEL is true; POST /models loads" + " models");
        }
        return directory;
    }

    /// Where the platform mounts the artifact.
    static Path mounted(Reading reading) {
        return reading.fixed(
                        "base-dir",
                        new Syntax<>("<dir>", "a path", Syntax::path),
                        Path.of("/opt/ml"),
                        "Where the platform mounts its files",
                        "SAGEMAKER_BASE_DIR")
                .resolve("model");
    }

    /// The sample artifact.
    static Path sample(Path home) {
        return home.resolve("model-artifact");
    }

    /// A container of SageMaker's must serve what was deployed, and nothing that somebody edits
    /// there.
    private static boolean watch(Reading reading) {
        boolean watch = reading.fixed(
                "--watch",
                Syntax.trueOrFalse(),
                false,
                "Whether edits to the artifact are served at once while hooks are written; a version"
                        + " that fails leaves the one before");
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
        return new Syntax<>(
                "<uri>",
                "a directory that exists or its file:// URI; no artifact is downloaded: mount the bucket,"
                        + " for instance with Cloud Storage FUSE, and name its directory in BERTH_MODEL_DIR, or"
                        + " copy the artifact into the image and leave artifactUri out",
                text -> Syntax.directory().read(text.startsWith(FILE) ? text.substring(FILE.length()) : text));
    }

    /// What Hugging Face's containers download.
    private static Syntax<Path> hubDirectory() {
        return new Syntax<>(
                "<dir>",
                "the directory of a model of the hub that exists; nothing is downloaded: get it with hf download"
                        + " MODEL --local-dir DIR, mount DIR, and name it in HF_MODEL_ID, or mount it at"
                        + " /opt/ml/model and leave HF_MODEL_ID out",
                Syntax.directory()::read);
    }

    /// How many cores `NEURON_RT_VISIBLE_CORES` names: a number, a range as in `4-7`, or several of
    /// those.
    private static Syntax<Integer> visibleCores() {
        return new Syntax<>("<cores>", "NeuronCores such as 0, 0-3 or 0,2-3, each once", text -> {
            var cores = new BitSet();
            for (var part : text.split(",", -1)) {
                var range = CORES.matcher(part.strip());
                if (!range.matches()) {
                    return Optional.empty();
                }
                int first = Integer.parseInt(range.group(1));
                int last = range.group(2) == null ? first : Integer.parseInt(range.group(2));
                if (last < first || cores.get(first, last + 1).cardinality() > 0) {
                    return Optional.empty();
                }
                cores.set(first, last + 1);
            }
            return Optional.of(cores.cardinality());
        });
    }

    private static Syntax<List<Path>> files() {
        return new Syntax<>(
                "<files>",
                "files that exist, with commas between them",
                text -> {
                    var names = text.split(",");
                    var files = Arrays.stream(names)
                            .flatMap(name -> Syntax.path(name.strip()).stream())
                            .filter(Files::isRegularFile)
                            .toList();
                    return files.size() == names.length ? Optional.of(files) : Optional.empty();
                },
                files -> files.isEmpty()
                        ? "none"
                        : files.stream().map(Path::toString).collect(Collectors.joining(",")));
    }
}
