package dev.berth.config;

import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// Which platform runs the container, as its variables tell.
///
/// @param isAny whether one does at all
public record PlatformConfig(boolean isSageMaker, boolean isAny) {

    /// What is set on platforms only.
    private static final List<String> OF_SAGEMAKER =
            List.of("SAGEMAKER_MULTI_MODEL", "SAGEMAKER_BATCH", "SAGEMAKER_REGION", "SAGEMAKER_SAFE_PORT_RANGE");

    /// What other platforms set where they run a container. Nobody there looks at a page.
    private static final Pattern OF_OTHERS = Pattern.compile(
            "AIP_.+|K_SERVICE|AZUREML_.+|KUBERNETES_SERVICE_HOST|ECS_CONTAINER_METADATA_URI.*|AWS_CONTAINER_CREDENTIALS_.+");

    static PlatformConfig of(Map<String, String> environment) {
        boolean isSageMaker = ofSageMaker(environment).findAny().isPresent();
        boolean isOther = environment.entrySet().stream()
                .anyMatch(variable -> OF_OTHERS.matcher(variable.getKey()).matches() && isOn(variable.getValue()));
        return new PlatformConfig(isSageMaker, isSageMaker || isOther);
    }

    static Stream<String> ofSageMaker(Map<String, String> environment) {
        return OF_SAGEMAKER.stream().filter(name -> isOn(environment.get(name)));
    }

    /// A setting for people who try a server: by default true, and false where a platform runs it.
    public static boolean atDesk(String option, Reading reading) {
        return reading.value(option, Syntax.trueOrFalse(), !of(reading.environment()).isAny);
    }

    private static boolean isOn(String value) {
        return value != null && !value.isBlank() && !value.strip().equalsIgnoreCase("false");
    }
}
