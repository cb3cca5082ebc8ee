package dev.berth.examples;

import static dev.berth.testing.TestServer.json;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.flatbuffers.FlatBufferBuilder;
import dev.berth.testing.TestServer;
import dev.hardwood.InputFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.memory.unsafe.UnsafeAllocationManager;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.xerial.snappy.Snappy;

/// Parquet and Arrow through libraries of the artifact's own, in the example of `examples/tabular`.
class TabularTest {

    private static final Path EXAMPLE = Path.of("examples/tabular");
    private static final String PARQUET = "application/x-parquet";
    private static final String ARROW = "application/vnd.apache.arrow.stream";

    @TempDir
    private static Path artifact;

    @AutoClose
    private static TestServer server;

    @BeforeAll
    static void start() throws Exception {
        putInto(artifact);
        server = TestServer.artifact(artifact).start();
    }

    /// Makes an artifact of the example, with its libraries.
    static void putInto(Path artifact) throws Exception {
        Files.copy(EXAMPLE.resolve("model.pt"), artifact.resolve("model.pt"));
        var code = Files.createDirectory(artifact.resolve("code"));
        for (var source : new String[] {"Inference", "ArrowTable", "ParquetTable", "ParquetSizes"}) {
            Files.copy(EXAMPLE.resolve("code/" + source + ".java"), code.resolve(source + ".java"));
        }
        var libraries = Files.createDirectory(code.resolve("lib"));
        for (var one : new Class<?>[] {
            InputFile.class,
            Snappy.class,
            ArrowStreamReader.class,
            BufferAllocator.class,
            UnsafeAllocationManager.class,
            Schema.class,
            FlatBufferBuilder.class
        }) {
            var jar = Path.of(
                    one.getProtectionDomain().getCodeSource().getLocation().toURI());
            Files.copy(jar, libraries.resolve(jar.getFileName()));
        }
    }

    @ParameterizedTest
    @CsvSource({"flats.parquet," + PARQUET, "flats.arrow," + ARROW})
    void tablesAreAnsweredByPrices(String file, String type) throws Exception {
        assertThat(ask(Files.readAllBytes(EXAMPLE.resolve(file)), type).body())
                .isEqualTo("{\"prices\":[520.0,232.5,870.0]}");
    }

    @Test
    void anArrowStreamIsAnsweredByOne() throws Exception {
        var flats = Files.readAllBytes(EXAMPLE.resolve("flats.parquet"));
        var answer = server.invoke(flats, "Content-Type", PARQUET, "Accept", ARROW);
        assertThat(answer.headers().firstValue("Content-Type")).contains(ARROW);
        try (var allocator = new RootAllocator();
                var reader = new ArrowStreamReader(new ByteArrayInputStream(answer.body()), allocator)) {
            assertThat(reader.loadNextBatch()).isTrue();
            assertThat(reader.getVectorSchemaRoot().contentToTSVString()).isEqualTo("price\n520.0\n232.5\n870.0\n");
        }
    }

    @Test
    void aSmallFileOfVeryManyRowsIsRefused() throws Exception {
        var file = Files.readAllBytes(resource());
        assertThat(file).hasSizeLessThan(10_000);
        assertThat(refusal(ask(file, PARQUET))).isEqualTo("body: found 200000 rows, expected at most 100000");
    }

    private static Path resource() {
        return Path.of("src/test/resources/tabular/200000-rows.parquet");
    }

    /// A page that says that it unpacks to 2 GiB, one whose Snappy has more bytes than it says, and a
    /// list that says that it has 4 billion elements.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      150015feffffff0f150000         | 3602191c191c3c7616260800000000     | body: found pages that unpack to 2147483647,
      1500151415082c15020000e8070000 | 3602191c191c3c4502361e260800000000 | body: found a page that unpacks to another size
      15001500                       | 29fcffffffff0f                     | body: found a list of 4294967295,
      """)
    void aSizeThatIsNotThereIsNotBelieved(String pages, String footer, String message) throws Exception {
        var page = HexFormat.of().parseHex(pages);
        var tail = HexFormat.of().parseHex(footer);
        var file = ByteBuffer.allocate(12 + page.length + tail.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put("PAR1".getBytes())
                .put(page)
                .put(tail)
                .putInt(tail.length)
                .put("PAR1".getBytes())
                .array();
        assertThat(refusal(ask(file, PARQUET))).startsWith(message);
    }

    @Test
    void aMessageThatIsNotThereIsNotBelieved() throws Exception {
        var stream = HexFormat.of().parseHex("ffffffff" + "ffffff7f");
        assertThat(refusal(ask(stream, ARROW)))
                .isEqualTo("body: found a message of 2147483647 bytes, of which 0 are there");
    }

    @ParameterizedTest
    @Tag("slow")
    @CsvSource({"flats.parquet," + PARQUET, "flats.arrow," + ARROW})
    void damagedTablesAreAnsweredOrRefused(String file, String type) throws Exception {
        var whole = Files.readAllBytes(EXAMPLE.resolve(file));
        var random = new Random(1);
        for (int i = 0; i < 500; i++) {
            int place = random.nextInt(whole.length - 3);
            var body = Arrays.copyOf(whole, i % 3 == 0 ? place : whole.length);
            if (i % 3 == 1) {
                body[place] ^= (byte) (1 << random.nextInt(Byte.SIZE));
            } else if (i % 3 == 2) {
                Arrays.fill(body, place, place + 3, (byte) -1);
            }
            var response = ask(body, type);
            assertThat(response.statusCode()).as(response.body()).isIn(200, 400);
        }
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
    }

    private static HttpResponse<String> ask(byte[] body, String type) throws Exception {
        return server.invoke(BodyPublishers.ofByteArray(body), "Content-Type", type);
    }

    /// The message of a 400.
    private static String refusal(HttpResponse<String> response) throws IOException {
        return json(response, 400).path("message").textValue();
    }
}
