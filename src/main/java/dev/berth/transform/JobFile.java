package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The JSON of a call that makes a job, as it is: SageMaker's `CreateTransformJob`, or Bedrock's
/// `CreateModelInvocationJob`.
///
/// @param options what it says of the job
/// @param environment its `Environment`
public record JobFile(Map<JobOption, String> options, Map<String, String> environment) {

  /// What only matters to the platform.
  private static final Set<String> IGNORED =
      Set.of(
          "TransformJobName",
          "ModelName",
          "Tags",
          "ExperimentConfig",
          "DataCaptureConfig",
          "TransformResources.InstanceType",
          "TransformResources.VolumeKmsKeyId",
          "TransformResources.TransformAmiVersion",
          "TransformOutput.KmsKeyId");

  private static final String ENVIRONMENT = "Environment";

  /// @throws JobException when it can't be read, or has a field that the API does not know
  public static JobFile read(Path file) throws JobException {
    JsonNode json;
    try {
      json = JsonText.read(file);
    } catch (NotJsonException e) {
      throw new JobException(List.of("%s: %s".formatted(file, e.getMessage())));
    } catch (IOException e) {
      throw new JobException(List.of("%s: can't be read: %s".formatted(file, e)));
    }
    if (BedrockJobFile.isOne(json)) {
      return new JobFile(BedrockJobFile.options(file, fields(json, "")), Map.of());
    }
    var options = new EnumMap<JobOption, String>(JobOption.class);
    var environment = new LinkedHashMap<String, String>();
    var problems = new ArrayList<String>();
    fields(json, "")
        .forEach(
            (path, value) -> {
              if (path.startsWith(ENVIRONMENT + ".")) {
                environment.put(path.substring(ENVIRONMENT.length() + 1), value);
                return;
              }
              for (var option : JobOption.values()) {
                if (option.field().equals(path)) {
                  options.put(option, value);
                  return;
                }
              }
              if (!isBelow(path, IGNORED)) {
                problems.add(
                    "%s: %s: found a field that CreateTransformJob does not have"
                        .formatted(file, path));
              }
            });
    if (!json.isObject()) {
      problems.add(
          "%s: found no JSON object, expected that of a CreateTransformJob call".formatted(file));
    }
    if (!problems.isEmpty()) {
      throw new JobException(problems);
    }
    return new JobFile(options, environment);
  }

  /// Whether a path is one of these, or below one.
  static boolean isBelow(String path, Set<String> known) {
    return known.stream()
        .anyMatch(
            each ->
                path.equals(each) || path.startsWith(each + ".") || path.startsWith(each + "["));
  }

  /// The leaves by their path.
  private static Map<String, String> fields(JsonNode json, String path) {
    var fields = new LinkedHashMap<String, String>();
    if (json.isObject()) {
      json.properties()
          .forEach(
              field ->
                  fields.putAll(
                      fields(
                          field.getValue(),
                          path.isEmpty() ? field.getKey() : path + "." + field.getKey())));
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
