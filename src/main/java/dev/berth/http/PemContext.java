package dev.berth.http;

import dev.berth.config.TlsConfig;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLEngine;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.Scheduler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// TLS of one port, with a certificate and a key in PEM files. What takes their place is read within
/// [#BETWEEN_LOOKS_SECONDS]: cert-manager replaces them long before they expire. Connections that
/// are open keep what they have.
///
/// Jetty's `KeyStoreScanner` watches one file, and has no PEM.
final class PemContext extends SslContextFactory.Server {

  private static final long BETWEEN_LOOKS_SECONDS = 5;

  private static final Logger log = LoggerFactory.getLogger(PemContext.class);

  private final TlsConfig files;
  private final String protocol;

  /// What is served, and what is wrong with what is there instead. For the thread that looks.
  private KeyStore served;

  private String problem = "";

  /// @param protocol the only one of the port, as ALPN calls it (RFC 7301)
  PemContext(TlsConfig files, String protocol) throws GeneralSecurityException {
    this.files = files;
    this.protocol = protocol;
    this.served = files.load();
    setKeyStore(served);
    setKeyStorePassword("");
  }

  @Override
  public void customize(SSLEngine engine) {
    super.customize(engine);
    var parameters = engine.getSSLParameters();
    parameters.setApplicationProtocols(new String[] {protocol});
    engine.setSSLParameters(parameters);
  }

  /// TLS around a protocol.
  SslConnectionFactory around(ConnectionFactory inside) {
    var tls = new SslConnectionFactory(this, inside.getProtocol());
    // Jetty would refuse who calls the server by a name that is not the certificate's, such as an
    // address. That is for clients to judge.
    tls.setEnsureSecureRequestCustomizer(false);
    return tls;
  }

  /// Looks for other files until the scheduler has stopped.
  void watch(Scheduler scheduler) {
    scheduler.schedule(
        () -> {
          look();
          watch(scheduler);
        },
        BETWEEN_LOOKS_SECONDS,
        TimeUnit.SECONDS);
  }

  private static Certificate[] chain(KeyStore store) throws GeneralSecurityException {
    return store.getCertificateChain(TlsConfig.ALIAS);
  }

  void look() {
    try {
      var found = files.load();
      if (!Arrays.equals(chain(found), chain(served))) {
        reload(_ -> setKeyStore(found));
        served = found;
        log.info("{} has changed, and is used for new connections", files.certificate());
      }
      problem = "";
    } catch (Exception e) {
      // One of the two may be replaced before the other.
      if (!e.getMessage().equals(problem)) {
        problem = e.getMessage();
        log.warn("the certificate before stays in use: {}", problem);
      }
    }
  }
}
