package dev.berth.fuzz;

import dev.berth.content.Csv;
import dev.berth.content.Npy;
import dev.berth.content.Npz;
import dev.berth.content.RecordIo;
import dev.berth.content.TfRecord;
import dev.berth.hooks.BadInputException;
import dev.berth.http.AcceptFuzz;
import dev.berth.image.Image;
import dev.berth.tokenizer.mecab.MecabFuzz;
import dev.berth.transform.filter.JsonPathFilterFuzz;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// What reads bytes of strangers and is Berth's own, with examples to begin with.
enum Decoder {
    NPY(Npy::read, files("npy", ".npy")),
    NPZ(bytes -> Npz.read(bytes, Decoder.MEBIBYTE), files("npy", ".npz")),
    RECORD_IO(RecordIo::read, List.of(RecordIo.write(records()))),
    TF_RECORD(TfRecord::read, List.of(TfRecord.write(records()))),
    JPEG(Decoder::picture, files("images", ".jpg")),
    GIF(Decoder::picture, files("images", ".gif")),
    PNG(Decoder::picture, files("images", ".png")),
    BMP(Decoder::picture, files("images", ".bmp")),
    WEBP(Decoder::picture, files("images", ".webp")),
    CSV(bytes -> Csv.rows(new String(bytes, StandardCharsets.UTF_8)), texts("a,b\n\"c \"\"d\"\"\",\"e\nf\"\r\n,\n")),
    JSON_PATH(JsonPathFilterFuzz::read, texts("$", "$.a[0,1:]", "$['a','b']", "$.*", "$.a[1].b[-1]", "$.a[:2][ * ]")),
    ACCEPT(AcceptFuzz::read, texts("*/*", "text/csv;q=0.5, application/json;q=1.000", "text/*; x=\"a,b\", */*;q=0")),
    MECAB(MecabFuzz::read, MecabFuzz.examples());

    /// Throws what it likes.
    interface Reader {
        void read(byte[] bytes) throws Exception;
    }

    static final int MEBIBYTE = 1 << 20;

    /// Small enough that decoding takes no time.
    private static final long MOST_PIXELS = 10_000;

    /// What clients are not to see: names of exceptions and of packages.
    private static final Pattern INTERNALS = Pattern.compile("Exception|\\b(?:java|javax|sun|jdk)\\.");

    private final Reader reader;
    private final List<byte[]> examples;

    Decoder(Reader reader, List<byte[]> examples) {
        this.reader = reader;
        this.examples = examples;
    }

    List<byte[]> examples() {
        return examples;
    }

    /// Reads the bytes, or refuses them as [BadInputException] says. Anything else is a defect.
    void readOrRefuse(byte[] bytes) throws Exception {
        try {
            reader.read(bytes);
        } catch (BadInputException e) {
            if (INTERNALS.matcher(e.getMessage()).find()) {
                throw new AssertionError("internals in the message: " + e.getMessage(), e);
            }
        }
    }

    private static void picture(byte[] bytes) {
        Image.read(bytes, MOST_PIXELS);
    }

    private static List<byte[]> records() {
        return List.of(new byte[0], new byte[] {1, 2, 3}, new byte[40]);
    }

    private static List<byte[]> texts(String... texts) {
        return Stream.of(texts)
                .map(text -> text.getBytes(StandardCharsets.UTF_8))
                .toList();
    }

    private static List<byte[]> files(String directory, String ending) {
        try (var files = Files.list(Path.of("src", "test", "resources", directory))) {
            return files.filter(file -> file.toString().endsWith(ending))
                    .sorted()
                    .map(Decoder::bytes)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] bytes(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
