package dev.berth.config;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.KeyStoreException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/// With what the server proves who it is, in PEM files, as cert-manager and Let's Encrypt write
/// them.
///
/// @param certificate its certificate, and those of authorities between it and the root
/// @param key of the first of them, without a password
public record TlsConfig(Path certificate, Path key) {

    private static final String ALIAS = "tls";

    private static final Pattern PRIVATE_KEY =
            Pattern.compile("-----BEGIN (.*)PRIVATE KEY-----([A-Za-z0-9+/=\\s]+)-----END \\1PRIVATE KEY-----");

    /// By the kind of key, where it has another name.
    private static final Map<String, String> SIGNATURES = Map.of("RSA", "SHA256withRSA", "EC", "SHA256withECDSA");

    /// Reads the files.
    ///
    /// @return with an empty password
    /// @throws GeneralSecurityException in one sentence that names the file
    public KeyStore load() throws GeneralSecurityException {
        var chain = chain();
        var secret = secret(chain[0].getPublicKey());
        try {
            var store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry(ALIAS, secret, new char[0], chain);
            return store;
        } catch (KeyStoreException e) {
            throw wrong("tls-certificate", certificate, "found certificates that are no chain", e);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /// The certificates of a store that [#load] has made.
    public static Certificate[] chain(KeyStore store) throws GeneralSecurityException {
        return store.getCertificateChain(ALIAS);
    }

    private Certificate[] chain() throws GeneralSecurityException {
        var pem = new ByteArrayInputStream(text("tls-certificate", certificate).getBytes(StandardCharsets.ISO_8859_1));
        Collection<? extends Certificate> chain = List.of();
        Exception cause = null;
        try {
            chain = CertificateFactory.getInstance("X.509").generateCertificates(pem);
        } catch (GeneralSecurityException e) {
            cause = e;
        }
        if (chain.isEmpty()) {
            throw wrong("tls-certificate", certificate, "found no certificate", cause);
        }
        return chain.toArray(Certificate[]::new);
    }

    private PrivateKey secret(PublicKey ofCertificate) throws GeneralSecurityException {
        var algorithm = ofCertificate.getAlgorithm();
        var pem = PRIVATE_KEY.matcher(text("tls-key", key));
        if (!pem.find()) {
            throw wrong("tls-key", key, "found no private key without a password", null);
        }
        PrivateKey secret;
        try {
            var bytes = Base64.getMimeDecoder().decode(pem.group(2));
            secret = KeyFactory.getInstance(algorithm)
                    .generatePrivate(
                            new PKCS8EncodedKeySpec(pem.group(1).isEmpty() ? bytes : pkcs8(bytes, ofCertificate)));
        } catch (InvalidKeySpecException | IllegalArgumentException e) {
            throw wrong("tls-key", key, "found what is no %s key".formatted(algorithm), e);
        }
        if (!areOne(secret, ofCertificate)) {
            throw wrong("tls-key", key, "found the key of another certificate", null);
        }
        return secret;
    }

    private static String text(String setting, Path file) throws GeneralSecurityException {
        try {
            return Files.readString(file, StandardCharsets.ISO_8859_1);
        } catch (IOException e) {
            throw wrong(setting, file, "found what can't be read", e);
        }
    }

    /// OpenSSL's older forms, `RSA PRIVATE KEY` (PKCS #1) and `EC PRIVATE KEY` (SEC 1), leave the
    /// algorithm out that PKCS #8 (RFC 5208) has in front of them. The certificate has it too.
    private static byte[] pkcs8(byte[] traditional, PublicKey ofCertificate) {
        var info = ofCertificate.getEncoded();
        int start = info[1] < 0 ? 2 + (info[1] & 0x7f) : 2;
        var algorithm = Arrays.copyOfRange(info, start, start + 2 + info[start + 1]);
        return der(0x30, new byte[] {2, 1, 0}, algorithm, der(4, traditional));
    }

    private static byte[] der(int tag, byte[]... parts) {
        var out = new ByteArrayOutputStream();
        int length = Arrays.stream(parts).mapToInt(part -> part.length).sum();
        out.write(tag);
        if (length >= 1 << 8) {
            out.write(0x82);
            out.write(length >> 8);
        } else if (length >= 1 << 7) {
            out.write(0x81);
        }
        out.write(length);
        Arrays.stream(parts).forEach(out::writeBytes);
        return out.toByteArray();
    }

    private static boolean areOne(PrivateKey secret, PublicKey ofCertificate) throws GeneralSecurityException {
        var kind = secret.getAlgorithm();
        var proof = Signature.getInstance(SIGNATURES.getOrDefault(kind, kind));
        proof.initSign(secret);
        var signed = proof.sign();
        proof.initVerify(ofCertificate);
        return proof.verify(signed);
    }

    private static GeneralSecurityException wrong(String setting, Path file, String found, Throwable cause) {
        var expected = setting.equals("tls-key")
                ? "the private key of the certificate in PEM"
                : "a chain of X.509 certificates in PEM";
        return new GeneralSecurityException(
                "%s: %s in %s, expected %s".formatted(setting, found, file, expected), cause);
    }
}
