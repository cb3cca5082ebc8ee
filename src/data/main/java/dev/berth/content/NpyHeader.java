package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// What an `.npy` file says about its data.
///
/// @param columnMajor whether the first index moves fastest ("Fortran order")
/// @param shape of a tensor that a buffer can hold
/// @param dataOffset where the elements begin in the file
record NpyHeader(NpyType type, boolean columnMajor, int[] shape, int dataOffset) {

    /// NumPy's own limit.
    static final int MAX_RANK = 64;

    private static final int MAX_TENSOR_BYTES = Integer.MAX_VALUE - 8;

    /// Without elements a short file could promise billions of rows, each of which becomes a record.
    private static final int MAX_EMPTY_ROWS = 65_535;

    /// @throws BadInputException where a tensor of this shape would be too large
    NpyHeader {
        long bytes = type.element().bytes();
        for (int length : shape) {
            if (length == 0 && bytes > (long) MAX_EMPTY_ROWS * type.element().bytes()) {
                throw new BadInputException("shape: found %s, expected at most %d rows without elements"
                        .formatted(Excerpt.quoted(Arrays.toString(shape)), MAX_EMPTY_ROWS));
            }
            bytes *= length;
            if (bytes > MAX_TENSOR_BYTES) {
                throw new BadInputException("shape: found %s of %s, expected a tensor of less than 2 GiB"
                        .formatted(Excerpt.quoted(Arrays.toString(shape)), type.element()));
            }
        }
    }

    int size() {
        int size = 1;
        for (int length : shape) {
            size *= length;
        }
        return size;
    }

    /// How far each dimension's neighbours stand apart, in elements. Not for arrays without elements.
    int[] strides() {
        var strides = new int[shape.length];
        int stride = 1;
        for (int i = 0; i < shape.length; i++) {
            int axis = columnMajor ? i : shape.length - 1 - i;
            strides[axis] = stride;
            stride *= shape[axis];
        }
        return strides;
    }

    /// @param start the offset of the header's text
    /// @param end the offset behind it, where the data begin
    static NpyHeader read(byte[] bytes, int start, int end) {
        return new Reader(bytes, start, end).read();
    }

    /// Reads an `.npy` header: a Python dictionary such as `{'descr': '<f4', 'fortran_order': False,
    /// 'shape': (2, 3), }`.
    ///
    /// It knows just the values that belong there, never recurses and takes byte after byte, so that
    /// offsets in messages are offsets in the file; the few characters beyond ASCII that version 3.0
    /// allows stand in field names only, which are refused anyway.
    private static final class Reader {

        private static final int NONE = -1;

        private final byte[] bytes;
        private final int end;
        private int at;
        private Optional<NpyType> type = Optional.empty();
        private Optional<Boolean> columnMajor = Optional.empty();
        private Optional<int[]> shape = Optional.empty();

        Reader(byte[] bytes, int start, int end) {
            this.bytes = bytes;
            this.at = start;
            this.end = end;
        }

        NpyHeader read() {
            expect('{');
            boolean more = true;
            while (more && !accept('}')) {
                entry();
                more = accept(',');
                if (!more) {
                    expect('}');
                }
            }
            if (next() != NONE) {
                throw bad(found(), "the header's end");
            }
            return new NpyHeader(
                    type.orElseThrow(() -> missing("descr")),
                    columnMajor.orElseThrow(() -> missing("fortran_order")),
                    shape.orElseThrow(() -> missing("shape")),
                    end);
        }

        private void entry() {
            next();
            int keyAt = at;
            var key = text();
            expect(':');
            switch (key) {
                case "descr" -> type = once(type, type(), key, keyAt);
                case "fortran_order" -> columnMajor = once(columnMajor, truth(), key, keyAt);
                case "shape" -> shape = once(shape, shape(), key, keyAt);
                default -> throw bad(keyAt, "the key " + Excerpt.quoted(key), "descr, fortran_order and shape alone");
            }
        }

        private static <T> Optional<T> once(Optional<T> before, T value, String key, int keyAt) {
            if (before.isPresent()) {
                throw bad(keyAt, "a second " + key, "one");
            }
            return Optional.of(value);
        }

        private NpyType type() {
            int next = next();
            if (next == '[' || next == '(') {
                throw bad("a structured type", "one type of numbers for all elements, such as '<f4'");
            }
            int nameAt = at;
            return NpyType.of(text(), nameAt);
        }

        private boolean truth() {
            next();
            for (var truth : List.of("True", "False")) {
                if (at + truth.length() <= end && truth.equals(latin1(at, at + truth.length()))) {
                    at += truth.length();
                    return truth.equals("True");
                }
            }
            throw bad(found(), "True or False");
        }

        private int[] shape() {
            expect('(');
            var lengths = new ArrayList<Integer>();
            boolean comma = true;
            while (comma && !accept(')')) {
                if (lengths.size() == MAX_RANK) {
                    throw bad("one more dimension", "at most " + MAX_RANK);
                }
                lengths.add(length());
                comma = accept(',');
                if (!comma && lengths.size() == 1) {
                    throw bad(found(), "a comma, as in (3,)");
                }
                if (!comma) {
                    expect(')');
                }
            }
            return lengths.stream().mapToInt(Integer::intValue).toArray();
        }

        private int length() {
            next();
            int start = at;
            long length = 0;
            while (at < end && bytes[at] >= '0' && bytes[at] <= '9') {
                length = length * 10 + bytes[at++] - '0';
                if (length > Integer.MAX_VALUE) {
                    throw bad(start, "a length of " + length + (at < end ? "…" : ""), "at most " + Integer.MAX_VALUE);
                }
            }
            if (at == start) {
                throw bad(found(), "a dimension's length");
            }
            // Python 2 wrote long numbers as 3L.
            if (at < end && bytes[at] == 'L') {
                at++;
            }
            return (int) length;
        }

        private String text() {
            int quote = next();
            if (quote != '\'' && quote != '"') {
                throw bad(found(), "a quoted text");
            }
            int start = ++at;
            while (at < end && bytes[at] != quote) {
                if (bytes[at] == '\\') {
                    throw bad("a backslash", "a plain text");
                }
                at++;
            }
            if (at == end) {
                throw bad(start, "a text without an end", "a closing " + (char) quote);
            }
            return latin1(start, at++);
        }

        private String latin1(int from, int to) {
            return new String(Arrays.copyOfRange(bytes, from, to), StandardCharsets.ISO_8859_1);
        }

        private void expect(char expected) {
            if (!accept(expected)) {
                throw bad(found(), "\"" + expected + '"');
            }
        }

        private boolean accept(char wanted) {
            boolean there = next() == wanted;
            at += there ? 1 : 0;
            return there;
        }

        /// The next byte that is no white space, not taken yet.
        private int next() {
            while (at < end && (bytes[at] == ' ' || (bytes[at] >= '\t' && bytes[at] <= '\r'))) {
                at++;
            }
            return at < end ? bytes[at] & 0xff : NONE;
        }

        private String found() {
            int next = next();
            if (next == NONE) {
                return "the header's end";
            }
            return next > ' ' && next <= '~' ? "\"" + (char) next + '"' : "the byte 0x%02x".formatted(next);
        }

        private BadInputException bad(String found, String expected) {
            return bad(at, found, expected);
        }

        private static BadInputException bad(int offset, String found, String expected) {
            return new BadInputException("offset %d: found %s, expected %s".formatted(offset, found, expected));
        }

        private BadInputException missing(String key) {
            return bad(at, "the header's end", "the key " + key);
        }
    }
}
