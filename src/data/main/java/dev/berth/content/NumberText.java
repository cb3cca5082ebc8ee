package dev.berth.content;

import java.math.BigDecimal;
import java.util.regex.Pattern;

/// Numbers as text, for every format that is text, as Python's `float()` reads them: `.5`, ` 1e3 `,
/// `1_000`, and in any case `nan`, `inf` and `-Infinity`. Nothing else that Java reads is one, such
/// as `1d` or `0x1p3`.
final class NumberText {

    private static final String DIGITS = "\\d++(?:_\\d++)*+";

    /// It never goes back, which would take hours for a long row of digits.
    private static final Pattern FINITE =
            Pattern.compile("[-+]?(?:D(?:\\.(?:D)?)?|\\.D)(?:[eE][-+]?D)?".replace("D", DIGITS));

    private static final Pattern NAN = Pattern.compile("(?i)[-+]?nan");
    private static final Pattern INFINITY = Pattern.compile("(?i)[-+]?inf(?:inity)?");

    private NumberText() {}

    static boolean isNumber(String text) {
        var number = text.strip();
        return FINITE.matcher(number).matches() || isNan(number) || isInfinity(number);
    }

    /// @throws NumberFormatException where it is none
    static double read(String text) {
        var number = text.strip();
        if (FINITE.matcher(number).matches()) {
            return Double.parseDouble(digits(number));
        }
        if (isInfinity(number)) {
            return number.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
        }
        if (isNan(number)) {
            return Double.NaN;
        }
        throw new NumberFormatException("found no number");
    }

    /// @throws NumberFormatException where it is none
    /// @throws ArithmeticException where it is NaN or an infinity
    static BigDecimal exact(String text) {
        var number = text.strip();
        if (FINITE.matcher(number).matches()) {
            return new BigDecimal(digits(number));
        }
        throw new ArithmeticException("found %s, expected digits".formatted(read(number)));
    }

    private static boolean isNan(String number) {
        return NAN.matcher(number).matches();
    }

    private static boolean isInfinity(String number) {
        return INFINITY.matcher(number).matches();
    }

    private static String digits(String number) {
        return number.replace("_", "");
    }
}
