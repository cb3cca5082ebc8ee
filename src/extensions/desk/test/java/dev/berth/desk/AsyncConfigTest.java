package dev.berth.desk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.config.Configuration;
import dev.berth.testing.TestCertificate;
import dev.berth.testing.TestServer;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AsyncConfigTest {

    @Test
    void theSettingsAreRead() {
        assertThat(read(Map.of()))
                .isEqualTo(new AsyncConfig(
                        Optional.empty(), Optional.empty(), Optional.empty(), 4, 100, Optional.empty()));
        assertThat(read(Map.of(
                        "BERTH_ASYNC_OUTPUT", "s3://bucket/out",
                        "BERTH_ASYNC_FAILURES", "failures",
                        "BERTH_ASYNC_INPUT", "src",
                        "BERTH_ASYNC_CONCURRENCY", "2",
                        "BERTH_ASYNC_QUEUE", "7",
                        "AWS_ENDPOINT_URL_S3", "http://localhost:9000")))
                .isEqualTo(new AsyncConfig(
                        Optional.of("s3://bucket/out"),
                        Optional.of("failures"),
                        Optional.of(Path.of("src")),
                        2,
                        7,
                        Optional.of(URI.create("http://localhost:9000"))));
    }

    @Test
    void theyNeedAServerWithoutTls(@TempDir Path directory) throws Exception {
        var certificate = TestCertificate.of("RSA", directory);
        var environment = Map.of(
                "BERTH_MODEL_DIR", TestServer.SAMPLE_ARTIFACT.toString(),
                "BERTH_TLS_CERTIFICATE",
                        Files.writeString(directory.resolve("server.crt"), certificate.pem())
                                .toString(),
                "BERTH_TLS_KEY",
                        Files.writeString(directory.resolve("server.key"), certificate.keyPem())
                                .toString(),
                "BERTH_ASYNC_OUTPUT", directory.toString());
        assertThatThrownBy(() -> read(environment))
                .hasMessageContaining("async-output: found it beside tls-certificate");
    }

    private static AsyncConfig read(Map<String, String> environment) {
        return Configuration.read(environment, Map.of(), Path.of("")).config().of(AsyncConfig.class);
    }
}
