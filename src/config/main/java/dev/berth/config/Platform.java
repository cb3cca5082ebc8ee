package dev.berth.config;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Where the process runs.
///
/// @param environment its variables, but for those that kubelet adds for Services
/// @param home the directory of the `serve` script, where the sample model is
public record Platform(Map<String, String> environment, Path home) {

    /// What kubelet adds for each Service of a pod's namespace. One named `berth` brings
    /// `BERTH_PORT=tcp://10.96.10.5:80`, one named `berth-grpc` a setting's own name, and one named
    /// `serving` names of another server.
    private static final Pattern SERVICE_LINK = Pattern.compile(
            "(BERTH|MMS|SERVING|TS)_(.+_)?(SERVICE_(HOST|PORT(_.+)?)=.*|PORT_\\d+_(TCP|UDP|SCTP)(_.+)?=.*|PORT=(tcp|udp|sctp)://.*)");

    /// What is set on platforms only.
    private static final List<String> OF_SAGEMAKER =
            List.of("SAGEMAKER_MULTI_MODEL", "SAGEMAKER_BATCH", "SAGEMAKER_REGION", "SAGEMAKER_SAFE_PORT_RANGE");

    /// What other platforms set where they run a container. Nobody there looks at a page.
    private static final Pattern OF_OTHERS = Pattern.compile(
            "AIP_.+|K_SERVICE|AZUREML_.+|KUBERNETES_SERVICE_HOST|ECS_CONTAINER_METADATA_URI.*|AWS_CONTAINER_CREDENTIALS_.+");

    public Platform {
        environment = environment.entrySet().stream()
                .filter(variable -> !SERVICE_LINK.matcher(variable.toString()).matches())
                .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
    }

    /// Whether SageMaker runs the container.
    public boolean isSageMaker() {
        return ofSageMaker().findAny().isPresent();
    }

    /// Whether any platform does.
    public boolean isAny() {
        return isSageMaker()
                || environment.keySet().stream()
                        .anyMatch(name -> OF_OTHERS.matcher(name).matches() && isOn(name));
    }

    /// The variables by which SageMaker shows.
    Stream<String> ofSageMaker() {
        return OF_SAGEMAKER.stream().filter(this::isOn);
    }

    private boolean isOn(String name) {
        var value = environment.getOrDefault(name, "").strip();
        return !value.isEmpty() && !value.equalsIgnoreCase("false");
    }
}
