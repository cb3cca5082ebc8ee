package dev.berth.transform;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// The words that a field of the API may hold: what an enum's constants are as texts. Case counts,
/// as it does there.
final class ApiWords {

  private ApiWords() {}

  /// The constant that a word stands for; nothing where it stands for none.
  static <E extends Enum<E>> Optional<E> parse(Class<E> type, String word) {
    return Arrays.stream(type.getEnumConstants())
        .filter(constant -> constant.toString().equals(word))
        .findFirst();
  }

  /// The words of some constants, to end the sentence "expected …".
  static String expected(List<?> constants) {
    var words = constants.stream().map(Object::toString).toList();
    int last = words.size() - 1;
    return last == 0
        ? words.getFirst()
        : String.join(", ", words.subList(0, last)) + " or " + words.get(last);
  }
}
