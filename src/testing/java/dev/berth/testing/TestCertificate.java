package dev.berth.testing;

import java.io.ByteArrayInputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/// A certificate that has signed itself, for `localhost`, made by the JDK's own `keytool`.
///
/// @param key in PKCS #8
public record TestCertificate(X509Certificate certificate, byte[] key) {

    private static final char[] PASSWORD = "password".toCharArray();

    /// @param algorithm `RSA`, `EC` or `Ed25519`
    /// @param directory where a file is left
    public static TestCertificate of(String algorithm, Path directory) throws Exception {
        var file = Files.createTempFile(directory, "made", ".p12");
        Files.delete(file);
        var keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        algorithm,
                        "-alias",
                        "made",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=dns:localhost,ip:127.0.0.1",
                        "-keystore",
                        file.toString(),
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        new String(PASSWORD))
                .redirectErrorStream(true)
                .start();
        var said = new String(keytool.getInputStream().readAllBytes());
        if (keytool.waitFor() != 0) {
            throw new IllegalStateException(said);
        }
        var store = KeyStore.getInstance("PKCS12");
        store.load(new ByteArrayInputStream(Files.readAllBytes(file)), PASSWORD);
        return new TestCertificate(
                (X509Certificate) store.getCertificate("made"),
                store.getKey("made", PASSWORD).getEncoded());
    }

    public String pem() throws Exception {
        return pem("CERTIFICATE", certificate.getEncoded());
    }

    public String keyPem() {
        return pem("PRIVATE KEY", key);
    }

    /// The key as OpenSSL writes it without the algorithm in front: what is in the last field but one
    /// level of PKCS #8.
    public String traditionalKeyPem() {
        var der = ByteBuffer.wrap(key);
        length(der);
        // The version, then the algorithm.
        der.position(der.position() + 3);
        int algorithm = length(der);
        der.position(der.position() + algorithm);
        var inner = new byte[length(der)];
        der.get(inner);
        return pem(certificate.getPublicKey().getAlgorithm() + " PRIVATE KEY", inner);
    }

    private static int length(ByteBuffer der) {
        der.get();
        int first = der.get() & 0xff;
        int length = first & 0x7f;
        if (first > 0x7f) {
            int bytes = length;
            length = 0;
            for (int i = 0; i < bytes; i++) {
                length = length << 8 | (der.get() & 0xff);
            }
        }
        return length;
    }

    private static String pem(String type, byte[] der) {
        return "-----BEGIN %1$s-----\n%2$s\n-----END %1$s-----\n"
                .formatted(type, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der));
    }

    /// What trusts this certificate alone.
    public SSLContext trusted() throws Exception {
        var store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setCertificateEntry("it", certificate);
        var trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, trust.getTrustManagers(), null);
        return context;
    }

    /// What a server shows it with.
    public SSLContext shown() throws Exception {
        var store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        var made = KeyFactory.getInstance(certificate.getPublicKey().getAlgorithm())
                .generatePrivate(new PKCS8EncodedKeySpec(key));
        store.setKeyEntry("it", made, PASSWORD, new Certificate[] {certificate});
        var keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD);
        var context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }

    /// The first message of a client that trusts it.
    public byte[] clientHello() throws Exception {
        var engine = trusted().createSSLEngine("localhost", 0);
        engine.setUseClientMode(true);
        var hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), hello);
        return Arrays.copyOf(hello.array(), hello.position());
    }

    /// What `/invocations` at a port answers to a text, in HTTP/2 where it is spoken there.
    public HttpResponse<String> ask(int port, String text) throws Exception {
        try (var client = HttpClient.newBuilder()
                .sslContext(trusted())
                .version(Version.HTTP_2)
                .build()) {
            return client.send(
                    HttpRequest.newBuilder(URI.create("https://localhost:%d/invocations".formatted(port)))
                            .header("Accept", "text/plain")
                            .POST(BodyPublishers.ofString(text))
                            .build(),
                    BodyHandlers.ofString());
        }
    }
}
