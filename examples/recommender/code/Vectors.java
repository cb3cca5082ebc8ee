import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.dataformat.csv.CsvMapper;
import com.fasterxml.jackson.dataformat.csv.CsvParser;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;

/// Vectors with their ids, in one matrix whose rows are in the order of the ids. Never changes.
final class Vectors {

    private static final ObjectReader ROWS =
            new CsvMapper().readerFor(String[].class).with(CsvParser.Feature.WRAP_AS_ARRAY);

    /// Shorter ids first, so that 9 comes before 10.
    private static final Comparator<String> BY_ID =
            Comparator.comparingInt(String::length).thenComparing(Comparator.naturalOrder());

    private final String[] ids;
    private final int width;
    private final float[] matrix;
    private final Map<String, Integer> rows = new HashMap<>();

    private Vectors(TreeMap<String, float[]> vectors, int width) {
        this.ids = vectors.keySet().toArray(String[]::new);
        this.width = width;
        this.matrix = new float[Math.multiplyExact(ids.length, width)];
        for (int row = 0; row < ids.length; row++) {
            rows.put(ids[row], row);
            System.arraycopy(vectors.get(ids[row]), 0, matrix, row * width, width);
        }
    }

    /// Reads gzipped CSV: a header, then `id,v0,v1,…` in every row.
    ///
    /// @throws IOException naming the file and the row
    static Vectors read(Path file) throws IOException {
        if (!Files.exists(file)) {
            throw new IOException("%s: found no such file, expected gzipped CSV".formatted(file.getFileName()));
        }
        var vectors = new TreeMap<String, float[]>(BY_ID);
        int number = 1;
        try (var text = new GZIPInputStream(Files.newInputStream(file));
                var rows = ROWS.<String[]>readValues(text)) {
            int columns = rows.hasNextValue() ? rows.nextValue().length : 0;
            while (rows.hasNextValue()) {
                number++;
                var row = rows.nextValue();
                check(row.length == columns, "found %d columns, expected %d as in the header", row.length, columns);
                check(vectors.put(row[0], vector(row)) == null, "found the id %s again, expected another", row[0]);
            }
            check(
                    !vectors.isEmpty() && columns > 1,
                    "found no vector, expected id,v0,v1,… in every row under a header");
            return new Vectors(vectors, columns - 1);
        } catch (IOException e) {
            throw new IOException("%s: row %d: %s".formatted(file.getFileName(), number, e.getMessage()), e);
        }
    }

    private static float[] vector(String[] row) throws IOException {
        var vector = new float[row.length - 1];
        for (int i = 0; i < vector.length; i++) {
            vector[i] = number(row[i + 1]);
            check(Float.isFinite(vector[i]), "v%d: found %s, expected a number", i, row[i + 1]);
        }
        return vector;
    }

    private static float number(String text) {
        try {
            return Float.parseFloat(text);
        } catch (NumberFormatException e) {
            return Float.NaN;
        }
    }

    private static void check(boolean right, String problem, Object... details) throws IOException {
        if (!right) {
            throw new IOException(problem.formatted(details));
        }
    }

    int count() {
        return ids.length;
    }

    int width() {
        return width;
    }

    String id(int row) {
        return ids[row];
    }

    /// Nothing where no vector has this id.
    OptionalInt row(String id) {
        var row = rows.get(id);
        return row == null ? OptionalInt.empty() : OptionalInt.of(row);
    }

    float[] vector(int row) {
        return Arrays.copyOfRange(matrix, row * width, (row + 1) * width);
    }

    /// The `k` rows with the largest dot products, the best first, equal ones by their ids; see
    /// [Ranking].
    long[] nearest(float[] vector, int k) {
        var ranking = new Ranking(k);
        for (int row = 0, start = 0; row < ids.length; row++, start += width) {
            float score = 0;
            for (int i = 0; i < width; i++) {
                score += vector[i] * matrix[start + i];
            }
            ranking.add(row, score);
        }
        return ranking.best();
    }
}
