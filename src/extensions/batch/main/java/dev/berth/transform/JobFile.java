package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.config.ConfigurationException;
import dev.berth.content.Sha256;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The JSON of a call that makes a job, as it is: SageMaker's `CreateTransformJob`, or Bedrock's
/// `CreateModelInvocationJob`.
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

    private static final String INPUT = "inputDataConfig.s3InputDataConfig.s3Uri";
    private static final String INPUT_FORMAT = "inputDataConfig.s3InputDataConfig.s3InputFormat";
    private static final String OUTPUT = "outputDataConfig.s3OutputDataConfig.s3Uri";
    private static final String NAME = "jobName";
    private static final String INVOCATION_TYPE = "modelInvocationType";

    /// What makes a job of Bedrock's another one.
    private static final List<String> IDENTITY = List.of(NAME, "clientRequestToken", "modelId", INPUT);

    private static final Set<String> IGNORED_OF_BEDROCK = Set.of(
            "roleArn",
            "tags",
            "vpcConfig",
            "timeoutDurationInHours",
            "inputDataConfig.s3InputDataConfig.s3BucketOwner",
            "outputDataConfig.s3OutputDataConfig.s3BucketOwner",
            "outputDataConfig.s3OutputDataConfig.s3EncryptionKeyId");

    /// The service's ids have as many letters and digits.
    private static final int ID_LENGTH = 12;

    /// @throws ConfigurationException when it can't be read, or has a field that the API does not know
    public static JobFile read(Path file) {
        var problems = new ArrayList<String>();
        var read = new JobFile(new EnumMap<>(JobOption.class), new LinkedHashMap<>());
        try {
            var json = JsonText.read(file);
            var fields = fields(json, "");
            if (json.has("inputDataConfig") || json.has("outputDataConfig")) {
                read.addBedrocks(fields, problems);
            } else {
                fields.forEach((path, value) -> read.add(path, value, problems));
            }
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
        } else if (!isBelow(path, IGNORED)) {
            problems.add(path + ": found a field that CreateTransformJob does not have");
        }
    }

    private void addBedrocks(Map<String, String> fields, List<String> problems) {
        var read = Set.of(INPUT_FORMAT, OUTPUT, INVOCATION_TYPE);
        for (var path : fields.keySet()) {
            if (!read.contains(path) && !IDENTITY.contains(path) && !isBelow(path, IGNORED_OF_BEDROCK)) {
                problems.add(path + ": found a field that CreateModelInvocationJob does not have");
            }
        }
        if (!fields.containsKey(NAME)) {
            problems.add(NAME + ": found nothing, expected a name");
        }
        Map.of(INPUT_FORMAT, "JSONL", INVOCATION_TYPE, "InvokeModel").forEach((field, expected) -> {
            var found = fields.getOrDefault(field, expected);
            if (!found.equals(expected)) {
                problems.add("%s: found %s, expected %s".formatted(field, found, expected));
            }
        });
        options.put(JobOption.FORMAT, Envelope.BEDROCK.toString());
        if (fields.containsKey(INPUT)) {
            options.put(JobOption.INPUT, fields.get(INPUT));
        }
        if (fields.containsKey(OUTPUT)) {
            options.put(JobOption.OUTPUT, "%s/%s".formatted(fields.get(OUTPUT).replaceFirst("/+$", ""), id(fields)));
        }
    }

    /// The same for the same call, so that a job goes on when it is run again.
    private static String id(Map<String, String> fields) {
        var job = IDENTITY.stream().map(field -> fields.getOrDefault(field, "")).toList();
        var digits = new BigInteger(1, Sha256.of(String.join("\n", job))).toString(Character.MAX_RADIX);
        return digits.substring(digits.length() - ID_LENGTH);
    }

    /// Whether a path is one of these, or below one.
    private static boolean isBelow(String path, Set<String> known) {
        return known.stream()
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
