package dev.berth.config;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.commons.text.similarity.LevenshteinDistance;

/// Which environment variables are ours, and which one somebody meant who spelled a name wrongly.
///
/// The platform, the SDK and other people's containers share the prefix `SAGEMAKER_` and may add
/// names at any time, so an unknown one is no problem. `BERTH_` is ours alone.
final class VariableNames {

  static final String OURS = "BERTH_";

  /// What kubelet adds for each Service of a pod's namespace. One named `berth` brings
  /// `BERTH_PORT=tcp://10.96.10.5:80`, and one named `berth-grpc` a setting's own name.
  private static final Pattern SERVICE_LINK =
      Pattern.compile(
          "BERTH_(.+_)?(SERVICE_(HOST|PORT(_.+)?)=.*|PORT_\\d+_(TCP|UDP|SCTP)(_.+)?=.*|PORT=(tcp|udp|sctp)://.*)");

  private static final Set<String> READ =
      Settings.ALL.stream()
          .flatMap(setting -> setting.variables().stream())
          .map(Setting.Variable::name)
          .collect(Collectors.toUnmodifiableSet());

  /// Names of the platform, the SDK and AWS's own containers that mean nothing here. They are
  /// spelled rightly.
  private static final Set<String> OF_OTHERS =
      Set.of(
          "SAGEMAKER_SAFE_PORT_RANGE",
          "SAGEMAKER_SECURE_MODE",
          "SAGEMAKER_SECURITY_CONTROLS",
          "SAGEMAKER_UNTRUSTED_CHANNELS",
          "SAGEMAKER_SUBMIT_DIRECTORY",
          "SAGEMAKER_REGION",
          "SAGEMAKER_MODEL_SERVER_VMARGS",
          "SAGEMAKER_STARTUP_TIMEOUT",
          "SAGEMAKER_MAX_RESPONSE_SIZE",
          "SAGEMAKER_RESPONSE_TIMEOUT",
          "SAGEMAKER_MODEL_STORE",
          "SAGEMAKER_HANDLER",
          "SAGEMAKER_TS_MIN_WORKERS",
          "SAGEMAKER_TS_MAX_WORKERS",
          "SAGEMAKER_TS_RESPONSE_TIMEOUT",
          "SAGEMAKER_HEALTH_CHECK_OVERRIDE",
          "SAGEMAKER_ENABLE_STATEFUL_SESSIONS",
          "SAGEMAKER_SESSIONS_EXPIRATION",
          "SAGEMAKER_SESSIONS_PATH",
          "SAGEMAKER_ENABLE_LOAD_AWARE");

  private static final int SLIP = 2;

  private VariableNames() {}

  static Map<String, String> withoutServiceLinks(Map<String, String> environment) {
    return environment.entrySet().stream()
        .filter(variable -> !SERVICE_LINK.matcher(variable.toString()).matches())
        .collect(Collectors.toUnmodifiableMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  static boolean isKnown(String name) {
    return READ.contains(name) || OF_OTHERS.contains(name);
  }

  /// The variable that `name` was probably meant to be.
  static Optional<String> near(String name) {
    var distance = new LevenshteinDistance(SLIP);
    return spellings().entrySet().stream()
        .map(spelling -> Map.entry(spelling.getValue(), distance.apply(name, spelling.getKey())))
        .filter(candidate -> candidate.getValue() >= 0)
        .min(
            Map.Entry.<String, Integer>comparingByValue().thenComparing(Map.Entry.comparingByKey()))
        .map(Map.Entry::getKey);
  }

  /// Each variable under its own name; and under the name it would have if it were ours, so that
  /// `BERTH_PORT` finds `SAGEMAKER_BIND_TO_PORT`.
  private static Map<String, String> spellings() {
    var spellings = new HashMap<String, String>();
    for (var setting : Settings.ALL) {
      var ours = OURS + setting.name().replace('-', '_').toUpperCase(Locale.ROOT);
      spellings.put(ours, setting.variables().getFirst().name());
    }
    READ.forEach(name -> spellings.put(name, name));
    return spellings;
  }

  static Stream<String> suspicious(Set<String> names) {
    return names.stream()
        .filter(
            name ->
                name.startsWith(OURS) || name.startsWith("SAGEMAKER_") || name.startsWith("SM_"))
        .filter(name -> !isKnown(name))
        .sorted();
  }
}
