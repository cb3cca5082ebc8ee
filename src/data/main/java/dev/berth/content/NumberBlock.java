package dev.berth.content;

import dev.berth.content.Instances.Form;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.Tensor;
import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// Reads a body that is a table of numbers and nothing else from its bytes into one tensor: lists of
/// JSON, alone or as the `instances` or the `inputs` of an object, lines of such, and rows of CSV
/// without a header.
///
/// At anything else, be it right or wrong, it gives up: the reader of the content type reads that, or
/// says what is wrong. What it reads, that reader reads as the same bits. Used by one thread.
final class NumberBlock {

    enum Text {
        JSON,
        JSON_LINES,
        CSV
    }

    /// Deeper lists are left to the reader.
    private static final int MOST_DIMENSIONS = 8;

    /// So are longer numbers. Doubles that are written exactly are shorter.
    private static final int MOST_CHARACTERS = 64;

    private final byte[] text;
    private final Text kind;
    private final ElementType type;

    /// What numbers are on their way to their type.
    private final ElementType written;

    private int at;

    /// The lengths of the lists on each level, 0 where none has ended, and the level of the numbers.
    private final int[] lengths = new int[MOST_DIMENSIONS];

    private int rank = -1;

    /// As the elements of a tensor of [#written].
    private ByteBuffer numbers = ByteBuffer.allocate(0);

    private RequestMemory.Held held = () -> {};

    private NumberBlock(byte[] text, Text kind, ElementType type) {
        this.text = text;
        this.kind = kind;
        this.type = type;
        this.written = type == ElementType.FLOAT32 ? type : ElementType.FLOAT64;
    }

    static Optional<TensorRecords> read(InvocationRequest request, TensorInputs inputs, Text kind) throws IOException {
        var parameters = request.contentType().parameters();
        var columns = inputs.table().names();
        if (inputs.names().size() > 1
                || inputs.table().parts().size() > 1
                || inputs.type(0) == ElementType.STRING
                || !parameters.getOrDefault("charset", "utf-8").equalsIgnoreCase("utf-8")
                || "present".equals(parameters.get("header"))
                || (!columns.isEmpty() && columns.stream().allMatch(NumberText::isNumber))) {
            return Optional.empty();
        }
        var block = new NumberBlock(request.bytes(), kind, inputs.type(0));
        try {
            return kind == Text.JSON ? block.body(inputs) : block.lines(inputs);
        } finally {
            block.held.close();
        }
    }

    private Optional<TensorRecords> body(TensorInputs inputs) {
        boolean isObject = next('{');
        boolean isColumns = isObject && !inputs.names().contains("inputs") && isNext("\"inputs\"");
        boolean isKnown = !isObject || ((isColumns || isNext("\"instances\"")) && next(':'));
        if (!isKnown || !value(0) || rank == 0 || (isObject && !next('}')) || !isAtEnd()) {
            return Optional.empty();
        }
        var form = isColumns ? Form.COLUMNS : isObject ? Form.INSTANCES : Form.LIST;
        return form == Form.LIST && rank == 1
                ? Optional.of(records(inputs, Form.ONE, 1, lengths[0]))
                : Optional.of(records(inputs, form, Arrays.copyOf(lengths, rank)));
    }

    private Optional<TensorRecords> lines(TensorInputs inputs) {
        boolean isCsv = kind == Text.CSV;
        do {
            if (!(isCsv ? values(1) : value(1))) {
                return Optional.empty();
            }
            lengths[0]++;
        } while (next('\n') && !isAtEnd());
        var table = inputs.table().isKnown() ? inputs.table() : TableColumns.unnamed(lengths[1]);
        if (!isAtEnd() || (isCsv && table.count() != lengths[1])) {
            return Optional.empty();
        }
        var shape = isCsv ? table.parts().getFirst().shape(lengths[0]) : Arrays.copyOf(lengths, rank);
        return Optional.of(records(inputs, Form.LIST, shape));
    }

    private TensorRecords records(TensorInputs inputs, Form form, int... shape) {
        var tensor = Tensor.of(written, numbers.flip(), shape).as(type);
        RequestMemory.charge(HeapSize.TENSOR + numbers.capacity());
        return TensorRecords.rows(List.of(tensor), inputs, "body", form);
    }

    /// Reads a number, or a list, so many lists deep.
    private boolean value(int depth) {
        if (next('[')) {
            return kind != Text.CSV && depth < MOST_DIMENSIONS && depth != rank && values(depth) && next(']');
        }
        boolean isLevel = rank < 0 || rank == depth;
        rank = depth;
        return isLevel && number();
    }

    /// Reads the values of a list, or the cells of a row.
    private boolean values(int depth) {
        int length = 0;
        do {
            if (!value(depth + 1)) {
                return false;
            }
            length++;
        } while (next(','));
        boolean isAsBefore = lengths[depth] == 0 || lengths[depth] == length;
        lengths[depth] = length;
        return isAsBefore;
    }

    /// Reads a number as JSON writes it. CSV has others, too.
    private boolean number() {
        boolean isNegative = is('-', at);
        int first = isNegative ? at + 1 : at;
        int end = first;
        long digits = 0;
        for (int digit = digit(end); digit >= 0; digit = digit(++end)) {
            digits = 10 * digits + digit;
        }
        int length = end - first;
        int exponent = 0;
        boolean isWhole = !is('.', end);
        if (!isWhole) {
            exponent = ++end;
            for (int digit = digit(end); digit >= 0; digit = digit(++end)) {
                digits = 10 * digits + digit;
            }
            exponent -= end;
        }
        if (length == 0 || (length > 1 && text[first] == '0') || (!isWhole && exponent == 0)) {
            return false;
        }
        boolean isLong = length - exponent > NumberText.MOST_DIGITS;
        if (is('e', end) || is('E', end)) {
            isWhole = false;
            boolean isDown = is('-', ++end);
            int from = isDown || is('+', end) ? ++end : end;
            int power = 0;
            for (int digit = digit(end); digit >= 0 && power < 1000; digit = digit(++end)) {
                power = 10 * power + digit;
            }
            if (end == from) {
                return false;
            }
            exponent += isDown ? -power : power;
        }
        // JSON's -0 is 0, and that of CSV is not.
        boolean isUnusual = end - at > MOST_CHARACTERS || (isWhole && isNegative && digits == 0);
        boolean fits = type.isFloating()
                || (isWhole && !isLong && digits <= NumberText.EXACT && type.holds(isNegative ? -digits : digits));
        if (isUnusual || !fits) {
            return false;
        }
        at = end;
        double value = isLong ? Double.NaN : NumberText.nearest(digits, exponent);
        if (Double.isNaN(value)) {
            value = Double.parseDouble(new String(text, first, end - first, StandardCharsets.US_ASCII));
        }
        if (!numbers.hasRemaining() && !grow()) {
            return false;
        }
        value = isNegative ? -value : value;
        var _ = written == ElementType.FLOAT32 ? numbers.putFloat((float) value) : numbers.putDouble(value);
        return true;
    }

    /// The digit that stands at a place; negative: none does.
    private int digit(int place) {
        int digit = place < text.length ? text[place] - '0' : -1;
        return digit <= 9 ? digit : -1;
    }

    /// Makes room first for as many as there usually are in a text.
    private boolean grow() {
        long size = Math.max(2L * numbers.capacity(), (text.length / 8 + 1L) * written.bytes());
        if (size > Integer.MAX_VALUE - 8) {
            return false;
        }
        held.close();
        held = () -> {};
        // Their copy in their type as well.
        held = RequestMemory.hold(2 * size);
        numbers = ByteBuffer.allocate((int) size).order(ByteOrder.LITTLE_ENDIAN).put(numbers.flip());
        return true;
    }

    private boolean is(char expected, int place) {
        return place < text.length && text[place] == expected;
    }

    /// Whether this comes next behind blanks. Goes behind it.
    private boolean next(char expected) {
        skipBlanks();
        boolean isNext = is(expected, at);
        at += isNext ? 1 : 0;
        return isNext;
    }

    private boolean isNext(String expected) {
        skipBlanks();
        var found = new String(text, at, Math.min(expected.length(), text.length - at), StandardCharsets.US_ASCII);
        at += found.equals(expected) ? expected.length() : 0;
        return found.equals(expected);
    }

    private void skipBlanks() {
        while (at < text.length && text[at] <= ' ' && isBlank(text[at])) {
            at++;
        }
    }

    /// In CSV a return alone may end a row, which is left to the reader.
    private boolean isBlank(byte character) {
        return switch (character) {
            case ' ', '\t' -> true;
            case '\r' -> kind != Text.CSV || is('\n', at + 1);
            case '\n' -> kind == Text.JSON;
            default -> false;
        };
    }

    private boolean isAtEnd() {
        int end = at;
        while (end < text.length && " \t\r\n".indexOf(text[end]) >= 0) {
            end++;
        }
        return end == text.length;
    }
}
