package dev.berth.tokenizer.mecab;

import dev.berth.hooks.BadInputException;
import dev.berth.testing.JapaneseArtifact;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;

/// A dictionary of MeCab for the fuzzer. Its input is how the tiny one is damaged: for each place a
/// byte for the file, four for the place, and the new byte. So no input is spent on what is whole.
public final class MecabFuzz {

    private static final List<String> FILES = List.of("sys.dic", "unk.dic", "matrix.bin", "char.bin");
    private static final int CHANGE = 6;
    private static final int[] TEXT =
            "東京は日本の首都です。 Who came? 😀㍿ЙЖ１２３ｱｲｳ".codePoints().toArray();

    private static final Path WHOLE = whole();

    private MecabFuzz() {}

    private static Path whole() {
        try {
            var directory = Files.createTempDirectory("mecab");
            directory.toFile().deleteOnExit();
            JapaneseArtifact.writeDictionary(directory);
            FILES.forEach(name -> directory.resolve(name).toFile().deleteOnExit());
            return directory;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Those of a place each, and of none.
    public static List<byte[]> examples() {
        var random = new Random(3);
        return Stream.concat(
                        Stream.of(new byte[0]),
                        Stream.generate(() -> ByteBuffer.allocate(CHANGE)
                                        .put((byte) random.nextInt(FILES.size()))
                                        .putInt(random.nextInt(1 << 14))
                                        .put((byte) random.nextInt())
                                        .array())
                                .limit(50))
                .toList();
    }

    /// @throws BadInputException where the dictionary is refused, or leads out of itself
    public static void read(byte[] changes) throws IOException {
        var directory = Files.createTempDirectory("mecab");
        try {
            for (var name : FILES) {
                Files.createSymbolicLink(directory.resolve(name), WHOLE.resolve(name));
            }
            var input = ByteBuffer.wrap(changes);
            while (input.remaining() >= CHANGE) {
                change(directory.resolve(FILES.get(input.get() & 3)), input.getInt(), input.get());
            }
            try (var dictionary = new MecabDictionary(directory)) {
                requireOrder(new MecabWords(dictionary).cut(TEXT));
            } catch (IOException | IllegalStateException e) {
                throw new BadInputException(e.getMessage(), e);
            }
        } finally {
            for (var name : FILES) {
                Files.deleteIfExists(directory.resolve(name));
            }
            Files.delete(directory);
        }
    }

    private static void change(Path file, int place, byte value) throws IOException {
        var bytes = Files.readAllBytes(file);
        bytes[Math.floorMod(place, bytes.length)] = value;
        Files.delete(file);
        Files.write(file, bytes);
    }

    private static void requireOrder(int[] bounds) {
        int last = 0;
        for (int bound : bounds) {
            if (bound < last || bound > TEXT.length) {
                throw new AssertionError("found a word at %d after %d".formatted(bound, last));
            }
            last = bound;
        }
    }
}
