package dev.berth.config;

import static dev.berth.config.Reading.number;

import dev.berth.hooks.MediaType;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/// How the server takes requests.
///
/// @param maxPayloadBytes `Long.MAX_VALUE` is unlimited
/// @param healthRoute a path that answers as `/ping` does, for Vertex AI
public record HttpConfig(
        Listen listen,
        long maxPayloadBytes,
        MediaType defaultAccept,
        Optional<String> healthRoute,
        boolean compression,
        Shutdown shutdown) {

    /// Where connections come in.
    ///
    /// @param maxConnections lowers the limit that follows from the process's descriptors and heap
    /// @param maxConnectionsPerAddress empty: one address may have all of them, as behind a load
    ///   balancer
    /// @param tls empty: no port speaks TLS
    public record Listen(
            String host,
            int port,
            OptionalInt maxConnections,
            OptionalInt maxConnectionsPerAddress,
            Optional<TlsConfig> tls) {

        /// Whether only this machine can connect.
        public boolean isLocal() {
            try {
                return InetAddress.getByName(host).isLoopbackAddress();
            } catch (UnknownHostException _) {
                // The server can't listen there either.
                return false;
            }
        }
    }

    /// What happens after SIGTERM.
    ///
    /// @param lameDuck how long new requests are still served
    /// @param drain how long requests may then go on
    public record Shutdown(Duration lameDuck, Duration drain) {}

    /// Those of a server that listens on all addresses.
    private static final List<String> EVERYWHERE = List.of("0.0.0.0", "::", "[::]");

    static HttpConfig read(Reading reading) {
        return new HttpConfig(
                new Listen(
                        host(reading),
                        port(reading),
                        number(reading.optional("--max-connections", Syntax.positive())),
                        number(reading.optional("--max-connections-per-address", Syntax.positive())),
                        TlsConfig.read(reading)),
                reading.value(
                        "--max-payload-mb",
                        Syntax.mebibytes()
                                .in("SAGEMAKER_MAX_REQUEST_SIZE", Syntax.bytes())
                                .in("TS_MAX_REQUEST_SIZE", Syntax.bytes())
                                .in("MMS_MAX_REQUEST_SIZE", Syntax.bytes())
                                .in("SERVING_MAX_REQUEST_SIZE", Syntax.bytes()),
                        100L * 1024 * 1024),
                reading.value("--default-accept", Syntax.mediaType(), MediaType.JSON),
                route(reading, "health-route", "/ping"),
                reading.value("--compression", Syntax.trueOrFalse(), false),
                new Shutdown(
                        reading.value("--lame-duck-seconds", Syntax.seconds(0), Duration.ZERO),
                        reading.value("--drain-seconds", Syntax.seconds(0), Duration.ofSeconds(20))));
    }

    public static int port(Reading reading) {
        return reading.value("--port", Syntax.wholeNumber(0, 65535), 8080);
    }

    /// The image sets the variable.
    static String host(Reading reading) {
        return reading.value(
                "--host",
                Syntax.word("<host>", "a host name or an address"),
                PlatformConfig.of(reading.environment()).isAny() ? EVERYWHERE.getFirst() : "127.0.0.1");
    }

    /// A path that a platform names.
    ///
    /// @param others the server's own paths that it may be all the same
    public static Optional<String> route(Reading reading, String name, String... others) {
        // No segment begins with a colon, which routers take for a parameter.
        var syntax = Syntax.matching(
                "<path>",
                "a path of letters, digits and / _ . : @ ~ - that starts with /",
                "(?=.{1,1024}$)(/(?!:)[a-zA-Z0-9_.:@~\\-]*)+");
        var path = reading.optional(name, syntax);
        path.filter(own -> !List.of(others).contains(own))
                .ifPresent(own -> reading.claim(name, own, others[0] + " or a path of its own"));
        return path;
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
