import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.content.JsonLines;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Reads queries from JSON and from JSON Lines. A [BadInputException] goes to the caller as it is,
/// with status 400, so each says where something is wrong, what was found and what was expected.
final class QueryReader {

    private static final List<String> FIELDS = List.of("user_id", "k");
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
        var queries = MediaType.JSON_LINES.includes(request.contentType())
                ? lines(JsonLines.read(request), request.keepBadRecords())
                : json(request.json());
        long wanted = queries.stream()
                .mapToLong(query -> query instanceof Query.Wanted one ? one.k() : 0)
                .sum();
        if (wanted > MAX_ITEMS_OF_A_REQUEST) {
            throw new BadInputException(
                    "body: found %d queries for %d items in all, expected at most %d items in a request"
                            .formatted(queries.size(), wanted, MAX_ITEMS_OF_A_REQUEST));
        }
        return queries;
    }

    private List<Query> json(JsonNode body) {
        if (!body.isArray()) {
            return List.of(query("body", body, true));
        }
        var queries = new ArrayList<Query>(body.size());
        for (int i = 0; i < body.size(); i++) {
            queries.add(query("[%d]".formatted(i), body.path(i), false));
        }
        return queries;
    }

    private List<Query> lines(List<JsonLines.Line> lines, boolean keepBadLines) {
        var queries = new ArrayList<Query>(lines.size());
        for (var line : lines) {
            try {
                queries.add(query(line.name() + ": body", line.json(), false));
            } catch (BadInputException e) {
                if (!keepBadLines) {
                    throw e;
                }
                queries.add(new Query.Rejected(e.getMessage()));
            }
        }
        return queries;
    }

    /// @param name what messages call it
    private Query query(String name, JsonNode json, boolean alone) {
        var fields = Fields.of(json, name, FIELDS);
        int k = fields.integer("k", 1, items, Math.min(DEFAULT_K, items));
        return new Query.Wanted(user(fields), k, alone);
    }

    private int user(Fields fields) {
        var id = fields.json("user_id");
        if (!id.isTextual() && !id.isIntegralNumber()) {
            throw fields.bad("user_id", "a text or a whole number");
        }
        return users.row(id.asText())
                .orElseThrow(() ->
                        new BadInputException("%s: found the unknown user %s, expected one of the %d in users.csv.gz"
                                .formatted(fields.name("user_id"), Excerpt.quoted(id.asText()), users.count())));
    }
}
