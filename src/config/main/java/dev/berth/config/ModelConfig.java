package dev.berth.config;

import dev.berth.hooks.CpuProfile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Which model is served, or which models, and on what.
public final class ModelConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(ModelConfig.class);

    /// What a model artifact has one of.
    private static final List<String> OF_AN_ARTIFACT = List.of("model.json", "model.pt", "model.onnx", "code");

    private static final Pattern CORES = Pattern.compile("(\\d{1,4})(?:-(\\d{1,4}))?");

    /// When the models of a directory are loaded.
    public enum Load {
        /// By the first request for each.
        LAZY,
        /// Before the server says that it is ready, as many as fit.
        START
    }

    private static final Setting<Path> BASE_DIR = SETTINGS.of("base-dir", new Syntax<>("<dir>", "a path", Path::of));

    public static final Setting<Path> MODEL_DIR = SETTINGS.of(
            "model-dir",
            Syntax.directory()
                    // Where a platform has put the artifact, also as a `file` URI.
                    .in(
                            "AIP_STORAGE_URI",
                            Syntax.directory(
                                    "a directory that exists or its file:// URI; no artifact is downloaded: mount the bucket, for instance with Cloud Storage FUSE, and name its directory in BERTH_MODEL_DIR, or copy the artifact into the image and leave artifactUri out",
                                    text -> Path.of(text.replaceFirst("^file://", ""))))
                    // What Hugging Face's containers download.
                    .in(
                            "HF_MODEL_ID",
                            Syntax.directory(
                                    "the directory of a model of the hub that exists; nothing is downloaded: get it with hf download MODEL --local-dir DIR, mount DIR, and name it in HF_MODEL_ID, or mount it at /opt/ml/model and leave HF_MODEL_ID out",
                                    Path::of)),
            platform -> Files.isDirectory(mounted(platform)) ? mounted(platform) : sample(platform));

    /// The directory of many models, where the platform does not say what to load.
    public static final Setting<Path> MODELS = SETTINGS.of("models", Syntax.directory());

    private static final Setting<Boolean> MULTI_MODEL = SETTINGS.of("multi-model", Syntax.trueOrFalse());

    /// What protocols call it that name their models.
    public static final Setting<String> NAME = SETTINGS.of("model-name", Syntax.word("<name>", "a name"));

    public static final Setting<String> PROGRAM = SETTINGS.of("program", Syntax.word("<file>", "the name of a file"));

    /// Unchecked. Unset: look at the machine.
    public static final Setting<String> INSTANCE_TYPE = SETTINGS.of(
            "instance-type",
            Syntax.matching(
                    "<type>",
                    "cpu, gpu, inf1, inf2, trn1 or a name such as ml.g5.xlarge",
                    "(?i)cpu|gpu|inf1|inf2|trn1|(ml\\.)?[a-z]+\\d+[a-z-]*\\.[a-z0-9-]+"));

    /// Unset: as the accelerator wants.
    public static final Setting<Integer> WORKERS = SETTINGS.of("workers", Syntax.positive());

    public static final Setting<CpuProfile> CPU_PROFILE = SETTINGS.of("cpu-profile", Syntax.oneOf(CpuProfile.class));

    /// Unset, or 0, which is `NEURON_RT_NUM_CORES`'s word for it: all of the machine.
    public static final Setting<Integer> NEURON_CORES = SETTINGS.of(
            "neuron-cores",
            new Syntax<>("<cores>", "NeuronCores such as 0, 0-3 or 0,2-3, each once", ModelConfig::visibleCores)
                    .in("NEURON_RT_NUM_CORES", Syntax.wholeNumber(0, Integer.MAX_VALUE))
                    .in("BERTH_NEURON_CORES", Syntax.positive()));

    public static final Setting<List<Path>> EXTRA_LIBRARIES = SETTINGS.of("extra-libraries", files());
    public static final Setting<Boolean> WATCH = SETTINGS.of("watch", Syntax.trueOrFalse());
    public static final Setting<Load> LOAD_MODELS = SETTINGS.of("load-models", Syntax.oneOf(Load.class));

    /// What many models may take together, in MB. Unset: what the machine has.
    public static final Setting<Integer> MODELS_MEMORY = SETTINGS.of(
            "models-memory",
            new Syntax<>("<MB>", "a whole number of MB, at least 1", Integer::valueOf)
                    .where(megabytes -> megabytes > 0)
                    .shown(megabytes -> megabytes + " MB"));

    public static final Setting<Duration> LOAD_TIMEOUT = SETTINGS.of("load-timeout-seconds", Syntax.seconds(1));

    /// Those that say which hooks are run, and on what.
    public static final List<Setting<?>> OF_ONE_MODEL = List.of(
            PROGRAM,
            INSTANCE_TYPE,
            WORKERS,
            CPU_PROFILE,
            NEURON_CORES,
            EXTRA_LIBRARIES,
            ServingConfig.MAX_BATCH_SIZE,
            ServingConfig.MAX_BATCH_TOKENS,
            MonitoringConfig.LOG_LEVEL);

    /// Whether models come and go while the server runs. Else there is one, which is loaded at start.
    public static boolean areMany(ServerConfig config) {
        return config.get(MULTI_MODEL) || config.isChosen(MODELS);
    }

    @Override
    public void check(ServerConfig config, Findings findings) {
        var directory = config.get(MODEL_DIR);
        var mounted = mounted(config.platform());
        if (!config.isChosen(MODEL_DIR)) {
            if (!areMany(config)
                    && !Files.exists(mounted)
                    && OF_AN_ARTIFACT.stream().anyMatch(file -> Files.exists(mounted.resolveSibling(file)))) {
                findings.problem(
                        "model-dir: found a model artifact in %s, expected it in %s; mount it there, docker run -v \"$PWD/my-model:%2$s\""
                                .formatted(mounted.getParent(), mounted));
            } else if (!areMany(config) && !Files.isDirectory(directory)) {
                findings.problem(
                        "model-dir: found neither %s nor %s; mount a model artifact at the first, docker run -v \"$PWD/my-model:%1$s\", or name one with --model-dir"
                                .formatted(mounted, directory));
            }
        } else if (directory.equals(sample(config.platform())) && isEmpty(mounted)) {
            findings.warning(
                    "model-dir: %s is empty, so the sample is served; mount a model artifact there".formatted(mounted));
        } else if (config.isChosen(MODELS)) {
            findings.problem(
                    "models: found model-dir too, expected one of them; models serves every artifact of a directory, model-dir one artifact");
        } else if (config.get(MULTI_MODEL)) {
            findings.warning(
                    "model-dir: has no effect, because SAGEMAKER_MULTI_MODEL is true; POST /models loads models");
        }
        if (!config.isChosen(MODELS)) {
            Stream.of(LOAD_MODELS, MODELS_MEMORY)
                    .filter(config::isChosen)
                    .forEach(setting -> findings.warning("%s: has no effect without models".formatted(setting.name())));
        } else if (config.get(MULTI_MODEL)) {
            findings.problem(
                    "models: found SAGEMAKER_MULTI_MODEL=true too, expected one of them; with the variable, POST /models loads models");
        }
        if (config.get(WATCH)) {
            checkWatch(config, findings);
        }
    }

    /// A container of SageMaker's must serve what was deployed, and nothing that somebody edits there.
    private static void checkWatch(ServerConfig config, Findings findings) {
        if (config.isChosen(MODELS)) {
            findings.problem("watch: found models too, expected one of them; models picks up changes by itself");
        }
        config.platform()
                .ofSageMaker()
                .forEach(name -> findings.problem(
                        "watch: found %s too, which SageMaker sets; watch is for a machine where hooks are written"
                                .formatted(name)));
    }

    /// The flags that serve the sample, where no setting names a model and the place of a mounted one
    /// is empty.
    public static Map<String, String> flagsOfTheSample(Platform platform) {
        var config = new ServerConfig(SETTINGS.all(), platform, Map.of(), _ -> {});
        boolean isLost = isEmpty(mounted(platform)) && !areMany(config) && !config.isChosen(MODEL_DIR);
        var sample = sample(platform);
        return isLost && Files.isDirectory(sample) ? Map.of("--model-dir", sample.toString()) : Map.of();
    }

    private static boolean isEmpty(Path directory) {
        var files = directory.toFile().list();
        return files != null && files.length == 0;
    }

    private static Path mounted(Platform platform) {
        return BASE_DIR.on(platform).orElseThrow().resolve("model");
    }

    private static Path sample(Platform platform) {
        return platform.home().resolve("model-artifact");
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
                .shown(files -> files.stream().map(Path::toString).collect(Collectors.joining(",")));
    }
}
