package dev.berth.openinference;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.GrpcClient;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestCertificate;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpClient.Version;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The port of HTTP/2 with a certificate in PEM files, asked by the JDK's client and by gRPC's.
@Timeout(300)
class Http2TlsTest {

    @TempDir
    private Path directory;

    private TestCertificate rsa;

    @AutoClose
    private TestServer server;

    private int port;

    @BeforeEach
    void start() throws Exception {
        rsa = TestCertificate.of("RSA", directory);
        write(rsa);
        server = TestServer.with(new TextHandler())
                .set("BERTH_GRPC_PORT", "0")
                .set("BERTH_TLS_CERTIFICATE", directory.resolve("server.crt").toString())
                .set("BERTH_TLS_KEY", directory.resolve("server.key").toString())
                .start();
        port = server.server().otherPorts().get("HTTP/2");
    }

    private void write(TestCertificate certificate) throws Exception {
        Files.writeString(directory.resolve("server.crt"), certificate.pem());
        Files.writeString(directory.resolve("server.key"), certificate.keyPem());
    }

    @Test
    void itSpeaksTls() throws Exception {
        var answer = rsa.ask(port, "ab\nc");
        assertThat(answer.body()).isEqualTo("AB\nC");
        assertThat(answer.version()).isEqualTo(Version.HTTP_2);
        try (var client = new GrpcClient(port, rsa.trusted())) {
            assertThat(client.call("ServerLive", "").toString()).isEqualTo("live: true\n");
        }
    }

    @Test
    void withoutTlsNobodyIsAnsweredThereAndHealthAtTheOtherPort() throws Exception {
        try (var plain = new GrpcClient(port)) {
            assertThatThrownBy(() -> plain.call("ServerLive", "")).hasMessageContaining("UNAVAILABLE");
        }
        assertThat(server.get("/v2/health/live").statusCode()).isEqualTo(200);
    }

    /// Tried again where the machine stood still between the hello and the end.
    @Test
    void aHandshakeWhoseClientHasGoneIsNotComputed() {
        await().untilAsserted(() -> {
            try (var gone = new RawConnection(port)) {
                gone.send(rsa.clientHello());
                gone.socket().shutdownOutput();
                assertThat(gone.readAll()).doesNotStartWith("\u0016");
            }
        });
    }

    @Test
    void filesThatChangeAreTaken() throws Exception {
        var ec = TestCertificate.of("EC", directory);
        write(ec);
        await().ignoreExceptions()
                .untilAsserted(() -> assertThat(ec.ask(port, "ab\nc").version()).isEqualTo(Version.HTTP_2));
    }
}
