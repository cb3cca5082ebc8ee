package dev.berth.content;

import dev.berth.hooks.BadInputException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.regex.MatchResult;
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

    private static final List<String> KEYS = List.of("descr", "fortran_order", "shape");
    private static final String TEXT = "'[^'\\\\]*+'|\"[^\"\\\\]*+\"";

    /// With one length more than is read, at most. Python 2 wrote long numbers as 3L.
    private static final String TUPLE = "\\((?:\\s*+\\d++L?+\\s*+,){0,65}+\\s*+(?:\\d++L?+\\s*+)?+\\)";

    private static final Pattern LENGTH = Pattern.compile("\\d++");

    private static final Pattern START = Pattern.compile("\\s*+\\{");
    private static final Pattern ENTRY = Pattern.compile(
            "\\s*+(?<key>%1$s)\\s*+:\\s*+(?<value>%1$s|%2$s|True\\b|False\\b)\\s*+(?:,|(?=}))".formatted(TEXT, TUPLE));
    private static final Pattern STRUCTURED = Pattern.compile("\\s*+['\"]descr['\"]\\s*+:\\s*+[\\[(]");
    private static final Pattern END = Pattern.compile("\\s*+}\\s*+");

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

    /// Reads a Python dictionary such as `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`.
    ///
    /// @param start the offset of the header's text
    /// @param end the offset behind it, where the data begin
    static NpyHeader read(byte[] bytes, int start, int end) {
        // The bytes of the file as characters, so that places in it are offsets in the file. The few
        // beyond ASCII that version 3.0 allows stand in field names only, which are refused anyway.
        var file = new String(bytes, 0, end, StandardCharsets.ISO_8859_1);
        var entry = ENTRY.matcher(file);
        var values = new HashMap<String, MatchResult>();
        var opened = START.matcher(file).region(start, end);
        if (!opened.lookingAt()) {
            throw bad(start, found(file.substring(start)), "{");
        }
        int at = opened.end();
        while (entry.region(at, end).lookingAt()) {
            var key = unquoted(entry.group("key"));
            if (!KEYS.contains(key)) {
                throw bad(entry.start("key"), "the key " + Excerpt.quoted(key), "descr, fortran_order and shape alone");
            }
            if (values.put(key, entry.toMatchResult()) != null) {
                throw bad(entry.start("key"), "a second " + key, "one");
            }
            at = entry.end();
        }
        var structured = STRUCTURED.matcher(file).region(at, end);
        if (structured.lookingAt()) {
            throw bad(structured.end() - 1, "a structured type", "one type of numbers for all elements, such as '<f4'");
        }
        if (!END.matcher(file).region(at, end).matches()) {
            throw bad(at, found(file.substring(at)), "an entry such as 'descr': '<f4' or 'shape': (2, 3), or }");
        }
        for (var key : KEYS) {
            if (!values.containsKey(key)) {
                throw bad(end, "the header's end", "the key " + key);
            }
        }
        var type = value(values.get("descr"), TEXT, "a quoted text");
        return new NpyHeader(
                NpyType.of(unquoted(type), values.get("descr").start("value")),
                value(values.get("fortran_order"), "True|False", "True or False")
                        .equals("True"),
                shape(
                        value(values.get("shape"), TUPLE, "a tuple of lengths"),
                        values.get("shape").start("value")),
                end);
    }

    private static String value(MatchResult entry, String form, String expected) {
        var value = entry.group("value");
        if (!value.matches(form)) {
            throw bad(entry.start("value"), found(value), expected);
        }
        return value;
    }

    private static int[] shape(String tuple, int at) {
        var lengths = LENGTH.matcher(tuple).results().map(MatchResult::group).toList();
        if (lengths.size() == 1 && !tuple.contains(",")) {
            throw bad(at, found(tuple), "a comma, as in (3,)");
        }
        if (lengths.size() > MAX_RANK) {
            throw bad(at, "one more dimension", "at most " + MAX_RANK);
        }
        try {
            return lengths.stream().mapToInt(Integer::parseInt).toArray();
        } catch (NumberFormatException _) {
            throw bad(at, found(tuple), "lengths of at most " + Integer.MAX_VALUE);
        }
    }

    private static String unquoted(String text) {
        return text.substring(1, text.length() - 1);
    }

    private static String found(String text) {
        return text.isBlank() ? "the header's end" : Excerpt.quoted(text.strip());
    }

    private static BadInputException bad(int offset, String found, String expected) {
        return new BadInputException("offset %d: found %s, expected %s".formatted(offset, found, expected));
    }
}
