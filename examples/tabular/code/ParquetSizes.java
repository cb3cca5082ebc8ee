import dev.berth.hooks.BadInputException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// Adds up what the parts of a Parquet file say of their own sizes, and refuses what is too much or
/// contradicts itself.
///
/// Libraries make room for such a size before they look whether it is true: a file of 100 bytes can
/// ask for gigabytes. Of 10,000 damaged files 84 filled a heap of 200 MB, and one ended the process
/// in native code. With this class none of 30,000 does. The fields have their numbers in Parquet's
/// `parquet.thrift`, and are written in Thrift's compact protocol.
final class ParquetSizes {

    private static final int SNAPPY = 1;
    private static final int DATA = 0;
    private static final int DICTIONARY = 2;
    private static final int DATA_2 = 3;

    private static final int MAGIC = 0x31524150;
    private static final int TAIL = 8;

    /// A file of a thousand columns has a footer of some 100 KB.
    private static final int LARGEST_FOOTER = 1 << 18;

    private static final int LARGEST_HEADER = 1 << 16;
    private static final long MOST_BYTES = 64L << 20;
    private static final int MOST_PAGES = 100_000;
    private static final int DEEPEST = 16;

    private final ByteBuffer bytes;
    private final int mostRows;
    private long unpacked;
    private int walked;

    ParquetSizes(byte[] file, int mostRows) {
        this.bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        this.mostRows = mostRows;
    }

    /// @throws BadInputException when it is no Parquet file, or one that is too large unpacked
    void check() {
        int end = bytes.limit() - TAIL;
        if (end < 0 || bytes.getInt(end + Integer.BYTES) != MAGIC) {
            throw new BadInputException("body: found no Parquet file, which would end with PAR1");
        }
        int length = bytes.getInt(end);
        require(length > 0 && length <= Math.min(end, LARGEST_FOOTER), "a footer", length);
        var footer = struct(end - length, length);
        if (int64(footer, 3) > mostRows) {
            throw Inference.tooManyRows(int64(footer, 3), mostRows);
        }
        for (var group : list(footer, 4)) {
            for (var chunk : list(group, 1)) {
                checkChunk(chunk);
            }
        }
    }

    private void checkChunk(Object chunk) {
        var column = field(chunk, 3);
        long first = int64(column, 9);
        long begin = field(column, 11) == null ? first : int64(column, 11);
        long end = begin + int64(column, 7);
        require(begin > 0 && begin <= first && end >= begin && end <= bytes.limit(), "a column up to byte", end);
        var pages = checkPages((int) begin, (int) end, int32(column, 4) == SNAPPY);
        require(pages.contains(first), "a page at byte", first);
        if (field(chunk, 4) != null) {
            // A reader may go to the pages by this index.
            require(int32(chunk, 5) <= LARGEST_FOOTER, "an index of", int32(chunk, 5));
            for (var page : list(struct(int64(chunk, 4), int32(chunk, 5)), 1)) {
                require(pages.contains(int64(page, 1)), "a page at byte", int64(page, 1));
            }
        }
    }

    /// @return where pages begin
    private Set<Long> checkPages(int begin, int end, boolean snappy) {
        var pages = new HashSet<Long>();
        long values = 0;
        for (long place = begin; place < end; ) {
            pages.add(place);
            require(++walked <= MOST_PAGES, "pages, as many as", walked);
            var page = struct(place, Math.min(LARGEST_HEADER, end - place));
            int data = bytes.position();
            int packed = int32(page, 3);
            require(packed >= 0 && packed <= end - data, "a page of", packed);
            int size = int32(page, 2);
            unpacked += size;
            require(size >= 0 && unpacked <= MOST_BYTES, "pages that unpack to", unpacked);
            int type = int32(page, 1);
            var counts = field(
                    page,
                    switch (type) {
                        case DATA -> 5;
                        case DICTIONARY -> 7;
                        case DATA_2 -> 8;
                        default ->
                            throw new BadInputException(
                                    "body: found a page of type %d in a Parquet file".formatted(type));
                    });
            int count = int32(counts, 1);
            values += type == DICTIONARY ? 0 : count;
            require(
                    count >= 0 && Math.max(count, values) <= mostRows,
                    "a column of so many values:",
                    Math.max(count, values));
            // The second form has levels in front of its values, which are not packed.
            int levels = 0;
            if (type == DATA_2) {
                int most = Math.min(packed, size);
                int definitions = int32(counts, 5);
                int repetitions = int32(counts, 6);
                require(definitions >= 0 && definitions <= most, "levels of", definitions);
                require(repetitions >= 0 && repetitions <= most - definitions, "levels of", repetitions);
                levels = definitions + repetitions;
            }
            boolean isPacked = type != DATA_2 || field(counts, 7) != Boolean.FALSE;
            if (snappy && isPacked && packed > levels) {
                checkSnappy(data + levels, size - levels);
            }
            place = (long) data + packed;
        }
        return pages;
    }

    /// snappy-java writes as many bytes as these say, into a buffer of the size that the page says.
    /// More would destroy the memory of the process.
    private void checkSnappy(int place, long expected) {
        bytes.position(place);
        long length = varint();
        require(length == expected, "a page that unpacks to another size than it says:", length);
    }

    private static void require(boolean fine, String what, Object found) {
        if (!fine) {
            throw new BadInputException(
                    "body: found %s %s, which a Parquet file of this size can't have here".formatted(what, found));
        }
    }

    private static Object field(Object struct, int id) {
        return struct instanceof Map<?, ?> fields ? fields.get(id) : null;
    }

    /// A library leaves out a number of another width, so it must not count here either.
    private static int int32(Object struct, int id) {
        var value = field(struct, id);
        require(value == null || value instanceof Integer, "a number of another type in field", id);
        return value == null ? 0 : (int) value;
    }

    private static long int64(Object struct, int id) {
        var value = field(struct, id);
        require(value == null || value instanceof Long, "a number of another type in field", id);
        return value == null ? 0 : (long) value;
    }

    private static List<?> list(Object struct, int id) {
        return field(struct, id) instanceof List<?> list ? list : List.of();
    }

    /// Leaves the position behind it.
    private Map<Integer, Object> struct(long place, long length) {
        require(place >= 0 && length >= 0 && place + length <= bytes.capacity(), "a part at byte", place);
        bytes.limit((int) (place + length)).position((int) place);
        var struct = struct(0);
        bytes.limit(bytes.capacity());
        return struct;
    }

    private Map<Integer, Object> struct(int depth) {
        require(depth < DEEPEST, "parts inside of parts", depth);
        var fields = new HashMap<Integer, Object>();
        int id = 0;
        for (int header = bytes.get() & 0xff; header != 0; header = bytes.get() & 0xff) {
            id = header >> 4 == 0 ? Math.toIntExact(zigzag()) : id + (header >> 4);
            require(id > 0 && id <= Short.MAX_VALUE, "a field", id);
            int type = header & 0xf;
            var before = fields.put(id, type == 1 || type == 2 ? (Object) (type == 1) : value(type, depth));
            require(before == null, "twice the field", id);
        }
        return fields;
    }

    private Object value(int type, int depth) {
        return switch (type) {
            case 1, 2, 3 -> bytes.get();
            case 4 -> (short) zigzag();
            case 5 -> Math.toIntExact(zigzag());
            case 6 -> zigzag();
            case 7 -> bytes.getDouble();
            case 8 -> {
                long length = varint();
                require(length >= 0 && length <= bytes.remaining(), "a text of", length);
                bytes.position(bytes.position() + (int) length);
                yield "";
            }
            case 9, 10 -> list(depth);
            case 12 -> struct(depth + 1);
            default ->
                throw new BadInputException(
                        "body: found the type %d in a Parquet file, expected one of Thrift's".formatted(type));
        };
    }

    private List<Object> list(int depth) {
        require(depth < DEEPEST, "parts inside of parts", depth);
        int header = bytes.get() & 0xff;
        long size = header >> 4 == 0xf ? varint() : header >> 4;
        require(size >= 0 && size <= bytes.remaining(), "a list of", size);
        var values = new ArrayList<>();
        for (long i = 0; i < size; i++) {
            values.add(value(header & 0xf, depth + 1));
        }
        return values;
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            byte next = bytes.get();
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new BadInputException("body: found a number of more than 64 bits in a Parquet file");
    }

    private long zigzag() {
        long value = varint();
        return value >>> 1 ^ -(value & 1);
    }
}
