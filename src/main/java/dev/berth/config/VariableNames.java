package dev.berth.config;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.commons.text.similarity.LevenshteinDistance;

/// Which environment variables are ours, and which one somebody meant who spelled a name wrongly.
///
/// The platform, the SDK and other people's containers share the prefix `SAGEMAKER_` and may add
/// names at any time, so an unknown one is no problem. `BERTH_` is ours alone.
final class VariableNames {

  /// What kubelet adds for each Service of a pod's namespace. One named `berth` brings
  /// `BERTH_PORT=tcp://10.96.10.5:80`, and one named `berth-grpc` a setting's own name.
  private static final Pattern SERVICE_LINK =
      Pattern.compile(
          "BERTH_(.+_)?(SERVICE_(HOST|PORT(_.+)?)=.*|PORT_\\d+_(TCP|UDP|SCTP)(_.+)?=.*|PORT=(tcp|udp|sctp)://.*)");

  /// Names of the platform, the SDK and AWS's own containers that mean nothing here. They are
  /// spelled rightly.
  private static final Pattern OF_OTHERS =
      Pattern.compile(
          "SAGEMAKER_(HANDLER|REGION|SAFE_PORT_RANGE|SECURE_MODE|SECURITY_CONTROLS|STARTUP_TIMEOUT"
              + "|SUBMIT_DIRECTORY|UNTRUSTED_CHANNELS|MODEL_SERVER_VMARGS|MODEL_STORE"
              + "|MAX_RESPONSE_SIZE|RESPONSE_TIMEOUT|TS_(MIN_WORKERS|MAX_WORKERS|RESPONSE_TIMEOUT)"
              + "|HEALTH_CHECK_OVERRIDE|ENABLE_STATEFUL_SESSIONS|SESSIONS_(EXPIRATION|PATH)"
              + "|ENABLE_LOAD_AWARE)");

  private static final int SLIP = 2;

  /// The variable that each spelling means.
  private final Map<String, String> spellings = new HashMap<>();

  private final Set<String> known;

  VariableNames(List<Setting> settings) {
    known =
        settings.stream()
            .flatMap(setting -> setting.variables().stream())
            .collect(Collectors.toUnmodifiableSet());
    // A setting also under the name it would have if it were ours, so that BERTH_PORT finds
    // SAGEMAKER_BIND_TO_PORT.
    settings.forEach(
        setting -> spellings.put(Reading.ours(setting.name()), setting.variables().getFirst()));
    known.forEach(name -> spellings.put(name, name));
  }

  static Map<String, String> withoutServiceLinks(Map<String, String> environment) {
    return environment.entrySet().stream()
        .filter(variable -> !SERVICE_LINK.matcher(variable.toString()).matches())
        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  /// Notes an unknown name that is ours as a problem, and any other one that looks like a slip as a
  /// warning.
  void check(Set<String> names, List<String> problems, List<String> warnings) {
    names.stream()
        .filter(name -> name.matches("(BERTH|SAGEMAKER|SM)_.*"))
        .filter(name -> !known.contains(name) && !OF_OTHERS.matcher(name).matches())
        .sorted()
        .forEach(
            name -> {
              var hint = near(name).map("did you mean %s?"::formatted);
              if (name.startsWith(Reading.OURS)) {
                problems.add(
                    "%s: there is no such setting; %s"
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
        .min(
            Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
        .map(Map.Entry::getKey);
  }
}
