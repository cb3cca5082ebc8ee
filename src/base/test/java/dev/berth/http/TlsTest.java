package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.config.Configuration;
import dev.berth.config.ConfigurationException;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.RawConnection;
import dev.berth.testing.TestCertificate;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.net.http.HttpClient.Version;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Map;
import javax.net.ssl.SSLHandshakeException;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// A certificate in PEM files.
@Timeout(300)
class TlsTest {

    @TempDir
    private static Path directory;

    private static TestCertificate rsa;
    private static TestCertificate another;
    private static TestCertificate ec;

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        rsa = TestCertificate.of("RSA", directory);
        another = TestCertificate.of("RSA", directory);
        ec = TestCertificate.of("EC", directory);
        server = server(file("rsa.crt", rsa.pem()), file("rsa.key", rsa.keyPem()));
    }

    private static TestServer server(Path certificate, Path key) throws Exception {
        return TestServer.with(new TextHandler())
                .set("BERTH_TLS_CERTIFICATE", certificate.toString())
                .set("BERTH_TLS_KEY", key.toString())
                .start();
    }

    private static Path file(String name, String text) throws IOException {
        return Files.writeString(directory.resolve(name), text);
    }

    @Test
    void thePortSpeaksTls() throws Exception {
        var answer = rsa.ask(server.port(), "ab\nc");
        assertThat(answer.body()).isEqualTo("AB\nC");
        assertThat(answer.version()).isEqualTo(Version.HTTP_1_1);
    }

    @Test
    void whoTrustsAnotherCertificateComesNoFurther() {
        assertThatThrownBy(() -> another.ask(server.port(), "ab\nc")).isInstanceOf(SSLHandshakeException.class);
    }

    /// A platform's checks, and the server's own, know of no certificate.
    @Test
    void withoutTlsOnlyHealthChecksAreAnswered() throws Exception {
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
        for (var response : new HttpResponse<?>[] {server.invoke("ab"), server.get("/metrics")}) {
            assertThat(response.statusCode()).isEqualTo(400);
            assertThat(response.body().toString()).contains("found a request without TLS, expected https");
        }
    }

    @Test
    void aConnectionThatSaysNothingIsClosed() throws Exception {
        try (var silent = new RawConnection(server.port());
                var half = new RawConnection(server.port());
                var open = (SSLSocket) rsa.trusted().getSocketFactory().createSocket("localhost", server.port())) {
            // The beginning of a handshake.
            half.send(new byte[] {0x16, 3});
            open.startHandshake();
            assertThat(silent.readAll()).isEmpty();
            assertThat(half.readAll()).isEmpty();
            assertThat(open.getInputStream().read()).isNegative();
        }
    }

    /// To sign costs more than anything else of a connection. Tried again where the machine stood still
    /// between the hello and the end.
    @Test
    void aHandshakeWhoseClientHasGoneIsNotComputed() {
        await().untilAsserted(() -> {
            try (var gone = new RawConnection(server.port())) {
                gone.send(rsa.clientHello());
                gone.socket().shutdownOutput();
                assertThat(gone.readAll()).doesNotStartWith("\u0016");
            }
        });
    }

    @Test
    void heldHandshakesKeepNobodyOut() throws Exception {
        var hello = rsa.clientHello();
        var held = new ArrayList<RawConnection>();
        try {
            for (int i = 0; i < 16; i++) {
                held.add(new RawConnection(server.port()).send(hello));
            }
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            assertThat(rsa.ask(server.port(), "ab\nc").body()).isEqualTo("AB\nC");
            for (var half : held) {
                // An answer or, where that has taken too long, an end.
                assertThat(half.socket().getInputStream().read()).isIn(0x16, -1);
            }
        } finally {
            for (var half : held) {
                half.close();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC", "Ed25519"})
    void keysOfEachKindAndFormAreRead(String algorithm) throws Exception {
        var made = algorithm.equals("RSA") ? rsa : TestCertificate.of(algorithm, directory);
        var certificate = file(algorithm + ".crt", made.pem());
        var key = file(algorithm + ".key", algorithm.equals("Ed25519") ? made.keyPem() : made.traditionalKeyPem());
        try (var another = server(certificate, key)) {
            assertThat(made.ask(another.port(), "ab\nc").body()).isEqualTo("AB\nC");
        }
    }

    @Test
    void filesThatChangeAreTakenAndWrongOnesAreNot() throws Exception {
        var certificate = file("changing.crt", rsa.pem());
        var key = file("changing.key", rsa.keyPem());
        try (var log = new CapturedLog();
                var changing = server(certificate, key)) {
            Files.writeString(certificate, ec.pem());
            await().until(() -> log.text()
                    .contains("the certificate before stays in use: tls-key: found what is no EC key in " + key));
            assertThat(rsa.ask(changing.port(), "ab\nc").body()).isEqualTo("AB\nC");
            Files.writeString(key, ec.keyPem());
            await().until(() -> log.text().contains(certificate + " has changed"));
            assertThat(ec.ask(changing.port(), "ab\nc").body()).isEqualTo("AB\nC");
            Files.delete(key);
            await().until(() -> log.text().contains("tls-key: found what can't be read in " + key));
            assertThat(ec.ask(changing.port(), "ab\nc").body()).isEqualTo("AB\nC");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      rsa.crt     |             | tls-certificate, tls-key: found one of them, expected both or none
                  | rsa.key     | tls-certificate, tls-key: found one of them, expected both or none
      nope.crt    | rsa.key     | BERTH_TLS_CERTIFICATE: found ~nope.crt~, expected a file that exists
      rsa.key     | rsa.key     | tls-certificate: found no certificate in rsa.key, expected a chain of X.509 certificates in PEM
      broken.crt  | rsa.key     | tls-certificate: found no certificate in broken.crt, expected a chain
      two.crt     | rsa.key     | tls-certificate: found certificates that are no chain in two.crt, expected a chain
      empty       | rsa.key     | tls-certificate: found no certificate in empty, expected a chain
      rsa.crt     | rsa.crt     | tls-key: found no private key without a password in rsa.crt, expected the private key of the certificate in PEM
      rsa.crt     | another.key | tls-key: found the key of another certificate in another.key, expected
      rsa.crt     | ec.key      | tls-key: found what is no RSA key in ec.key, expected
      rsa.crt     | broken.key  | tls-key: found what is no RSA key in broken.key, expected
      """)
    void whatIsWrongStopsTheStartWithOneSentence(String certificate, String key, String problem) throws Exception {
        file("rsa.crt", rsa.pem());
        file("two.crt", rsa.pem() + rsa.pem());
        file("empty", "");
        file("another.key", another.keyPem());
        file("ec.key", ec.keyPem());
        file("broken.key", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n");
        file("broken.crt", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
        var environment = Map.of(
                "BERTH_MODEL_DIR", TestServer.SAMPLE_ARTIFACT.toString(),
                "BERTH_TLS_CERTIFICATE", path(certificate),
                "BERTH_TLS_KEY", path(key));
        assertThatThrownBy(() -> Configuration.read(environment, Map.of(), Path.of(".")))
                .isInstanceOfSatisfying(
                        ConfigurationException.class,
                        e -> assertThat(e.problems())
                                .anySatisfy(said -> assertThat(said.replace(directory + "/", ""))
                                        .startsWith(problem.replace('~', '"'))));
    }

    private static String path(String name) {
        return name == null ? "" : directory.resolve(name).toString();
    }
}
