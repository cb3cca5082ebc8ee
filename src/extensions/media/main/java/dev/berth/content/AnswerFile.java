package dev.berth.content;

import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/// A file that a model has made, such as a picture. One may be an answer by itself; several go as a
/// ZIP archive or as the parts of a multipart body, as the request asks:
///
/// ```java
/// public List<MediaType> responseTypes() { return List.of(PNG, AnswerFile.ZIP, AnswerFile.MULTIPART); }
/// public InvocationResponse outputFn(List<byte[]> pictures, InvocationRequest request) {
///   var files = pictures.stream().map(picture -> new AnswerFile("picture.png", PNG, picture)).toList();
///   return AnswerFile.write(files, request.accept());
/// }
/// ```
///
/// @param name of the file, without a directory
/// @param bytes not copied
public record AnswerFile(String name, MediaType type, byte[] bytes) {

    public static final MediaType ZIP = MediaType.of("application", "zip");

    /// RFC 2046 §5.1.3.
    public static final MediaType MULTIPART = MediaType.of("multipart", "mixed");

    /// What an entry of an archive and the head of a part take at most, besides their names.
    private static final int HEAD = 256;

    /// The earliest time that ZIP knows, so that the same files are the same archive.
    private static final LocalDateTime NO_TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

    public AnswerFile {
        if (!name.matches("[^\\p{Cntrl}\"/\\\\]+")) {
            throw new IllegalArgumentException(
                    "name: found \"%s\", expected a name without quotes, slashes and control characters"
                            .formatted(name));
        }
    }

    /// Writes files as `accept` asks. Names that stand there twice get a number.
    ///
    /// @throws NotAcceptableException where `accept` is the type of a file, and there is not exactly
    ///   one of that type
    public static InvocationResponse write(List<AnswerFile> files, MediaType accept) {
        if (accept.sameTypeAs(ZIP)) {
            return InvocationResponse.of(zip(files), ZIP);
        }
        if (accept.sameTypeAs(MULTIPART)) {
            var boundary = "berth-" + UUID.randomUUID();
            return InvocationResponse.of(
                    multipart(files, boundary),
                    new MediaType(MULTIPART.type(), MULTIPART.subtype(), Map.of("boundary", boundary)));
        }
        requireOne(files.size(), accept);
        var file = files.getFirst();
        if (!accept.includes(file.type)) {
            throw new NotAcceptableException(
                    "Accept: found %s, expected %s, which the answer is".formatted(accept, file.type));
        }
        return InvocationResponse.of(file.bytes, file.type);
    }

    /// To be called before the files are made, where `accept` is none of the two that hold several.
    ///
    /// @throws NotAcceptableException where there are several, or none
    public static void requireOne(int files, MediaType accept) {
        if (files != 1) {
            throw new NotAcceptableException("Accept: found %s for %d files, expected %s or %s, which hold several"
                    .formatted(accept, files, ZIP, MULTIPART));
        }
    }

    private static byte[] zip(List<AnswerFile> files) {
        var bytes = new ByteArrayOutputStream(charged(files));
        var names = new UniqueNames();
        try (var zip = new ZipOutputStream(bytes)) {
            for (var file : files) {
                var entry = new ZipEntry(names.name(file.name));
                entry.setTimeLocal(NO_TIME);
                zip.putNextEntry(entry);
                zip.write(file.bytes);
            }
        } catch (IOException e) {
            throw new IllegalStateException("it is written to memory", e);
        }
        return bytes.toByteArray();
    }

    private static byte[] multipart(List<AnswerFile> files, String boundary) {
        var bytes = new ByteArrayOutputStream(charged(files));
        var names = new UniqueNames();
        for (var file : files) {
            bytes.writeBytes("--%s\r\nContent-Type: %s\r\nContent-Disposition: attachment; filename=\"%s\"\r\n\r\n"
                    .formatted(boundary, file.type, names.name(file.name))
                    .getBytes(StandardCharsets.UTF_8));
            bytes.writeBytes(file.bytes);
            bytes.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        bytes.writeBytes("--%s--\r\n".formatted(boundary).getBytes(StandardCharsets.US_ASCII));
        return bytes.toByteArray();
    }

    /// How much is written at most, which memory has been asked for twice: for the buffer and what
    /// leaves it.
    private static int charged(List<AnswerFile> files) {
        long size = files.stream()
                .mapToLong(file -> HEAD + 8L * file.name.length() + file.bytes.length)
                .sum();
        RequestMemory.charge(2 * size);
        return Math.toIntExact(Math.min(size, Integer.MAX_VALUE - 8));
    }
}
