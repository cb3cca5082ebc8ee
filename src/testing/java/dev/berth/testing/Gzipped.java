package dev.berth.testing;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/// What was recorded and is packed, because the repository has a limit.
public final class Gzipped {

    private Gzipped() {}

    public static String text(Path file) throws IOException {
        return new String(bytes(file), StandardCharsets.UTF_8);
    }

    public static byte[] bytes(Path file) throws IOException {
        try (var in = new GZIPInputStream(Files.newInputStream(file))) {
            return in.readAllBytes();
        }
    }

    /// One member.
    public static byte[] packed(byte[] bytes) {
        var packed = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(packed)) {
            gzip.write(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return packed.toByteArray();
    }
}
