package dev.berth.content;

import java.math.BigDecimal;
import java.util.regex.Pattern;
import java.util.stream.DoubleStream;

/// Numbers as text, for every format that is text, as Python's `float()` reads them: `.5`, ` 1e3 `,
/// `1_000`, and in any case `nan`, `inf` and `-Infinity`. Nothing else that Java reads is one, such
/// as `1d` or `0x1p3`.
final class NumberText {

    /// It never goes back, which would take hours for a long row of digits.
    private static final Pattern NUMBER =
            Pattern.compile("[-+]?(?:(?:D(?:\\.(?:D)?)?|\\.D)(?:[eE][-+]?D)?|(?i:nan|inf(?:inity)?))"
                    .replace("D", "\\d++(?:_\\d++)*+"));

    /// Any number of so many digits is a long.
    static final int MOST_DIGITS = 18;

    /// Up to here a double holds each whole number, and these powers of ten.
    static final long EXACT = 1L << 53;

    private static final double[] POWERS =
            DoubleStream.iterate(1, power -> 10 * power).limit(23).toArray();

    /// More than the error of a quotient's correction, as a part of it.
    private static final double ERROR = 0x1p-50;

    private NumberText() {}

    /// The double that is nearest to `digits * 10^exponent`; NaN where this does not tell.
    ///
    /// Of two exact doubles the product or quotient is the nearest (Clinger 1990). Else the quotient is
    /// corrected by its exact remainder. Where both ends of what the correction may be are rounded to
    /// one double, it is that.
    static double nearest(long digits, int exponent) {
        if (Math.abs(exponent) >= POWERS.length || (exponent > 0 && digits > EXACT)) {
            return Double.NaN;
        }
        double near = digits;
        double power = POWERS[Math.abs(exponent)];
        double quotient = exponent > 0 ? near * power : near / power;
        if (digits <= EXACT) {
            return quotient;
        }
        double correction = (Math.fma(-quotient, power, near) + (digits - (long) near)) / power;
        double error = Math.abs(correction) * ERROR;
        double value = quotient + (correction - error);
        return value == quotient + (correction + error) ? value : Double.NaN;
    }

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
