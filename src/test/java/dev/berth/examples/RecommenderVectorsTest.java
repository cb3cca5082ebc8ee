package dev.berth.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.Gzipped;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The vectors of the recommender of `examples/`: its own, others that say more, and wrong ones.
class RecommenderVectorsTest {

    private static final Path EXAMPLE = Path.of("examples/recommender");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String HEADER = "id,v0,v1\n";

    @Test
    void theItemsAreThoseWithTheLargestDotProducts() throws Exception {
        try (var server = TestServer.artifact(EXAMPLE).start()) {
            for (var user : List.of("114521", "113001", "115000")) {
                for (int k : new int[] {1, 10, 1000}) {
                    assertThat(items(server, "{\"user_id\": \"%s\", \"k\": %d}".formatted(user, k)))
                            .isEqualTo(sorted(user, k));
                }
            }
        }
    }

    /// The same by sorting all items.
    private static List<Map.Entry<String, Double>> sorted(String user, int k) throws IOException {
        var vector = vectors("users.csv.gz").get(user);
        var scores = new HashMap<String, Float>();
        vectors("items.csv.gz").forEach((item, other) -> scores.put(item, dotProduct(vector, other)));
        return scores.entrySet().stream()
                .sorted(Map.Entry.<String, Float>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(k)
                .map(entry -> Map.entry(entry.getKey(), Math.round(entry.getValue() * 100.0) / 100.0))
                .toList();
    }

    @Test
    void equalScoresAreInTheOrderOfTheirIds(@TempDir Path directory) throws Exception {
        write(directory, "users.csv.gz", HEADER + "ann,1,0\nbob,-1,0\n");
        write(directory, "items.csv.gz", HEADER + "10,0.5,7\n100,1,2\n9,0.5,3\n8,0,0\n11,0.5,0\n");
        try (var few = TestServer.artifact(withCode(directory)).start()) {
            assertThat(items(few, "{\"user_id\": \"ann\", \"k\": 3}"))
                    .containsExactly(Map.entry("100", 1.0), Map.entry("9", 0.5), Map.entry("10", 0.5));
            assertThat(items(few, "{\"user_id\": \"bob\"}"))
                    .as("all, where there are fewer than ten")
                    .containsExactly(
                            Map.entry("8", 0.0),
                            Map.entry("9", -0.5),
                            Map.entry("10", -0.5),
                            Map.entry("11", -0.5),
                            Map.entry("100", -1.0));
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      9,1           | items.csv.gz: row 2: found 2 columns, expected 3 as in the header
      9,1,x         | items.csv.gz: row 2: v1: found x, expected a number
      9,1,NaN       | items.csv.gz: row 2: v1: found NaN, expected a number
      9,1,1;9,1,1   | items.csv.gz: row 3: found the id 9 again, expected another
      ''            | items.csv.gz: row 1: found no vector, expected id,v0,v1,… in every row under a header
      """)
    void vectorsThatAreWrongEndTheStart(String rows, String problem, @TempDir Path directory) throws Exception {
        write(directory, "users.csv.gz", HEADER + "ann,1,0\n");
        write(directory, "items.csv.gz", HEADER + rows.replace(';', '\n'));
        assertDoesNotStart(directory, problem);
    }

    @Test
    void vectorsThatDoNotFitOrAreNotGzippedOrMissingEndTheStart(@TempDir Path directory) throws Exception {
        write(directory, "users.csv.gz", HEADER + "ann,1,0\n");
        write(directory, "items.csv.gz", "id,v0\n9,1\n");
        assertDoesNotStart(directory, "items.csv.gz: found vectors of 1 numbers, expected 2 as in users.csv.gz");
        Files.writeString(directory.resolve("users.csv.gz"), HEADER + "ann,1,0\n");
        assertDoesNotStart(directory, "users.csv.gz: row 1: Not in GZIP format");
        Files.delete(directory.resolve("users.csv.gz"));
        assertDoesNotStart(directory, "users.csv.gz: found no such file, expected gzipped CSV");
    }

    private static void assertDoesNotStart(Path directory, String problem) throws Exception {
        TestServer.artifact(withCode(directory)).assertDoesNotStart(problem);
    }

    /// The directory, with the example's code.
    private static Path withCode(Path directory) throws IOException {
        var code = Files.createDirectories(directory.resolve("code"));
        try (var sources = Files.list(EXAMPLE.resolve("code"))) {
            for (var source : sources.toList()) {
                Files.writeString(code.resolve(source.getFileName()), Files.readString(source));
            }
        }
        return directory;
    }

    private static void write(Path directory, String file, String text) throws IOException {
        Files.write(directory.resolve(file), Gzipped.packed(text.getBytes(StandardCharsets.UTF_8)));
    }

    private static Map<String, float[]> vectors(String file) throws IOException {
        var vectors = new HashMap<String, float[]>();
        var rows = Gzipped.text(EXAMPLE.resolve(file)).lines().skip(1);
        rows.map(line -> line.split(",")).forEach(row -> {
            var vector = new float[row.length - 1];
            for (int i = 0; i < vector.length; i++) {
                vector[i] = Float.parseFloat(row[i + 1]);
            }
            vectors.put(row[0], vector);
        });
        return vectors;
    }

    private static float dotProduct(float[] one, float[] other) {
        float sum = 0;
        for (int i = 0; i < one.length; i++) {
            sum += one[i] * other[i];
        }
        return sum;
    }

    private static List<Map.Entry<String, Double>> items(TestServer server, String body) throws Exception {
        return RecommenderTest.items(JSON.readTree(server.invoke(body).body()));
    }
}
