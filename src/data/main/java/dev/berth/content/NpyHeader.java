package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

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
        return new Reader(new String(bytes, 0, end, StandardCharsets.ISO_8859_1), start).read();
    }

    /// Reads an `.npy` header: a Python dictionary such as `{'descr': '<f4', 'fortran_order': False,
    /// 'shape': (2, 3), }`. It knows the values that belong there and never recurses.
    private static final class Reader {

        private static final Pattern SPACE = Pattern.compile("[ \\x09-\\x0d]*+");
        private static final Pattern TEXT = Pattern.compile("'([^'\\\\]*+)'|\"([^\"\\\\]*+)\"");
        private static final Pattern TRUTH = Pattern.compile("True|False");

        /// Python 2 wrote long numbers as 3L.
        private static final Pattern LENGTH = Pattern.compile("([0-9]++)L?");

        /// The bytes of the file as characters, so that places in it are offsets in the file. The few
        /// beyond ASCII that version 3.0 allows stand in field names only, which are refused anyway.
        private final String file;

        private final Matcher next;
        private int at;
        private Optional<NpyType> type = Optional.empty();
        private Optional<Boolean> columnMajor = Optional.empty();
        private Optional<int[]> shape = Optional.empty();

        Reader(String file, int start) {
            this.file = file;
            this.next = SPACE.matcher(file);
            this.at = start;
        }

        NpyHeader read() {
            expect("{");
            list("}", this::entry);
            if (!isAtEnd()) {
                throw bad("the header's end");
            }
            return new NpyHeader(
                    type.orElseThrow(() -> bad("the key descr")),
                    columnMajor.orElseThrow(() -> bad("the key fortran_order")),
                    shape.orElseThrow(() -> bad("the key shape")),
                    file.length());
        }

        /// Entries up to a bracket. A comma may stand behind the last one.
        private void list(String end, Runnable entry) {
            while (!accept(end)) {
                entry.run();
                if (!accept(",")) {
                    expect(end);
                    return;
                }
            }
        }

        private void entry() {
            var key = text();
            int keyAt = next.start();
            expect(":");
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
            if (accept("[") || accept("(")) {
                throw bad(at - 1, "a structured type", "one type of numbers for all elements, such as '<f4'");
            }
            var name = text();
            return NpyType.of(name, next.start());
        }

        private boolean truth() {
            require(TRUTH, "True or False");
            return next.group().equals("True");
        }

        private int[] shape() {
            var lengths = new ArrayList<Integer>();
            expect("(");
            list(")", () -> {
                if (lengths.size() == MAX_RANK) {
                    throw bad(at, "one more dimension", "at most " + MAX_RANK);
                }
                lengths.add(length());
                if (lengths.size() == 1 && !isNext(",")) {
                    throw bad("a comma, as in (3,)");
                }
            });
            return lengths.stream().mapToInt(Integer::intValue).toArray();
        }

        private int length() {
            require(LENGTH, "a dimension's length");
            try {
                return Integer.parseInt(next.group(1));
            } catch (NumberFormatException _) {
                throw bad(next.start(), "a length of " + Excerpt.quoted(next.group(1)), "at most " + Integer.MAX_VALUE);
            }
        }

        private String text() {
            require(TEXT, "a quoted text");
            return next.group(1) == null ? next.group(2) : next.group(1);
        }

        /// Takes what is next. [#next] has its groups and its place.
        private void require(Pattern pattern, String expected) {
            skipSpace();
            if (!next.usePattern(pattern).region(at, file.length()).lookingAt()) {
                throw bad(expected);
            }
            at = next.end();
        }

        private void expect(String mark) {
            if (!accept(mark)) {
                throw bad('"' + mark + '"');
            }
        }

        private boolean accept(String mark) {
            boolean isNext = isNext(mark);
            at += isNext ? mark.length() : 0;
            return isNext;
        }

        private boolean isNext(String mark) {
            skipSpace();
            return file.startsWith(mark, at);
        }

        private boolean isAtEnd() {
            skipSpace();
            return at == file.length();
        }

        private void skipSpace() {
            next.usePattern(SPACE).region(at, file.length()).lookingAt();
            at = next.end();
        }

        private BadInputException bad(String expected) {
            if (isAtEnd()) {
                return bad(at, "the header's end", expected);
            }
            char found = file.charAt(at);
            return bad(
                    at,
                    found > ' ' && found <= '~' ? "\"%c\"".formatted(found) : "the byte 0x%02x".formatted((int) found),
                    expected);
        }

        private static BadInputException bad(int offset, String found, String expected) {
            return new BadInputException("offset %d: found %s, expected %s".formatted(offset, found, expected));
        }
    }
}
