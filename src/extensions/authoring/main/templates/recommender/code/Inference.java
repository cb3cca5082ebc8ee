import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Csv;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/// Names the films that are most like one: those whose vectors point the same way. No TorchScript,
/// only `films.csv`.
///
/// An [InferenceHandler] of one's own has four hooks. Its types are the model, a record and a
/// prediction: here films by name, the film that is asked about, and the films that are like it.
public final class Inference implements InferenceHandler<Map<String, float[]>, Inference.Query, List<String>> {

    private static final int MOST = 3;

    /// A record: what one prediction is made of.
    record Query(String film) {}

    /// Loads the model: once for each worker, before `/ping` says 200. Whatever it throws stops the
    /// start.
    @Override
    public Map<String, float[]> modelFn(ModelContext context) throws IOException {
        var films = new HashMap<String, float[]>();
        for (var row : Csv.rows(Files.readString(context.modelDirectory().resolve("films.csv")))) {
            var vector = new float[row.length - 1];
            for (int i = 0; i < vector.length; i++) {
                vector[i] = Float.parseFloat(row[i + 1]);
            }
            films.put(row[0], vector);
        }
        return films;
    }

    /// Bytes to records, on a thread for hooks. A BadInputException is the caller's 400, with its
    /// message.
    @Override
    public List<Query> inputFn(InvocationRequest request) throws IOException {
        JsonNode film = request.json().path("film");
        if (!film.isTextual()) {
            throw new BadInputException("film: found %s, expected a name".formatted(Excerpt.of(film)));
        }
        return List.of(new Query(film.textValue()));
    }

    /// Records of one or several requests to as many predictions in the same order, on the worker's
    /// thread.
    @Override
    public List<List<String>> predictFn(List<Query> queries, Map<String, float[]> films) {
        var predictions = new ArrayList<List<String>>();
        for (var query : queries) {
            var vector = films.get(query.film());
            if (vector == null) {
                throw new BadInputException(
                        "film: found %s, expected one of %s".formatted(Excerpt.quoted(query.film()), films.keySet()));
            }
            predictions.add(films.keySet().stream()
                    .filter(film -> !film.equals(query.film()))
                    .sorted(Comparator.comparing(film -> -cosine(vector, films.get(film))))
                    .limit(MOST)
                    .toList());
        }
        return predictions;
    }

    /// Predictions of one request to bytes, on the request's thread again.
    @Override
    public InvocationResponse outputFn(List<List<String>> predictions, InvocationRequest request) {
        return InvocationResponse.of(Json.write(Map.of("films", predictions.getFirst())), MediaType.JSON);
    }

    /// The content types that `inputFn` reads and `outputFn` writes; all others are refused before
    /// the hooks are called.
    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON);
    }

    private static double cosine(float[] a, float[] b) {
        double product = 0;
        double lengthOfA = 0;
        double lengthOfB = 0;
        for (int i = 0; i < a.length; i++) {
            product += a[i] * b[i];
            lengthOfA += a[i] * a[i];
            lengthOfB += b[i] * b[i];
        }
        return product / Math.sqrt(lengthOfA * lengthOfB);
    }
}
