package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.config.ConfigurationException;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The JSON of a `CreateTransformJob` call, as it is.
public record JobFile(Map<JobOption, String> options, Map<String, String> environment) {

    private static final String ENVIRONMENT = "Environment.";

    /// What only matters to the platform.
    private static final Set<String> IGNORED = Set.of(
            "TransformJobName",
            "ModelName",
            "Tags",
            "ExperimentConfig",
            "DataCaptureConfig",
            "TransformResources.InstanceType",
            "TransformResources.VolumeKmsKeyId",
            "TransformResources.TransformAmiVersion",
            "TransformOutput.KmsKeyId");

    /// @throws ConfigurationException when it can't be read, or has a field that the API does not know
    public static JobFile read(Path file) {
        var problems = new ArrayList<String>();
        var read = new JobFile(new EnumMap<>(JobOption.class), new LinkedHashMap<>());
        try {
            var json = JsonText.read(file);
            fields(json, "").forEach((path, value) -> read.add(path, value, problems));
            if (!json.isObject()) {
                problems.add("found no JSON object, expected that of a CreateTransformJob call");
            }
        } catch (NotJsonException e) {
            problems.add(e.getMessage());
        } catch (IOException e) {
            problems.add("can't be read: " + e);
        }
        if (!problems.isEmpty()) {
            throw new ConfigurationException(
                    problems.stream().map(each -> file + ": " + each).toList());
        }
        return read;
    }

    private void add(String path, String value, List<String> problems) {
        var option = Arrays.stream(JobOption.values())
                .filter(each -> each.field().equals(path))
                .findFirst();
        if (path.startsWith(ENVIRONMENT)) {
            environment.put(path.substring(ENVIRONMENT.length()), value);
        } else if (option.isPresent()) {
            options.put(option.get(), value);
        } else if (!isIgnored(path)) {
            problems.add(path + ": found a field that CreateTransformJob does not have");
        }
    }

    /// Also below one of these.
    private static boolean isIgnored(String path) {
        return IGNORED.stream()
                .anyMatch(each -> path.equals(each) || path.startsWith(each + ".") || path.startsWith(each + "["));
    }

    /// The leaves by their path.
    private static Map<String, String> fields(JsonNode json, String path) {
        var fields = new LinkedHashMap<String, String>();
        if (json.isObject()) {
            json.properties()
                    .forEach(field -> fields.putAll(
                            fields(field.getValue(), path.isEmpty() ? field.getKey() : path + "." + field.getKey())));
        } else if (json.isArray()) {
            for (int i = 0; i < json.size(); i++) {
                fields.putAll(fields(json.path(i), "%s[%d]".formatted(path, i)));
            }
        } else if (!json.isNull() && !path.isEmpty()) {
            fields.put(path, json.asText());
        }
        return fields;
    }
}
