import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/// Reads queries from JSON and from JSON Lines. A [BadInputException] goes to the caller as it is, with status 400, so
/// each says where something is wrong, what was found and what was expected.
final class QueryReader {

  private static final JsonMapper JSON = new JsonMapper();
  private static final Set<String> FIELDS = Set.of("user_id", "k");
  private static final String EXPECTED = "expected {\"user_id\": …, \"k\": …}";
  private static final int DEFAULT_K = 10;

  /// The answers of one request are in memory together, and a short query may ask for many items.
  private static final int MAX_ITEMS_OF_A_REQUEST = 3_000_000;

  private final Vectors users;
  private final int items;

  /// @param items how many there are
  QueryReader(Vectors users, int items) {
    this.users = users;
    this.items = items;
  }

  List<Query> read(InvocationRequest request) throws IOException {
    var text = request.text();
    if (text.isBlank()) {
      throw new BadInputException("body: found nothing, " + EXPECTED);
    }
    var queries = MediaType.JSON_LINES.includes(request.contentType())
        ? lines(text, request.keepBadRecords())
        : json(parse("body", text));
    long wanted = queries.stream().mapToLong(query -> query instanceof Query.Wanted one ? one.k() : 0).sum();
    if (wanted > MAX_ITEMS_OF_A_REQUEST) {
      throw new BadInputException("body: found %d queries for %d items in all, expected at most %d items in a request"
          .formatted(queries.size(), wanted, MAX_ITEMS_OF_A_REQUEST));
    }
    return queries;
  }

  private List<Query> json(JsonNode body) {
    if (!body.isArray()) {
      return List.of(query("", body, true));
    }
    var queries = new ArrayList<Query>(body.size());
    for (int i = 0; i < body.size(); i++) {
      queries.add(query("[%d]: ".formatted(i), body.path(i), false));
    }
    return queries;
  }

  /// A batch-transform job joins its input and output line by line, so no line is skipped but blank ones at the end.
  private List<Query> lines(String text, boolean keepBadLines) throws IOException {
    var lines = text.stripTrailing().split("\n", -1);
    var queries = new ArrayList<Query>(lines.length);
    for (int i = 0; i < lines.length; i++) {
      var place = "line " + (i + 1);
      try {
        queries.add(query(place + ": ", parse(place, lines[i]), false));
      } catch (BadInputException e) {
        if (!keepBadLines) {
          throw e;
        }
        queries.add(new Query.Rejected(e.getMessage()));
      }
    }
    return queries;
  }

  private static JsonNode parse(String place, String text) throws IOException {
    try (var parser = JSON.createParser(text)) {
      JsonNode value = JSON.readTree(parser);
      if (value == null) {
        throw new BadInputException(place + ": found nothing, " + EXPECTED);
      }
      if (parser.nextToken() != null) {
        throw new BadInputException(
            place + ": found a second JSON value; for JSON Lines the content type is application/jsonlines");
      }
      return value;
    } catch (JsonProcessingException e) {
      throw new BadInputException("%s: not JSON%s: %s".formatted(place, where(e), e.getOriginalMessage()), e);
    }
  }

  /// JSON that nests too deeply has no place.
  private static String where(JsonProcessingException e) {
    var location = e.getLocation();
    return location == null ? "" : location.getLineNr() == 1
        ? " at column " + location.getColumnNr()
        : " at line %d, column %d".formatted(location.getLineNr(), location.getColumnNr());
  }

  /// @param prefix what to put before a field's name in messages
  private Query query(String prefix, JsonNode json, boolean alone) {
    if (!json.isObject()) {
      throw new BadInputException(
          "%sfound %s, %s".formatted(prefix.isEmpty() ? "body: " : prefix, shown(json), EXPECTED));
    }
    for (var field : (Iterable<String>) json::fieldNames) {
      if (!FIELDS.contains(field)) {
        throw new BadInputException(
            "%sfound the unknown field %s, expected user_id and k".formatted(prefix, quoted(field)));
      }
    }
    return new Query.Wanted(user(prefix, json.path("user_id")), k(prefix, json.path("k")), alone);
  }

  private int user(String prefix, JsonNode id) {
    if (!id.isTextual() && !id.isIntegralNumber()) {
      throw new BadInputException(
          "%suser_id: found %s, expected a text or a whole number".formatted(prefix, shown(id)));
    }
    return users.row(id.asText()).orElseThrow(() -> new BadInputException(
        "%suser_id: found the unknown user %s, expected one of the %d in users.csv.gz"
            .formatted(prefix, quoted(id.asText()), users.count())));
  }

  private int k(String prefix, JsonNode k) {
    if (k.isMissingNode()) {
      return Math.min(DEFAULT_K, items);
    }
    if (!k.isIntegralNumber() || !k.canConvertToInt() || k.intValue() < 1 || k.intValue() > items) {
      throw new BadInputException(
          "%sk: found %s, expected a whole number from 1 to %d".formatted(prefix, shown(k), items));
    }
    return k.intValue();
  }

  private static String shown(JsonNode value) {
    return switch (value.getNodeType()) {
      case MISSING -> "nothing";
      case OBJECT -> "an object";
      case ARRAY -> "a list";
      case STRING -> quoted(value.textValue());
      default -> cut(value.asText());
    };
  }

  private static String quoted(String text) {
    return '"' + cut(text) + '"';
  }

  private static String cut(String text) {
    return text.length() <= 60 ? text : text.substring(0, 60) + "…";
  }
}
