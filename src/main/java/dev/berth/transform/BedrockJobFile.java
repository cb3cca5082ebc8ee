package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Sha256;
import java.math.BigInteger;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The JSON of a `CreateModelInvocationJob` call of Bedrock.
final class BedrockJobFile {

  private static final String INPUT = "inputDataConfig.s3InputDataConfig.s3Uri";
  private static final String INPUT_FORMAT = "inputDataConfig.s3InputDataConfig.s3InputFormat";
  private static final String OUTPUT = "outputDataConfig.s3OutputDataConfig.s3Uri";
  private static final String NAME = "jobName";
  private static final String TOKEN = "clientRequestToken";
  private static final String MODEL = "modelId";
  private static final String INVOCATION_TYPE = "modelInvocationType";
  private static final Set<String> READ =
      Set.of(INPUT, INPUT_FORMAT, OUTPUT, NAME, TOKEN, MODEL, INVOCATION_TYPE);

  /// What only matters to the platform.
  private static final Set<String> IGNORED =
      Set.of(
          "roleArn",
          "tags",
          "vpcConfig",
          "timeoutDurationInHours",
          "inputDataConfig.s3InputDataConfig.s3BucketOwner",
          "outputDataConfig.s3OutputDataConfig.s3BucketOwner",
          "outputDataConfig.s3OutputDataConfig.s3EncryptionKeyId");

  /// The service's ids have as many letters and digits.
  private static final int ID_LENGTH = 12;

  private BedrockJobFile() {}

  static boolean isOne(JsonNode json) {
    return json.has("inputDataConfig") || json.has("outputDataConfig");
  }

  /// @param fields the leaves by their path
  static Map<JobOption, String> options(Path file, Map<String, String> fields) throws JobException {
    var problems = new ArrayList<String>();
    fields.keySet().stream()
        .filter(path -> !READ.contains(path) && !JobFile.isBelow(path, IGNORED))
        .forEach(
            path ->
                problems.add(
                    "%s: %s: found a field that CreateModelInvocationJob does not have"
                        .formatted(file, path)));
    if (!fields.containsKey(NAME)) {
      problems.add("%s: %s: found nothing, expected a name".formatted(file, NAME));
    }
    require(file, fields, INPUT_FORMAT, "JSONL", problems);
    require(file, fields, INVOCATION_TYPE, "InvokeModel", problems);
    if (!problems.isEmpty()) {
      throw new JobException(problems);
    }
    var options = new EnumMap<JobOption, String>(JobOption.class);
    options.put(JobOption.FORMAT, Envelope.BEDROCK.toString());
    if (fields.containsKey(INPUT)) {
      options.put(JobOption.INPUT, fields.get(INPUT));
    }
    if (fields.containsKey(OUTPUT)) {
      options.put(
          JobOption.OUTPUT,
          "%s/%s".formatted(fields.get(OUTPUT).replaceFirst("/+$", ""), id(fields)));
    }
    return options;
  }

  private static void require(
      Path file, Map<String, String> fields, String field, String expected, List<String> problems) {
    var found = fields.getOrDefault(field, expected);
    if (!found.equals(expected)) {
      problems.add("%s: %s: found %s, expected %s".formatted(file, field, found, expected));
    }
  }

  /// The same for the same call, so that a job goes on when it is run again.
  private static String id(Map<String, String> fields) {
    var job =
        List.of(NAME, TOKEN, MODEL, INPUT).stream()
            .map(field -> fields.getOrDefault(field, ""))
            .toList();
    var digits = new BigInteger(1, Sha256.of(String.join("\n", job))).toString(Character.MAX_RADIX);
    return digits.substring(digits.length() - ID_LENGTH);
  }
}
