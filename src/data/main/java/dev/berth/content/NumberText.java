package dev.berth.content;

import java.math.BigDecimal;
import java.util.regex.Pattern;

/// Numbers as text, for every format that is text, as Python's `float()` reads them: `.5`, ` 1e3 `,
/// `1_000`, and in any case `nan`, `inf` and `-Infinity`. Nothing else that Java reads is one, such
/// as `1d` or `0x1p3`.
final class NumberText {

    /// It never goes back, which would take hours for a long row of digits.
    private static final Pattern NUMBER =
            Pattern.compile("[-+]?(?:(?:D(?:\\.(?:D)?)?|\\.D)(?:[eE][-+]?D)?|(?i:nan|inf(?:inity)?))"
                    .replace("D", "\\d++(?:_\\d++)*+"));

    private NumberText() {}

    static boolean isNumber(String text) {
        return NUMBER.matcher(text.strip()).matches();
    }

    /// @throws NumberFormatException where it is none
    static double read(String text) {
        var number = digits(text);
        return switch (Character.toLowerCase(number.charAt(number.length() - 1))) {
            case 'n' -> Double.NaN;
            case 'f', 'y' -> number.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
            default -> Double.parseDouble(number);
        };
    }

    /// @throws NumberFormatException where it is none
    /// @throws ArithmeticException where it is no whole number of 64 bits
    static long whole(String text) {
        var number = digits(text);
        if (Character.isLetter(number.charAt(number.length() - 1))) {
            throw new ArithmeticException("found %s, expected digits".formatted(number));
        }
        return new BigDecimal(number).longValueExact();
    }

    private static String digits(String text) {
        if (!isNumber(text)) {
            throw new NumberFormatException("found no number");
        }
        return text.strip().replace("_", "");
    }
}
