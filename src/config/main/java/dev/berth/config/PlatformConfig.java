package dev.berth.config;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// What a platform other than SageMaker asks for: the paths of a Vertex AI container.
///
/// @param healthRoute a path that answers as `/ping` does
/// @param predictRoute a path that takes `{"instances": […]}` and answers `{"predictions": […]}`
public record PlatformConfig(Optional<String> healthRoute, Optional<String> predictRoute, boolean isSageMaker) {

    /// What is set on platforms only.
    private static final List<String> OF_SAGEMAKER =
            List.of("SAGEMAKER_MULTI_MODEL", "SAGEMAKER_BATCH", "SAGEMAKER_REGION", "SAGEMAKER_SAFE_PORT_RANGE");

    /// What other platforms set where they run a container. Nobody there looks at a page.
    private static final Pattern OF_OTHERS = Pattern.compile(
            "AIP_.+|K_SERVICE|AZUREML_.+|KUBERNETES_SERVICE_HOST|ECS_CONTAINER_METADATA_URI.*|AWS_CONTAINER_CREDENTIALS_.+");

    /// Other paths of the server must stay what they are; `/ping` and `/invocations` may be named.
    static PlatformConfig read(Reading reading) {
        // No segment begins with a colon, which routers take for a parameter.
        var route = Syntax.matching(
                "<path>",
                "a path of letters, digits and / _ . : @ ~ - that starts with /",
                "(?=.{1,1024}$)(/(?!:)[a-zA-Z0-9_.:@~\\-]*)+");
        var health = reading.optional(
                "health-route",
                route,
                "not set",
                "Set by Vertex AI: a path that answers as /ping does",
                "AIP_HEALTH_ROUTE");
        var predict = reading.optional(
                "predict-route",
                route,
                "not set",
                "Set by Vertex AI: a path that takes {\"instances\": …, \"parameters\": …} and answers"
                        + " {\"predictions\": …}",
                "AIP_PREDICT_ROUTE");
        health.filter(path -> !path.equals("/ping"))
                .filter(path -> HttpConfig.isTaken(path, reading) || predict.equals(health))
                .ifPresent(path -> reading.problem(
                        "AIP_HEALTH_ROUTE: found %s, expected /ping or a path of its own".formatted(path)));
        predict.filter(path -> !path.equals("/invocations") && !path.equals("/inferences"))
                .filter(path -> HttpConfig.isTaken(path, reading))
                .ifPresent(path -> reading.problem(
                        "AIP_PREDICT_ROUTE: found %s, expected /invocations or a path of its own".formatted(path)));
        if (predict.isPresent() && MultiModelConfig.isEnabled(reading)) {
            reading.problem("AIP_PREDICT_ROUTE: found a server of many models, expected one model; name its artifact"
                    + " with BERTH_MODEL_DIR");
        }
        return new PlatformConfig(
                health, predict, ofSageMaker(reading.environment()).findAny().isPresent());
    }

    static Stream<String> ofSageMaker(Map<String, String> environment) {
        return OF_SAGEMAKER.stream().filter(name -> isOn(environment.get(name)));
    }

    static boolean isPresent(Map<String, String> environment) {
        return ofSageMaker(environment).findAny().isPresent()
                || environment.entrySet().stream()
                        .filter(variable -> OF_OTHERS.matcher(variable.getKey()).matches())
                        .anyMatch(variable -> isOn(variable.getValue()));
    }

    private static boolean isOn(String value) {
        return value != null && !value.isBlank() && !value.strip().equalsIgnoreCase("false");
    }
}
