package dev.berth.tokenizer.mecab;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.BitSet;

/// A compiled dictionary of MeCab 0.996: the words and what it costs that one follows another. Safe
/// for use by many threads.
///
/// The files are MeCab's own and are mapped: a page comes into memory when it is first needed, and
/// never into the heap. Of ipadic's 53 MB most are readings and parts of speech, which are not
/// looked at. All that leads from one place to another is checked when a dictionary is opened, so
/// that no text can lead out of a damaged one.
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
            return new Category(bits & 0x3ffff, index(bits), bits >>> 26 & 0xf, (bits >>> 30 & 1) == 1, bits < 0);
        }

        static int index(int bits) {
            return bits >>> 18 & 0xff;
        }

        boolean isKindOf(Category other) {
            return (categories & other.categories) != 0;
        }
    }

    /// Receives the words that may stand at a place. A word has an entry for each of its readings and
    /// parts of speech.
    interface Entries {
        /// @param length of the word, in code points
        /// @param leftId what it is for the word before it
        /// @param rightId what it is for the word after it
        /// @param cost of the word itself
        void entry(int length, int leftId, int rightId, int cost);
    }

    /// Receives the words of a double array that a text begins with: the first entry of each, and how
    /// many it has.
    private interface Matches {
        void word(int length, int first, int count);
    }

    private static final ValueLayout.OfInt INT = ValueLayout.JAVA_INT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);
    private static final ValueLayout.OfShort SHORT =
            ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

    private static final int MAGIC = 0xef718f77;
    private static final int VERSION = 102;
    private static final int HEADER = 72;
    private static final int CHARSET = 40;
    private static final long UNIT = 8;
    private static final long ENTRY = 16;
    private static final int NAME = 32;
    private static final int CHARACTERS = 0xffff;

    /// How far behind a base its units may lie, one for each byte.
    private static final int REACH = 1 << Byte.SIZE;

    /// `sys.dic` or `unk.dic`.
    private record Words(MemorySegment units, MemorySegment entries, int leftSize, int rightSize) {

        long size() {
            return units.byteSize() / UNIT;
        }

        int base(long unit) {
            return units.get(INT, UNIT * unit);
        }

        /// The base of the unit that leads to this one; the unit itself where that is a word.
        int check(long unit) {
            return units.get(INT, UNIT * unit + Integer.BYTES);
        }

        /// How many entries there are.
        long count() {
            return entries.byteSize() / ENTRY;
        }

        int leftId(long entry) {
            return Short.toUnsignedInt(entries.get(SHORT, ENTRY * entry));
        }

        int rightId(long entry) {
            return Short.toUnsignedInt(entries.get(SHORT, ENTRY * entry + 2));
        }

        int cost(long entry) {
            return entries.get(SHORT, ENTRY * entry + 6);
        }
    }

    private final Arena arena = Arena.ofShared();
    private final Words system;
    private final Words unknown;
    private final MemorySegment characters;

    /// For each category its entries as an unknown word: the first one, and their number.
    private final int[] unknownEntries;

    private final int[] unknownCounts;
    private final MemorySegment costs;
    private final int rightIds;

    private MecabDictionary(Path directory) throws IOException {
        try {
            this.system = words(directory.resolve("sys.dic"));
            this.unknown = words(directory.resolve("unk.dic"));
            var matrix = map(directory.resolve("matrix.bin"), Integer.BYTES);
            this.rightIds = Short.toUnsignedInt(matrix.get(SHORT, 0));
            int leftIds = Short.toUnsignedInt(matrix.get(SHORT, Short.BYTES));
            this.costs = matrix.asSlice(2 * Short.BYTES);
            boolean whole = costs.byteSize() == (long) Short.BYTES * rightIds * leftIds;
            if (!whole || system.leftSize != rightIds || system.rightSize != leftIds) {
                throw new IOException(
                        "%s: matrix.bin: found costs of %d and %d ids in %d bytes, expected those of sys.dic, %d and %d"
                                .formatted(
                                        directory,
                                        rightIds,
                                        leftIds,
                                        matrix.byteSize(),
                                        system.leftSize,
                                        system.rightSize));
            }
            requireWhole(system, leftIds, directory.resolve("sys.dic"));
            requireWhole(unknown, leftIds, directory.resolve("unk.dic"));
            var categories = map(directory.resolve("char.bin"), Integer.BYTES);
            int names = categories.get(INT, 0);
            long expected = Integer.BYTES + (long) NAME * names + (long) Integer.BYTES * CHARACTERS;
            if (names < 1 || categories.byteSize() != expected) {
                throw new IOException(
                        "%s: char.bin: found %d bytes for %d categories; it is damaged or not of MeCab 0.996"
                                .formatted(directory, categories.byteSize(), names));
            }
            this.characters = categories.asSlice(Integer.BYTES + (long) NAME * names);
            for (int bits : characters.toArray(INT)) {
                if (Category.index(bits) >= names) {
                    throw new IOException("%s: char.bin: found the category %d of %d for a character; it is damaged"
                            .formatted(directory, Category.index(bits), names));
                }
            }
            this.unknownEntries = new int[names];
            this.unknownCounts = new int[names];
            for (int i = 0; i < names; i++) {
                var name = name(categories, Integer.BYTES + (long) NAME * i);
                int category = i;
                var codePoints = name.codePoints().toArray();
                prefixes(unknown, codePoints, 0, (length, first, count) -> {
                    if (length == codePoints.length) {
                        unknownEntries[category] = first;
                        unknownCounts[category] = count;
                    }
                });
                if (unknownCounts[i] == 0) {
                    throw new IOException(
                            "%s: unk.dic: found no entry for the category %s of char.bin".formatted(directory, name));
                }
            }
        } catch (IOException | RuntimeException e) {
            arena.close();
            throw e;
        }
    }

    /// @throws IOException when a file is missing, or is no part of a dictionary in UTF-8
    static MecabDictionary open(Path directory) throws IOException {
        return new MecabDictionary(directory);
    }

    /// What is known of a character. MeCab takes all beyond the Basic Multilingual Plane for the
    /// character 0.
    Category category(int codePoint) {
        return Category.of(characters.getAtIndex(INT, codePoint < CHARACTERS ? codePoint : 0));
    }

    /// The known words that stand at `from`, the shortest first.
    void words(int[] codePoints, int from, Entries entries) {
        prefixes(system, codePoints, from, (length, first, count) -> give(system, length, first, count, entries));
    }

    /// An unknown word of `length` code points that begins with a character of the category.
    void unknown(Category category, int length, Entries entries) {
        give(unknown, length, unknownEntries[category.index], unknownCounts[category.index], entries);
    }

    private static void give(Words words, int length, int first, int count, Entries entries) {
        for (int i = first; i < first + count; i++) {
            entries.entry(length, words.leftId(i), words.rightId(i), words.cost(i));
        }
    }

    /// What it costs that a word of the left id follows one of the right id.
    int connection(int rightId, int leftId) {
        return costs.getAtIndex(SHORT, rightId + (long) rightIds * leftId);
    }

    /// Walks the double array along the UTF-8 bytes of the text. A negative base, in the unit that a
    /// base itself leads to, is a word: 24 bits for its first entry and 8 for their number.
    private static void prefixes(Words words, int[] codePoints, int from, Matches matches) {
        int base = words.base(0);
        for (int i = from; i < codePoints.length; i++) {
            int codePoint = codePoints[i];
            int bytes = codePoint < 0x80 ? 1 : codePoint < 0x800 ? 2 : codePoint < 0x10000 ? 3 : 4;
            for (int b = 0; b < bytes; b++) {
                int unit = base + utf8(codePoint, bytes, b) + 1;
                if (words.check(unit) != base) {
                    return;
                }
                base = words.base(unit);
            }
            int value = words.base(base);
            if (words.check(base) == base && value < 0) {
                matches.word(i + 1 - from, first(value), count(value));
            }
        }
    }

    private static int first(int value) {
        return (-value - 1) >>> 8;
    }

    private static int count(int value) {
        return (-value - 1) & 0xff;
    }

    /// Refuses a double array that leads out of the file or in circles, and entries that have no cost
    /// in the matrix.
    private void requireWhole(Words words, int leftIds, Path file) throws IOException {
        var bases = new BitSet();
        boolean isWhole = words.size() > REACH;
        for (long i = 0; isWhole && i < words.size(); i++) {
            isWhole = isWhole(words, i, bases);
        }
        for (long i = 0; isWhole && i < words.count(); i++) {
            isWhole = words.leftId(i) < leftIds && words.rightId(i) < rightIds;
        }
        if (!isWhole) {
            throw new IOException("%s: found a dictionary that leads out of itself; it is damaged".formatted(file));
        }
    }

    /// Whether a unit is free, a word whose entries are there, or leads to a base inside, to which no
    /// other leads.
    ///
    /// @param bases those of the units before
    private static boolean isWhole(Words words, long unit, BitSet bases) {
        int base = words.base(unit);
        if (base < 0) {
            return words.check(unit) == unit && (long) first(base) + count(base) <= words.count();
        }
        if (base == 0) {
            return unit > 0 && words.check(unit) == 0;
        }
        boolean isNew = base < words.size() - REACH && !bases.get(base);
        if (isNew) {
            bases.set(base);
        }
        return isNew;
    }

    private static int utf8(int codePoint, int bytes, int index) {
        if (index > 0) {
            return 0x80 | ((codePoint >>> (6 * (bytes - 1 - index))) & 0x3f);
        }
        return switch (bytes) {
            case 1 -> codePoint;
            case 2 -> 0xc0 | codePoint >>> 6;
            case 3 -> 0xe0 | codePoint >>> 12;
            default -> 0xf0 | codePoint >>> 18;
        };
    }

    private Words words(Path file) throws IOException {
        var content = map(file, HEADER);
        long units = Integer.toUnsignedLong(content.get(INT, 24));
        long entries = Integer.toUnsignedLong(content.get(INT, 28));
        long texts = Integer.toUnsignedLong(content.get(INT, 32));
        long size = content.byteSize();
        boolean whole = (content.get(INT, 0) ^ MAGIC) == (int) size && HEADER + units + entries + texts == size;
        if (!whole || content.get(INT, 4) != VERSION) {
            throw new IOException("%s: found no dictionary of MeCab 0.996, or a part of one".formatted(file));
        }
        var charset = name(content, CHARSET);
        if (!charset.equalsIgnoreCase("UTF-8") && !charset.equalsIgnoreCase("utf8")) {
            throw new IOException("%s: found a dictionary in %s, expected one in UTF-8".formatted(file, charset));
        }
        return new Words(
                content.asSlice(HEADER, units),
                content.asSlice(HEADER + units, entries),
                content.get(INT, 16),
                content.get(INT, 20));
    }

    /// Up to the first NUL.
    private static String name(MemorySegment content, long at) {
        var bytes = content.asSlice(at, NAME).toArray(ValueLayout.JAVA_BYTE);
        return new String(bytes, StandardCharsets.US_ASCII).split("\0", 2)[0];
    }

    private MemorySegment map(Path file, int least) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new IOException(file + ": not found; a dictionary is sys.dic, unk.dic, char.bin and matrix.bin");
        }
        try (var channel = FileChannel.open(file)) {
            if (channel.size() < least) {
                throw new IOException(
                        "%s: found %d bytes, which is no part of a dictionary".formatted(file, channel.size()));
            }
            return channel.map(FileChannel.MapMode.READ_ONLY, 0, channel.size(), arena);
        }
    }

    @Override
    public void close() {
        arena.close();
    }
}
