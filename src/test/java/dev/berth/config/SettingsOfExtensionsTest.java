package dev.berth.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.http.Routes;
import dev.berth.testing.TestCertificate;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The settings of all extensions beside those of the server, which `ConfigurationTest` reads alone.
class SettingsOfExtensionsTest {

    @TempDir
    private Path home;

    @BeforeEach
    void unpackTheSampleModel() throws Exception {
        Files.createDirectory(home.resolve("model-artifact"));
    }

    @Test
    void theyHaveDefaultsAndCanBeSet() {
        assertThat(shown(Map.of(), Map.of()))
                .contains(
                        "page = true (default)",
                        "runtime-api = true (default)",
                        "client-paths = true (default)",
                        "grpc-port = not set (default)");
        var environment = Map.of(
                "BERTH_PAGE", "false",
                "BERTH_GRPC_PORT", "9000",
                "AIP_PREDICT_ROUTE", "/predict",
                "BERTH_METRICS_DIMENSIONS", "EndpointName=demo, VariantName=AllTraffic",
                "BERTH_ASYNC_OUTPUT", "s3://bucket/out",
                "AWS_ENDPOINT_URL_S3", "http://localhost:9000");
        assertThat(shown(environment, Map.of()))
                .contains(
                        "page = false (BERTH_PAGE)",
                        "predict-route = /predict (AIP_PREDICT_ROUTE)",
                        "grpc-port = 9000 (BERTH_GRPC_PORT)",
                        "metrics-dimensions = EndpointName=demo,VariantName=AllTraffic (BERTH_METRICS_DIMENSIONS)",
                        "async-output = s3://bucket/out (BERTH_ASYNC_OUTPUT)",
                        "s3-endpoint = http://localhost:9000 (AWS_ENDPOINT_URL_S3)");
    }

    @Test
    void asynchronousInvocationsNeedAServerWithoutTls() throws Exception {
        var certificate = TestCertificate.of("RSA", home);
        var environment = Map.of(
                "BERTH_TLS_CERTIFICATE",
                        Files.writeString(home.resolve("server.crt"), certificate.pem())
                                .toString(),
                "BERTH_TLS_KEY",
                        Files.writeString(home.resolve("server.key"), certificate.keyPem())
                                .toString(),
                "BERTH_ASYNC_OUTPUT", home.toString());
        assertThat(problems(environment))
                .singleElement()
                .asString()
                .startsWith("async-output: found it beside tls-certificate");
    }

    @Test
    void namesAndPasswordsOfAddressesAreNotShown() {
        var environment = Map.of(
                "AWS_ENDPOINT_URL_S3", "http://user:pw@store:9000/x",
                "BERTH_OTLP_ENDPOINT", "https://user@collector:4318");
        assertThat(shown(environment, Map.of()).toString())
                .contains("http://…@store:9000/x", "https://…@collector:4318")
                .doesNotContain("user:", "user@", "pw");
        assertThat(problems(Map.of("AWS_ENDPOINT_URL_S3", "ftp://user:pw@store")))
                .singleElement()
                .asString()
                .contains("found \"ftp://…@store\"");
    }

    /// A route of Vertex may be the server's own, and a link to a service of Kubernetes is no port.
    @ParameterizedTest
    @CsvSource({
        "AIP_HEALTH_ROUTE, /ping, health-route = /ping (AIP_HEALTH_ROUTE)",
        "AIP_PREDICT_ROUTE, /invocations, predict-route = /invocations (AIP_PREDICT_ROUTE)",
        "BERTH_GRPC_PORT, tcp://10.96.10.7:9000, grpc-port = not set (default)"
    })
    void aSettingThatMayBeIsShown(String name, String value, String line) {
        assertThat(shown(Map.of(name, value), Map.of())).contains(line);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        AIP_HEALTH_ROUTE=/invocations                      | AIP_HEALTH_ROUTE: found /invocations, expected /ping or a path of its own
        AIP_PREDICT_ROUTE=/metrics                         | AIP_PREDICT_ROUTE: found /metrics, expected /invocations or a path of its own
        AIP_HEALTH_ROUTE=/a AIP_PREDICT_ROUTE=/a           | AIP_PREDICT_ROUTE: found /a, expected /invocations or a path of its own
        AIP_PREDICT_ROUTE=/a/:b                            | AIP_PREDICT_ROUTE: found "/a/:b", expected a path of letters
        AIP_PREDICT_ROUTE=/a SAGEMAKER_MULTI_MODEL=true    | AIP_PREDICT_ROUTE: found a server of many models, expected one model
        BERTH_GRPC_PORT=8080                               | grpc-port: found 8080, which is the port of HTTP too; expected another
        BERTH_METRICS_DIMENSIONS=EndpointName              | BERTH_METRICS_DIMENSIONS: found "EndpointName", expected at most 28 pairs such as EndpointName=demo
        BERTH_METRICS_DIMENSIONS=model=a                   | metrics-dimensions: found model, expected another name
        BERTH_OTLP_ENDPOINT=collector:4318                 | BERTH_OTLP_ENDPOINT: found "collector:4318", expected an address such as http://collector:4318
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc            | OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: found grpc, expected http/protobuf, mostly at port 4318
        BERTH_METRICS_PATH=/docs                           | metrics-path: found /docs, expected a path of its own
        BERTH_METRICS_PATH=/openapi.json                   | metrics-path: found /openapi.json, expected a path of its own
        BERTH_METRICS_PATH=/page/page.js                   | metrics-path: found /page/page.js, expected a path of its own
        """)
    void aSettingThatCannotBeIsAProblem(String said, String problem) {
        var variables = Arrays.stream(said.split(" "))
                .map(each -> each.split("=", 2))
                .collect(Collectors.toMap(each -> each[0], each -> each[1]));
        assertThat(problems(variables)).singleElement().asString().startsWith(problem);
    }

    @ParameterizedTest
    @CsvSource({
        "SAGEMAKER_REGION, eu-west-1, false",
        "SAGEMAKER_BATCH, true, false",
        "SAGEMAKER_BATCH, false, true",
        "AIP_HTTP_PORT, 8080, false",
        "K_SERVICE, berth, false",
        "KUBERNETES_SERVICE_HOST, 10.0.0.1, false",
        "SAGEMAKER_BIND_TO_PORT, 8081, true",
        "K_SERVICE, '', true"
    })
    void thePageIsOffWhereAPlatformHasItsVariables(String name, String value, boolean expected) {
        assertThat(shown(Map.of(name, value), Map.of())).anyMatch(line -> line.startsWith("page = " + expected));
        assertThat(shown(Map.of(name, value), Map.of("--page", "true"))).contains("page = true (flag --page)");
    }

    private List<String> shown(Map<String, String> environment, Map<String, String> flags) {
        return Configuration.read(environment, flags, home, Routes::has).config().effective().stream()
                .map(Object::toString)
                .toList();
    }

    private List<String> problems(Map<String, String> environment) {
        return catchThrowableOfType(
                        ConfigurationException.class,
                        () -> Configuration.read(environment, Map.of(), home, Routes::has))
                .problems();
    }
}
