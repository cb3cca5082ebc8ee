package dev.berth.tokenizer.mecab;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.nio.ShortBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// A compiled dictionary of MeCab 0.996: the words and what it costs that one follows another. Safe
/// for use by many threads.
///
/// The files are MeCab's own and are mapped: a page comes into memory when it is first needed, and
/// never into the heap. Of ipadic's 53 MB most are readings and parts of speech, which are not
/// looked at. The sizes of the files are checked when a dictionary is opened. What leads out of a
/// damaged one is an [IndexOutOfBoundsException].
///
/// `sys.dic` and `unk.dic` hold a header, a double array from words to entries, 16 bytes for each
/// entry, and texts. `char.bin` holds the names of the categories and 32 bits for each character of
/// the Basic Multilingual Plane. `matrix.bin` holds a cost for each pair of an entry's right side
/// and the next one's left side.
final class MecabDictionary implements AutoCloseable {

    /// What MeCab knows of a character: the categories that it belongs to, one bit each, the one that
    /// counts, and how an unknown word may begin with it. `length` is the most characters of an
    /// unknown word, `group` says that all that follow of the same categories may be one, `invoke`
    /// that unknown words are tried beside known ones.
    record Category(int categories, int index, int length, boolean group, boolean invoke) {

        static Category of(int bits) {
            return new Category(
                    bits & 0x3ffff, bits >>> 18 & 0xff, bits >>> 26 & 0xf, (bits >>> 30 & 1) == 1, bits < 0);
        }

        boolean isKindOf(Category other) {
            return (categories & other.categories) != 0;
        }
    }

    /// A word with one of its readings and parts of speech.
    ///
    /// @param length of the word, in code points
    /// @param leftId what it is for the word before it
    /// @param rightId what it is for the word after it
    /// @param cost of the word itself
    record Entry(int length, int leftId, int rightId, int cost) {}

    private static final int MAGIC = 0xef718f77;
    private static final int VERSION = 102;
    private static final int HEADER = 72;
    private static final int CHARSET = 40;
    private static final int NAME = 32;
    private static final int CHARACTERS = 0xffff;

    /// `sys.dic` or `unk.dic`.
    ///
    /// @param units of the double array, a base and a check each
    /// @param entries of 8 numbers each
    private record Words(IntBuffer units, ShortBuffer entries, int leftSize, int rightSize) {

        int base(int unit) {
            return units.get(2 * unit);
        }

        /// The base of the unit that leads to this one; the unit itself where that is a word.
        int check(int unit) {
            return units.get(2 * unit + 1);
        }

        private int id(int place) {
            return Short.toUnsignedInt(entries.get(place));
        }

        /// Walks the double array along a text, character by character. A negative base, in the unit that
        /// a base itself leads to, is a word: 24 bits for its first entry and 8 for their number.
        ///
        /// @param text the UTF-8 of each character
        /// @return the entries of the words that the text has at `from`, the shortest first
        List<Entry> prefixes(byte[][] text, int from) {
            var found = new ArrayList<Entry>();
            int base = base(0);
            for (int i = from; i < text.length; i++) {
                for (byte each : text[i]) {
                    int unit = base + Byte.toUnsignedInt(each) + 1;
                    if (check(unit) != base) {
                        return found;
                    }
                    base = base(unit);
                }
                int value = base(base);
                if (check(base) == base && value < 0) {
                    int first = ~value >>> 8;
                    for (int entry = first; entry < first + (~value & 0xff); entry++) {
                        found.add(
                                new Entry(i + 1 - from, id(8 * entry), id(8 * entry + 1), entries.get(8 * entry + 3)));
                    }
                }
            }
            return found;
        }
    }

    private final Arena arena = Arena.ofShared();
    private final Words system;
    private final IntBuffer characters;

    /// For each category its entries as an unknown word.
    private final List<List<Entry>> unknown;

    private final ShortBuffer costs;
    private final int rightIds;

    /// @throws IOException when a file is missing, or is no part of a dictionary in UTF-8
    MecabDictionary(Path directory) throws IOException {
        try {
            this.system = words(directory.resolve("sys.dic"));
            var unknownWords = words(directory.resolve("unk.dic"));
            var matrix = map(directory.resolve("matrix.bin"), Integer.BYTES);
            this.rightIds = Short.toUnsignedInt(matrix.getShort(0));
            int leftIds = Short.toUnsignedInt(matrix.getShort(Short.BYTES));
            this.costs =
                    part(matrix, Integer.BYTES, matrix.limit() - Integer.BYTES).asShortBuffer();
            boolean isWhole = matrix.limit() == Integer.BYTES + (long) Short.BYTES * rightIds * leftIds;
            if (!isWhole || system.leftSize != rightIds || system.rightSize != leftIds) {
                throw new IOException(
                        directory
                                + ": matrix.bin: found costs of other ids than those of sys.dic; it is damaged or of another dictionary");
            }
            var categories = map(directory.resolve("char.bin"), Integer.BYTES);
            int names = categories.getInt(0);
            long expected = Integer.BYTES + (long) NAME * names + Integer.BYTES * CHARACTERS;
            if (names < 1 || categories.limit() != expected) {
                throw new IOException(
                        "%s: char.bin: found %d bytes for %d categories; it is damaged or not of MeCab 0.996"
                                .formatted(directory, categories.limit(), names));
            }
            this.characters = part(categories, Integer.BYTES + NAME * names, Integer.BYTES * CHARACTERS)
                    .asIntBuffer();
            this.unknown = new ArrayList<>();
            for (int i = 0; i < names; i++) {
                var name = name(categories, Integer.BYTES + NAME * i);
                var text = characters(name);
                var entries = unknownWords.prefixes(text, 0).stream()
                        .filter(entry -> entry.length == text.length)
                        .toList();
                if (entries.isEmpty()) {
                    throw new IOException(
                            "%s: unk.dic: found no entry for the category %s of char.bin".formatted(directory, name));
                }
                unknown.add(entries);
            }
        } catch (IndexOutOfBoundsException e) {
            arena.close();
            throw new IOException(directory + ": found a dictionary that leads out of itself; it is damaged", e);
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /// The UTF-8 of each character of a text.
    static byte[][] characters(String text) {
        return text.codePoints()
                .mapToObj(character -> Character.toString(character).getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    /// What is known of a character. MeCab takes all beyond the Basic Multilingual Plane for the
    /// character 0.
    Category category(int codePoint) {
        return Category.of(characters.get(codePoint < CHARACTERS ? codePoint : 0));
    }

    /// The known words that stand at `from`, the shortest first.
    List<Entry> words(byte[][] text, int from) {
        return system.prefixes(text, from);
    }

    /// An unknown word of `length` code points that begins with a character of the category.
    Stream<Entry> unknown(Category category, int length) {
        return unknown.get(category.index).stream()
                .map(entry -> new Entry(length, entry.leftId, entry.rightId, entry.cost));
    }

    /// What it costs that a word of the left id follows one of the right id.
    int connection(int rightId, int leftId) {
        return costs.get(rightId + rightIds * leftId);
    }

    private Words words(Path file) throws IOException {
        var content = map(file, HEADER);
        long units = Integer.toUnsignedLong(content.getInt(24));
        long entries = Integer.toUnsignedLong(content.getInt(28));
        long texts = Integer.toUnsignedLong(content.getInt(32));
        int size = content.limit();
        boolean isWhole = (content.getInt(0) ^ MAGIC) == size && HEADER + units + entries + texts == size;
        if (!isWhole || content.getInt(4) != VERSION) {
            throw new IOException("%s: found no dictionary of MeCab 0.996, or a part of one".formatted(file));
        }
        var charset = name(content, CHARSET);
        if (!charset.equalsIgnoreCase("UTF-8") && !charset.equalsIgnoreCase("utf8")) {
            throw new IOException("%s: found a dictionary in %s, expected one in UTF-8".formatted(file, charset));
        }
        return new Words(
                part(content, HEADER, (int) units).asIntBuffer(),
                part(content, HEADER + (int) units, (int) entries).asShortBuffer(),
                content.getInt(16),
                content.getInt(20));
    }

    private static ByteBuffer part(ByteBuffer content, int from, int length) {
        return content.slice(from, length).order(ByteOrder.LITTLE_ENDIAN);
    }

    /// Up to the first NUL.
    private static String name(ByteBuffer content, int at) {
        var bytes = new byte[NAME];
        content.get(at, bytes);
        return new String(bytes, StandardCharsets.US_ASCII).split("\0", 2)[0];
    }

    private ByteBuffer map(Path file, int least) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException(file + ": not found; a dictionary is sys.dic, unk.dic, char.bin and matrix.bin");
        }
        try (var channel = FileChannel.open(file)) {
            if (channel.size() < least || channel.size() > Integer.MAX_VALUE) {
                throw new IOException(
                        "%s: found %d bytes, which is no part of a dictionary".formatted(file, channel.size()));
            }
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena)
                    .asByteBuffer()
                    .order(ByteOrder.LITTLE_ENDIAN);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
