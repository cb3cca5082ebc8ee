package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.NullNode;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

/// The elements of a tensor that have been read so far, as every format that is text reads them. Room
/// is made for those that are there, not for those that a shape promises.
final class Elements {

    /// The numbers that JSON has no form for.
    private static final Set<String> NO_JSON = Set.of("NaN", "Infinity", "-Infinity");

    /// Of a number in a cell, as in JSON, because reading more takes the square of the time.
    private static final int MOST_DIGITS = 1000;

    private final ElementType type;

    /// One of these has them.
    private final List<String> texts = new ArrayList<>();

    private final DoubleStream.Builder fractions = DoubleStream.builder();
    private final LongStream.Builder wholes = LongStream.builder();

    /// @param type what they become
    Elements(ElementType type) {
        this.type = type;
    }

    /// Adds a text, a number, true or false, or null, which is a missing value: NaN, or no characters.
    ///
    /// @param bad what to throw where it does not fit, by what is expected
    void add(JsonNode value, Function<String, BadInputException> bad) {
        if (type == ElementType.STRING) {
            texts.add(text(value, bad));
        } else if (type.isFloating()) {
            fractions.add(fraction(value, bad));
        } else {
            wholes.add(whole(value, bad));
        }
    }

    /// Adds a cell of a row, whose numbers are those of [NumberText]. An empty one is a missing value.
    void addCell(String cell, Function<String, BadInputException> bad) {
        var value = cell.strip();
        boolean isTrue = value.equalsIgnoreCase("true");
        if (type == ElementType.STRING) {
            texts.add(cell);
        } else if (value.length() > MOST_DIGITS) {
            throw bad.apply("a number of at most %d characters".formatted(MOST_DIGITS));
        } else if (type == ElementType.BOOL && (isTrue || value.equalsIgnoreCase("false"))) {
            wholes.add(isTrue ? 1 : 0);
        } else if (value.isEmpty()) {
            add(NullNode.instance, bad);
        } else {
            addNumber(value, bad);
        }
    }

    private void addNumber(String number, Function<String, BadInputException> bad) {
        try {
            if (type.isFloating()) {
                fractions.add(NumberText.read(number));
            } else {
                wholes.add(held(NumberText.whole(number), bad));
            }
        } catch (NumberFormatException _) {
            throw bad.apply("a number");
        } catch (ArithmeticException _) {
            throw noWhole(bad);
        }
    }

    Tensor tensor(int... shape) {
        if (type == ElementType.STRING) {
            return Tensor.of(texts.toArray(String[]::new), shape);
        }
        return type.isFloating()
                ? Tensor.of(fractions.build().toArray(), shape).as(type)
                : Tensor.of(wholes.build().toArray(), shape).as(type);
    }

    private static String text(JsonNode value, Function<String, BadInputException> bad) {
        boolean isMissing = value.isNull() || Double.isNaN(value.doubleValue());
        if (!value.isTextual() && !isMissing) {
            throw bad.apply("a text");
        }
        return isMissing ? "" : value.textValue();
    }

    /// Jobs over tables write NaN and infinities as texts.
    private static double fraction(JsonNode value, Function<String, BadInputException> bad) {
        if (value.isBoolean()) {
            return value.booleanValue() ? 1 : 0;
        }
        if (value.isNull()) {
            return Double.NaN;
        }
        if (value.isTextual() && NO_JSON.contains(value.textValue())) {
            return NumberText.read(value.textValue());
        }
        if (!value.isNumber()) {
            throw bad.apply("a number");
        }
        return value.doubleValue();
    }

    private long whole(JsonNode value, Function<String, BadInputException> bad) {
        if (value.isBoolean()) {
            return value.booleanValue() ? 1 : 0;
        }
        if (!value.isNumber() || !value.canConvertToExactIntegral() || !value.canConvertToLong()) {
            throw noWhole(bad);
        }
        return held(value.longValue(), bad);
    }

    private long held(long value, Function<String, BadInputException> bad) {
        if (!type.holds(value)) {
            throw noWhole(bad);
        }
        return value;
    }

    private BadInputException noWhole(Function<String, BadInputException> bad) {
        return bad.apply("a whole number that is " + type);
    }
}
