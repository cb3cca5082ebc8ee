package dev.berth.config;

import dev.berth.hooks.MediaType;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.OptionalInt;

/// How the server listens.
///
/// @param port 0 takes any free port
/// @param maxPayloadBytes the largest request body; `Long.MAX_VALUE` is unlimited
/// @param defaultAccept the response's type for a caller that names none, or `*/*`
/// @param page whether `/`, `/docs` and `/openapi.json` are there
/// @param lameDuck how long new requests are still served after SIGTERM while `/ping` is 503
///   already
/// @param drain how long requests may go on after SIGTERM; SageMaker kills the process after 30
///   seconds
/// @param maxConnections lowers the limit that follows from the process's descriptors and heap
/// @param maxConnectionsPerAddress empty: one address may have all of them, as behind a load
///   balancer
public record HttpConfig(
    String host,
    int port,
    long maxPayloadBytes,
    MediaType defaultAccept,
    String metricsPath,
    boolean page,
    Duration lameDuck,
    Duration drain,
    OptionalInt maxConnections,
    OptionalInt maxConnectionsPerAddress) {

  /// Those of a server that listens on all addresses.
  private static final List<String> EVERYWHERE = List.of("0.0.0.0", "::", "[::]");

  public HttpConfig {
    Objects.requireNonNull(host, "host");
    Objects.requireNonNull(defaultAccept, "defaultAccept");
    Objects.requireNonNull(metricsPath, "metricsPath");
    Require.between("port", port, 0, 65535);
    Require.atLeast("maxPayloadBytes", maxPayloadBytes, 1);
    Require.atLeast("lameDuck", lameDuck.toMillis(), 0);
    Require.atLeast("drain", drain.toMillis(), 0);
    maxConnections.ifPresent(most -> Require.atLeast("maxConnections", most, 1));
    maxConnectionsPerAddress.ifPresent(
        most -> Require.atLeast("maxConnectionsPerAddress", most, 1));
  }

  /// A host as it stands in a URL: `[::1]`.
  public static String inUrl(String host) {
    return host.contains(":") && !host.startsWith("[") ? "[" + host + "]" : host;
  }

  /// The same for clients on the machine itself.
  ///
  /// @param ifEverywhere used where the server listens on all addresses
  public static String inUrl(String host, String ifEverywhere) {
    return EVERYWHERE.contains(host) ? ifEverywhere : inUrl(host);
  }
}
