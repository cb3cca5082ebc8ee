package dev.berth.config;

import static dev.berth.config.Syntax.bytes;
import static dev.berth.config.Syntax.positive;
import static dev.berth.config.Syntax.seconds;

import dev.berth.hooks.MediaType;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/// How the server takes requests.
public final class HttpConfig implements SettingGroup {

    private static final Settings SETTINGS = Settings.of(HttpConfig.class);

    /// Those of a server that listens on all addresses.
    private static final List<String> EVERYWHERE = List.of("0.0.0.0", "::", "[::]");

    private static final Syntax<Path> FILE =
            new Syntax<>("<file>", "a file that exists", Path::of).where(Files::isRegularFile);

    /// A path that a platform names. No segment begins with a colon, which routers take for a parameter.
    public static final Syntax<String> ROUTE = Syntax.matching(
            "<path>",
            "a path of letters, digits and / _ . : @ ~ - that starts with /",
            "(?=.{1,1024}$)(/(?!:)[a-zA-Z0-9_.:@~\\-]*)+");

    public static final Setting<String> HOST = SETTINGS.of(
            "host",
            Syntax.word("<host>", "a host name or an address"),
            platform -> platform.isAny() ? EVERYWHERE.getFirst() : "127.0.0.1");
    public static final Setting<Integer> PORT = SETTINGS.of("port", Syntax.wholeNumber(0, 65535));

    /// Lowers the limit that follows from the process's descriptors and heap.
    public static final Setting<Integer> MAX_CONNECTIONS = SETTINGS.of("max-connections", positive());

    /// Unset: one address may have all of them, as behind a load balancer.
    public static final Setting<Integer> MAX_CONNECTIONS_PER_ADDRESS =
            SETTINGS.of("max-connections-per-address", positive());

    private static final Setting<Path> TLS_CERTIFICATE = SETTINGS.of("tls-certificate", FILE);
    private static final Setting<Path> TLS_KEY = SETTINGS.of("tls-key", FILE);

    /// `Long.MAX_VALUE` is unlimited.
    public static final Setting<Long> MAX_PAYLOAD = SETTINGS.of(
            "max-payload-mb",
            Syntax.mebibytes()
                    .in("SAGEMAKER_MAX_REQUEST_SIZE", bytes())
                    .in("TS_MAX_REQUEST_SIZE", bytes())
                    .in("MMS_MAX_REQUEST_SIZE", bytes())
                    .in("SERVING_MAX_REQUEST_SIZE", bytes()));

    public static final Setting<MediaType> DEFAULT_ACCEPT = SETTINGS.of("default-accept", Syntax.mediaType());

    /// Answers as `/ping` does, for Vertex AI.
    public static final Setting<String> HEALTH_ROUTE = SETTINGS.of("health-route", ROUTE);

    public static final Setting<Boolean> COMPRESSION = SETTINGS.of("compression", Syntax.trueOrFalse());

    /// How long new requests are still served after SIGTERM.
    public static final Setting<Duration> LAME_DUCK = SETTINGS.of("lame-duck-seconds", seconds(0));

    /// How long requests may then go on.
    public static final Setting<Duration> DRAIN = SETTINGS.of("drain-seconds", seconds(0));

    @Override
    public void check(ServerConfig config, Findings findings) {
        findings.claim(HEALTH_ROUTE, config.find(HEALTH_ROUTE), "/ping");
        if (config.isChosen(TLS_CERTIFICATE) != config.isChosen(TLS_KEY)) {
            findings.problem("tls-certificate, tls-key: found one of them, expected both or none");
        }
        tls(config).ifPresent(files -> {
            try {
                files.load();
            } catch (GeneralSecurityException e) {
                findings.problem(e.getMessage());
            }
        });
    }

    /// Empty: no port speaks TLS.
    public static Optional<TlsConfig> tls(ServerConfig config) {
        return config.find(TLS_CERTIFICATE)
                .flatMap(chain -> config.find(TLS_KEY).map(key -> new TlsConfig(chain, key)));
    }

    /// Whether only this machine can connect.
    public static boolean isLocal(ServerConfig config) {
        try {
            return InetAddress.getByName(config.get(HOST)).isLoopbackAddress();
        } catch (UnknownHostException _) {
            // The server can't listen there either.
            return false;
        }
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
