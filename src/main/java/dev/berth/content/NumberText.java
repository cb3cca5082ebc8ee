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
    return FINITE.matcher(number).matches() || isNotFinite(number);
  }

  private static boolean isNotFinite(String number) {
    return NAN.matcher(number).matches() || INFINITY.matcher(number).matches();
  }

  /// @throws NumberFormatException where it is none
  static double read(String text) {
    var number = text.strip();
    if (!isNotFinite(number)) {
      return Double.parseDouble(finite(number));
    }
    return NAN.matcher(number).matches()
        ? Double.NaN
        : number.startsWith("-") ? Double.NEGATIVE_INFINITY : Double.POSITIVE_INFINITY;
  }

  /// @throws NumberFormatException where it is none
  /// @throws ArithmeticException where it is NaN or an infinity
  static BigDecimal exact(String text) {
    var number = text.strip();
    if (isNotFinite(number)) {
      throw new ArithmeticException(number);
    }
    return new BigDecimal(finite(number));
  }

  private static String finite(String number) {
    if (!FINITE.matcher(number).matches()) {
      throw new NumberFormatException("found no number");
    }
    return number.replace("_", "");
  }
}
