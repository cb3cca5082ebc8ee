package dev.berth.content;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/// SHA-256 of texts, for names that follow from what they are for.
public final class Sha256 {

    private static final int BYTES_OF_NAME = 8;

    private Sha256() {}

    public static byte[] of(String text) {
        return of(text.getBytes(StandardCharsets.UTF_8));
    }

    public static byte[] of(byte[] content) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(content);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
    }

    /// Its first 8 bytes as 16 digits.
    public static String hex(String text) {
        return HexFormat.of().formatHex(of(text), 0, BYTES_OF_NAME);
    }
}
