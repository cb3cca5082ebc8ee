package dev.berth.reliability;

import java.io.IOException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/// A certificate that has signed itself, made by the JDK's own `keytool`, and clients that trust
/// it.
///
/// @param directory with the files that a server is given
record Tls(Path directory, SSLContext context) {

    static final String CERTIFICATE = "tls.crt";
    static final String KEY = "tls.key";

    private static final String ALIAS = "made";
    private static final char[] PASSWORD = "password".toCharArray();

    /// @param algorithm and the size of its key, such as `RSA-2048` or `EC-256`
    static Tls of(String algorithm) throws IOException {
        var directory = Target.WORK.resolve("tls-" + algorithm.toLowerCase(Locale.ROOT));
        try {
            var store = KeyStore.getInstance(keys(directory, algorithm).toFile(), PASSWORD);
            write(
                    directory,
                    CERTIFICATE,
                    "CERTIFICATE",
                    store.getCertificate(ALIAS).getEncoded());
            write(directory, KEY, "PRIVATE KEY", store.getKey(ALIAS, PASSWORD).getEncoded());
            var trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trusted.init(store);
            var context = SSLContext.getInstance("TLS");
            context.init(null, trusted.getTrustManagers(), null);
            return new Tls(directory, context);
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    private static Path keys(Path directory, String algorithm) throws IOException {
        var file = directory.resolve("keys.p12").toAbsolutePath();
        Files.createDirectories(directory);
        Files.deleteIfExists(file);
        var kind = algorithm.split("-");
        Target.run(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                kind[0],
                "-keysize",
                kind[1],
                "-alias",
                ALIAS,
                "-dname",
                "CN=localhost",
                "-keystore",
                file.toString(),
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(PASSWORD)));
        return file;
    }

    private static void write(Path directory, String file, String kind, byte[] der) throws IOException {
        var text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        Files.writeString(
                directory.resolve(file), "-----BEGIN %s-----\n%s\n-----END %s-----\n".formatted(kind, text, kind));
    }

    /// Shakes hands over a connection.
    ///
    /// @param protocol of ALPN, such as `h2`
    Socket over(Socket socket, String protocol) throws IOException {
        var host = socket.getInetAddress().getHostAddress();
        var over = (SSLSocket) context.getSocketFactory().createSocket(socket, host, socket.getPort(), true);
        var parameters = over.getSSLParameters();
        parameters.setApplicationProtocols(new String[] {protocol});
        over.setSSLParameters(parameters);
        over.startHandshake();
        return over;
    }

    /// What a client says first.
    byte[] hello() throws IOException {
        var engine = context.createSSLEngine();
        engine.setUseClientMode(true);
        var hello = ByteBuffer.allocate(engine.getSession().getPacketBufferSize());
        engine.wrap(ByteBuffer.allocate(0), hello);
        return Arrays.copyOf(hello.array(), hello.position());
    }
}
