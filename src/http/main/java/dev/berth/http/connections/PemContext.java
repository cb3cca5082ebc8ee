package dev.berth.http.connections;

import dev.berth.config.TlsConfig;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Arrays;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.VirtualThreads;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// TLS with a certificate and a key in PEM files. What takes their place is used within
/// [#BETWEEN_LOOKS_SECONDS]: cert-manager replaces them long before they expire. Connections that
/// are open keep what they have.
///
/// Jetty's `KeyStoreScanner` watches one file, and has no PEM.
final class PemContext extends SslContextFactory.Server {

    static final long BETWEEN_LOOKS_SECONDS = 5;

    private static final Logger log = LoggerFactory.getLogger(PemContext.class);

    private final TlsConfig files;
    private final Handshakes handshakes = new Handshakes(Runtime.getRuntime().availableProcessors());

    /// What is served, and what is wrong with what is there instead. For the thread that looks.
    private KeyStore served;

    private String problem = "";

    /// @throws IllegalArgumentException in one sentence that names the file that is wrong
    PemContext(TlsConfig files) {
        this.files = files;
        try {
            this.served = files.load();
        } catch (GeneralSecurityException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
        setKeyStore(served);
        setKeyStorePassword("");
    }

    /// TLS around a protocol, the only one of its port.
    ///
    /// @param name as ALPN calls it (RFC 7301)
    SslConnectionFactory around(ConnectionFactory protocol, String name) {
        var tls = new SslConnectionFactory(this, protocol.getProtocol()) {
            @Override
            protected SslConnection newSslConnection(Connector connector, EndPoint endPoint, SSLEngine engine) {
                var parameters = engine.getSSLParameters();
                parameters.setApplicationProtocols(new String[] {name});
                engine.setSSLParameters(parameters);
                return new InTurn(connector, endPoint, engine);
            }
        };
        // Jetty would refuse who calls the server by a name that is not the certificate's, such as an
        // address. That is for clients to judge.
        tls.setEnsureSecureRequestCustomizer(false);
        return tls;
    }

    /// Has each message of a handshake computed in its turn.
    private final class InTurn extends SslConnection {
        private final OpenConnection connection;

        private InTurn(Connector connector, EndPoint endPoint, SSLEngine engine) {
            super(
                    connector.getByteBufferPool(),
                    // Jetty would compute it on the few threads that accept.
                    task -> VirtualThreads.execute(connector.getExecutor(), task),
                    PemContext.this,
                    endPoint,
                    engine);
            this.connection = (OpenConnection) endPoint;
            connection.goOn();
        }

        @Override
        protected SSLEngineResult unwrap(SSLEngine engine, ByteBuffer input, ByteBuffer output) throws SSLException {
            var result = super.unwrap(engine, input, output);
            if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
                handshakes.run(connection, engine.getDelegatedTask());
            }
            return result;
        }
    }

    /// Looks for other files.
    void look() {
        try {
            var found = files.load();
            if (!Arrays.equals(TlsConfig.chain(found), TlsConfig.chain(served))) {
                reload(_ -> setKeyStore(found));
                served = found;
                log.info("{} has changed, and is used for new connections", files.certificate());
            }
            problem = "";
        } catch (Exception e) {
            // One of the two may be replaced before the other.
            if (!String.valueOf(e.getMessage()).equals(problem)) {
                problem = String.valueOf(e.getMessage());
                log.warn("the certificate before stays in use: {}", problem);
            }
        }
    }
}
