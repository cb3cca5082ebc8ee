import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/// Recommends items to users: those whose vectors have the largest dot products with the user's.
///
/// The server compiles this file and those beside it when it starts, makes one `Inference`, and
/// calls its hooks:
///
/// 1. `modelFn` once for each worker, which is a thread that predicts.
/// 2. `inputFn` for each request. Whatever may be wrong with a request is found here.
/// 3. `predictFn` on a worker, for some of the queries that wait.
/// 4. `outputFn` for each request.
///
/// `inputFn` and `outputFn` run on many threads at the same time, so nothing here ever changes.
public final class Inference implements InferenceHandler<Vectors, Query, Answer> {

    private final Vectors users;
    private final Vectors items;
    private final QueryReader reader;

    public Inference(Path modelDirectory) throws IOException {
        users = Vectors.read(modelDirectory.resolve("users.csv.gz"));
        items = Vectors.read(modelDirectory.resolve("items.csv.gz"));
        if (users.width() != items.width()) {
            throw new IOException("items.csv.gz: found vectors of %d numbers, expected %d as in users.csv.gz"
                    .formatted(items.width(), users.width()));
        }
        reader = new QueryReader(users, items.count());
    }

    /// What is refused before it is read, and listed in the error.
    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON, MediaType.JSON_LINES);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON, MediaType.JSON_LINES);
    }

    /// The workers share one copy. A model with a state of its own would be loaded here, for each
    /// worker.
    @Override
    public Vectors modelFn(ModelContext context) {
        return items;
    }

    @Override
    public List<Query> inputFn(InvocationRequest request) throws IOException {
        return reader.read(request);
    }

    /// As many answers as queries, in the same order.
    @Override
    public List<Answer> predictFn(List<Query> queries, Vectors items) {
        var answers = new ArrayList<Answer>(queries.size());
        for (var query : queries) {
            answers.add(
                    switch (query) {
                        case Query.Wanted wanted ->
                            new Answer.Best(wanted, items.nearest(users.vector(wanted.user()), wanted.k()));
                        case Query.Rejected rejected -> rejected;
                    });
        }
        return answers;
    }

    /// An object for an object, a list for a list, and a line for a line.
    @Override
    public InvocationResponse outputFn(List<Answer> answers, InvocationRequest request) {
        var values = answers.stream().map(this::value).toList();
        if (request.accept().equals(MediaType.JSON_LINES)) {
            return InvocationResponse.of(JsonLines.write(values), request.accept());
        }
        boolean alone = answers.size() == 1
                && answers.getFirst() instanceof Answer.Best best
                && best.query().alone();
        return InvocationResponse.of(Json.write(alone ? values.getFirst() : values), request.accept());
    }

    /// Records become JSON objects with their fields in this order.
    private record Recommended(String user_id, List<Map<String, Double>> recommendations) {}

    private record Bad(String error) {}

    private Object value(Answer answer) {
        return switch (answer) {
            case Answer.Best best ->
                new Recommended(
                        users.id(best.query().user()),
                        Arrays.stream(best.items())
                                .mapToObj(item -> Map.of(
                                        items.id(Ranking.row(item)), Math.round(Ranking.score(item) * 100.0) / 100.0))
                                .toList());
            case Query.Rejected rejected -> new Bad(rejected.message());
        };
    }
}
