package dev.berth.config;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.commons.text.similarity.LevenshteinDistance;

/// Which environment variables are ours, and which one somebody meant who spelled a name wrongly.
///
/// The platform, the SDK and other people's containers share the prefix `SAGEMAKER_` and may add
/// names at any time, so an unknown one is no problem. `BERTH_` is ours alone.
final class VariableNames {

    /// What kubelet adds for each Service of a pod's namespace. One named `berth` brings
    /// `BERTH_PORT=tcp://10.96.10.5:80`, one named `berth-grpc` a setting's own name, and one named
    /// `serving` names of another server.
    private static final Pattern SERVICE_LINK = Pattern.compile(
            "(BERTH|MMS|SERVING|TS)_(.+_)?(SERVICE_(HOST|PORT(_.+)?)=.*|PORT_\\d+_(TCP|UDP|SCTP)(_.+)?=.*|PORT=(tcp|udp|sctp)://.*)");

    /// Variables of the platform, the SDK and other servers that are no settings here. Those which
    /// mean the same as a setting are variables of it, where it is declared.
    ///
    /// @param variables names and values, with `=` between them
    /// @param advice what to do instead; empty: nobody misses them
    private record OfOthers(Pattern variables, String advice) {

        private OfOthers(String variables, String advice) {
            this(Pattern.compile(variables, Pattern.DOTALL), advice);
        }

        boolean has(Map.Entry<String, String> variable) {
            return variables.matcher(variable.toString()).matches();
        }
    }

    /// The first one counts. docs/migrate.md has the same table.
    private static final List<OfOthers> OF_OTHERS = List.of(
            new OfOthers(
                    "SAGEMAKER_(HANDLER|REGION|SAFE_PORT_RANGE|SECURE_MODE|SECURITY_CONTROLS"
                            + "|STARTUP_TIMEOUT|UNTRUSTED_CHANNELS|MODEL_SERVER_VMARGS|MODEL_STORE"
                            + "|HEALTH_CHECK_OVERRIDE|ENABLE_LOAD_AWARE)=.*"
                            // Where the SDK says that the code is, and where it is looked for.
                            + "|SAGEMAKER_SUBMIT_DIRECTORY=(file://)?/opt/ml/model/code/?"
                            // Has nothing to do with TorchServe.
                            + "|TS_NODE_.*",
                    ""),
            new OfOthers(
                    "SAGEMAKER_SUBMIT_DIRECTORY=.*",
                    "hooks are taken from code/ of the model artifact, and Python is not run;"
                            + " docs/migrate.md turns an inference.py into Java"),
            new OfOthers(
                    "(SAGEMAKER_TS|SERVING)_MIN_WORKERS=.*", "workers do not come and go; --workers is their number"),
            new OfOthers("(SAGEMAKER_TS|SAGEMAKER|TS|MMS|SERVING)_MAX_RESPONSE_SIZE=.*", "answers may have any size"),
            new OfOthers(
                    "(SAGEMAKER_RESPONSE|SERVING_CHUNKED_READ)_TIMEOUT=.*",
                    "--timeout bounds an answer, --stream-part-timeout the parts of a stream"),
            new OfOthers(
                    "SAGEMAKER_(ENABLE_STATEFUL_SESSIONS|SESSIONS_(EXPIRATION|PATH))=.*",
                    "sessions are those of a SessionHandler, which says how long they live;"
                            + " --max-sessions is how many there may be"),
            new OfOthers(
                    "SAGEMAKER_(TFS|GUNICORN)_.*",
                    "of the TensorFlow container; --max-batch-size, --max-batch-delay-ms, --workers and"
                            + " --timeout say the same"),
            new OfOthers(
                    "(TS|MMS|SERVING)_(INFERENCE|MANAGEMENT|METRICS|GRPC_INFERENCE)_(ADDRESS|PORT)=.*",
                    "--host and --port say where the server listens, --grpc-port where it speaks gRPC"),
            new OfOthers(
                    "HF_TASK=.*", "the task is that of model.json, or follows from config.json of a model of the hub"),
            new OfOthers(
                    "HF_MODEL_REVISION=.*",
                    "nothing is downloaded; the directory that --model-dir names is served as it is"),
            new OfOthers(
                    "OPTION_.*",
                    "of DJL Serving's models; model.json describes a model, --instance-type, --workers and"
                            + " --max-batch-size how it is run"),
            new OfOthers(
                    "(SAGEMAKER_TS|TS|MMS|SERVING)_.*",
                    "of another model server; docs/migrate.md has the settings that say the same"));

    private static final int SLIP = 2;

    /// The variable that each spelling means.
    private final Map<String, String> spellings = new HashMap<>();

    private final Set<String> known;

    VariableNames(List<Setting> settings) {
        known = settings.stream()
                .flatMap(setting -> setting.variables().stream())
                .collect(Collectors.toUnmodifiableSet());
        // A setting also under the name it would have if it were ours, so that BERTH_PORT finds
        // SAGEMAKER_BIND_TO_PORT.
        settings.forEach(setting ->
                spellings.put(Reading.ours(setting.name()), setting.variables().getFirst()));
        known.forEach(name -> spellings.put(name, name));
    }

    static Map<String, String> withoutServiceLinks(Map<String, String> environment) {
        return environment.entrySet().stream()
                .filter(variable -> !SERVICE_LINK.matcher(variable.toString()).matches())
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /// Notes an unknown name that is ours as a problem. One of another server, and any that looks
    /// like a slip, is a warning.
    void check(Map<String, String> environment, List<String> problems, List<String> warnings) {
        var unknown = new TreeMap<>(environment);
        unknown.keySet().removeAll(known);
        for (var others : OF_OTHERS) {
            var found = unknown.entrySet().stream()
                    .filter(others::has)
                    .map(Map.Entry::copyOf)
                    .toList();
            var names = found.stream()
                    .filter(variable -> !variable.getValue().isBlank())
                    .map(Map.Entry::getKey)
                    .collect(Collectors.joining(", "));
            if (!names.isEmpty() && !others.advice.isEmpty()) {
                warnings.add("%s: no effect here; %s".formatted(names, others.advice));
            }
            unknown.entrySet().removeAll(found);
        }
        unknown.keySet().stream()
                .filter(name -> name.matches("(BERTH|SAGEMAKER|SM)_.*"))
                .forEach(name -> {
                    var hint = near(name).map("did you mean %s?"::formatted);
                    if (name.startsWith(Reading.OURS)) {
                        problems.add("%s: there is no such setting; %s"
                                .formatted(name, hint.orElse("see serve --help for those there are")));
                    } else {
                        hint.ifPresent(meant -> warnings.add("%s: %s".formatted(name, meant)));
                    }
                });
    }

    /// The variable that `name` was probably meant to be.
    private Optional<String> near(String name) {
        var distance = new LevenshteinDistance(SLIP);
        return spellings.entrySet().stream()
                .map(spelling -> Map.entry(spelling.getValue(), distance.apply(name, spelling.getKey())))
                .filter(candidate -> candidate.getValue() >= 0)
                .min(Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
                .map(Map.Entry::getKey);
    }
}
