package dev.berth.json;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.util.JsonParserDelegate;
import dev.berth.memory.RequestMemory;
import java.io.IOException;

/// Counts what is made of each token before it is made. Three bytes of JSON may become a hundred in
/// memory.
///
/// The costs are those of Jackson's tree on a 64-bit JVM with compressed references, rounded up: a
/// node, its collection, and its place in the collection around it while that is copied to a larger
/// one.
final class CountedParser extends JsonParserDelegate {

  private static final int OBJECT = 192;
  private static final int ARRAY = 120;

  /// An entry of a map and its key.
  private static final int FIELD = 128;

  private static final int VALUE = 40;
  private static final int TEXT = 72;
  private static final int CHARACTER = 2;

  /// Counted at once, because each charge has to look for its account.
  private static final int STEP = 4 << 10;

  private long uncounted;

  CountedParser(JsonParser parser) {
    super(parser);
  }

  @Override
  public JsonToken nextToken() throws IOException {
    var token = delegate.nextToken();
    uncounted += cost(token);
    if (uncounted >= STEP || token == null) {
      RequestMemory.charge(uncounted);
      uncounted = 0;
    }
    return token;
  }

  private long cost(JsonToken token) throws IOException {
    return switch (token) {
      case null -> 0;
      case START_OBJECT -> OBJECT;
      case START_ARRAY -> ARRAY;
      case FIELD_NAME -> FIELD + (long) CHARACTER * delegate.currentName().length();
      case VALUE_STRING -> TEXT + (long) CHARACTER * delegate.getTextLength();
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT, VALUE_TRUE, VALUE_FALSE, VALUE_NULL -> VALUE;
      case END_OBJECT, END_ARRAY, NOT_AVAILABLE, VALUE_EMBEDDED_OBJECT -> 0;
    };
  }
}
