package dev.berth.config;

import dev.berth.hooks.MediaType;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/// How the server listens.
///
/// @param maxPayloadBytes `Long.MAX_VALUE` is unlimited
/// @param maxConnections lowers the limit that follows from the process's descriptors and heap
/// @param maxConnectionsPerAddress empty: one address may have all of them, as behind a load
///   balancer
/// @param tls empty: no port speaks TLS
public record HttpConfig(
        String host,
        int port,
        long maxPayloadBytes,
        MediaType defaultAccept,
        String metricsPath,
        boolean page,
        boolean runtimeApi,
        boolean clientPaths,
        boolean compression,
        Duration lameDuck,
        Duration drain,
        OptionalInt maxConnections,
        OptionalInt maxConnectionsPerAddress,
        Optional<TlsConfig> tls) {

    /// Those of a server that listens on all addresses.
    private static final List<String> EVERYWHERE = List.of("0.0.0.0", "::", "[::]");

    static HttpConfig read(Reading reading) {
        int port = port(reading);
        return new HttpConfig(
                host(reading),
                port,
                reading.fixed(
                        "--max-payload-mb",
                        Syntax.mebibytes()
                                .in("SAGEMAKER_MAX_REQUEST_SIZE", Syntax.bytes())
                                .in("TS_MAX_REQUEST_SIZE", Syntax.bytes())
                                .in("MMS_MAX_REQUEST_SIZE", Syntax.bytes())
                                .in("SERVING_MAX_REQUEST_SIZE", Syntax.bytes()),
                        100L * 1024 * 1024,
                        "Largest request body, 0 for unlimited; the variables that end in SIZE count bytes",
                        "SAGEMAKER_MAX_REQUEST_SIZE",
                        "SAGEMAKER_MAX_PAYLOAD_IN_MB",
                        "TS_MAX_REQUEST_SIZE",
                        "MMS_MAX_REQUEST_SIZE",
                        "SERVING_MAX_REQUEST_SIZE"),
                reading.fixed(
                        "--default-accept",
                        Syntax.mediaType(),
                        MediaType.JSON,
                        "Type of the response for a caller that names none, or */*",
                        "SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT"),
                metricsPath(reading),
                reading.derived(
                        "--page",
                        Syntax.trueOrFalse(),
                        !PlatformConfig.isPresent(reading.environment()),
                        "true; false where a platform's variables are set",
                        "Whether / has a page to try the model, with /docs and /openapi.json"),
                reading.derived(
                        "--runtime-api",
                        Syntax.trueOrFalse(),
                        !PlatformConfig.isPresent(reading.environment()),
                        "true; false where a platform's variables are set",
                        "Whether /endpoints/NAME/invocations answers boto3 as SageMaker's endpoints do, and"
                                + " /predictions/NAME the clients of TorchServe"),
                reading.derived(
                        "--client-paths",
                        Syntax.trueOrFalse(),
                        !PlatformConfig.isPresent(reading.environment()),
                        "true; false where a platform's variables are set",
                        "Whether clients of Text Embeddings Inference, Hugging Face, Cohere and Jina can ask a"
                                + " model of a text task"),
                reading.fixed(
                        "--compression",
                        Syntax.trueOrFalse(),
                        false,
                        "Whether answers of text from 16 KiB to 16 MiB are gzip for clients whose"
                                + " Accept-Encoding asks"),
                reading.fixed(
                        "--lame-duck-seconds",
                        Syntax.seconds(0),
                        Duration.ZERO,
                        "How long new requests are still served after SIGTERM while /ping is 503 already; then"
                                + " they are refused"),
                reading.fixed(
                        "--drain-seconds",
                        Syntax.seconds(0),
                        Duration.ofSeconds(20),
                        "How long requests may go on after SIGTERM; SageMaker kills the container after 30 s"),
                Reading.number(reading.detected(
                        "--max-connections",
                        Syntax.positive(),
                        "chosen from ulimit -n and the heap, at most 10000",
                        "Connections that serve requests; beyond them, those that are waited for longest"
                                + " are closed for new ones")),
                Reading.number(reading.optional(
                        "--max-connections-per-address",
                        Syntax.positive(),
                        "not set",
                        "Connections of one client address; others are refused with 503. Behind a load"
                                + " balancer all clients have its address")),
                TlsConfig.read(reading));
    }

    static int port(Reading reading) {
        return reading.fixed(
                "--port",
                Syntax.wholeNumber(0, 65535),
                8080,
                "Port to listen on; 0 takes any free one",
                "SAGEMAKER_BIND_TO_PORT",
                "AIP_HTTP_PORT",
                "PORT");
    }

    /// The image sets the variable.
    static String host(Reading reading) {
        return reading.derived(
                "--host",
                Syntax.word("<host>", "a host name or an address"),
                PlatformConfig.isPresent(reading.environment()) ? EVERYWHERE.getFirst() : "127.0.0.1",
                "127.0.0.1; 0.0.0.0 in the image and where a platform's variables are set",
                "Address to listen on; by default none but this machine can connect");
    }

    private static String metricsPath(Reading reading) {
        // The pattern of `MetricsEndpoint.MetricsPath` in the SageMaker API.
        var syntax = Syntax.matching(
                "<path>",
                "a path of letters, digits and / _ . - that starts with /, without .. and of at most"
                        + " 256 characters",
                "/(?!.*\\.\\.)[a-zA-Z0-9/_.\\-]{1,255}");
        var path = reading.fixed("--metrics-path", syntax, "/metrics", "Path of the Prometheus metrics");
        if (reading.isTaken(path)) {
            reading.problem(
                    "metrics-path: found %s, expected a path of its own; the server has a route there".formatted(path));
        }
        return path;
    }

    /// Whether the server has something else at this path.
    static boolean isTaken(String path, Reading reading) {
        return reading.isTaken(path) || path.equals(metricsPath(reading));
    }

    /// Whether only this machine can connect.
    public boolean isLocal() {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
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
