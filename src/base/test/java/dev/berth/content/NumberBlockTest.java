package dev.berth.content;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// What is read as a block is what the readers of JSON, JSON Lines and CSV read, bit by bit. These read a
/// body under a name of its charset that [NumberBlock] does not know.
class NumberBlockTest {

    private static final List<ElementType> NUMBERS = Stream.of(ElementType.values())
            .filter(type -> type != ElementType.STRING)
            .toList();

    private static final String JSON = "application/json";
    private static final String LINES = "application/jsonlines";
    private static final String CSV = "text/csv";

    /// Any bits of a double, and what people write.
    private static String number(Random random) {
        double value = switch (random.nextInt(6)) {
            case 0 -> Double.longBitsToDouble(random.nextLong());
            case 1 -> random.nextGaussian();
            case 2 -> random.nextDouble();
            case 3 -> random.nextInt(-300, 300);
            case 4 -> random.nextLong() >> random.nextInt(64);
            default -> random.nextFloat() * 1000;
        };
        double finite = Double.isFinite(value) ? value : 0.5;
        var exact = new BigDecimal(finite);
        return switch (random.nextInt(7)) {
            case 0 -> Double.toString(finite);
            case 1 -> Float.toString((float) Math.clamp(finite, -1e30, 1e30));
            case 2 -> String.format(Locale.ROOT, "%.6f", Math.clamp(finite, -1e20, 1e20));
            case 3 -> String.format(Locale.ROOT, "%.17e", finite);
            case 4 ->
                Double.toString(finite)
                        .toLowerCase(Locale.ROOT)
                        .replace("e", "e+")
                        .replace("+-", "-");
            case 5 -> exact.precision() < 40 && exact.scale() < 40 && exact.scale() > -20 ? exact.toPlainString() : "7";
            default -> Long.toString((long) finite);
        };
    }

    @Property(tries = 400)
    void anyNumbersAreReadAsTheReadersDo(@ForAll long seed) throws IOException {
        var random = new Random(seed);
        int rows = random.nextInt(1, 8);
        int columns = random.nextInt(1, 6);
        var table = IntStream.range(0, rows)
                .mapToObj(_ -> IntStream.range(0, columns)
                        .mapToObj(_ -> number(random))
                        .toList())
                .toList();
        for (var type : NUMBERS) {
            compare(json(table), JSON, type);
            compare("{\"instances\": %s}".formatted(json(table)), JSON, type);
            compare("{ \"inputs\" :%s }\n".formatted(json(table)), JSON, type);
            compare(table.getFirst().toString(), JSON, type);
            compare(lines(table, "[", "]"), LINES, type);
            compare(lines(table, "", ""), CSV, type);
        }
    }

    private static String json(List<List<String>> table) {
        return table.toString();
    }

    private static String lines(List<List<String>> table, String open, String close) {
        return String.join(
                "\n",
                table.stream().map(row -> open + String.join(",", row) + close).toList());
    }

    /// Between two doubles, and a little beside: what rounding twice would get wrong.
    @Property(tries = 2000)
    void theNearestDoubleIsFound(@ForAll long seed) {
        var random = new Random(seed);
        double value = Math.scalb(1 + random.nextDouble(), random.nextInt(-70, 60));
        var middle = new BigDecimal(value).add(new BigDecimal(Math.ulp(value)).divide(BigDecimal.TWO));
        int digits = random.nextInt(15, 19);
        var near = middle.round(new MathContext(digits));
        for (int beside = -1; beside <= 1; beside++) {
            var number = near.add(near.ulp().multiply(BigDecimal.valueOf(beside)));
            double found = NumberText.nearest(number.unscaledValue().longValueExact(), -number.scale());
            assertThat(Double.isNaN(found) ? number.doubleValue() : found)
                    .as("seed %d: %s", seed, number)
                    .isEqualTo(number.doubleValue());
        }
    }

    @Test
    void numbersAsPeopleWriteThemAreABlock() throws IOException {
        for (var number :
                List.of("0", "-1", "0.08444218515250481", "-12.5e-3", "1E5", "123456789012345678.5", "1e300")) {
            assertThat(block("[[%s,2],[3 ,\t4]]".formatted(number), JSON, ElementType.FLOAT64))
                    .as(number)
                    .isPresent();
            assertThat(block(number + ",2\r\n3 ,\t4\r\n", CSV, ElementType.FLOAT64))
                    .as(number)
                    .isPresent();
            assertThat(block("[%s]\n [3]\n\n".formatted(number), LINES, ElementType.FLOAT64))
                    .as(number)
                    .isPresent();
        }
        assertThat(block("{\"instances\": [1, 2]}", JSON, ElementType.INT64))
                .contains(List.of(Tensor.of(new long[] {1, 2}, 2)));
        assertThat(block("1\n2\n", CSV, ElementType.INT64)).contains(List.of(Tensor.of(new long[] {1, 2}, 2)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "01",
                "1.",
                ".5",
                "+1",
                "1e",
                "1e+",
                "-",
                "--1",
                "-0",
                "-0.0",
                "1.5.2",
                "1e5.2",
                "1e99999",
                "1e00000001",
                "0x1",
                "1_000",
                "NaN",
                "-Infinity",
                "null",
                "true",
                "\"1\"",
                "",
                "[]",
                "[1]",
                "{}",
                "1 2",
                "1,",
                ",1",
                "9007199254740993",
                "123456789012345678901234567890",
                "9223372036854775807",
                "9223372036854775808",
                "-9223372036854775808",
                "1e400",
                "-1e400",
                "1e-400",
                "256",
                "-129",
                "1.0",
                "65536",
                "0.00000000000000000000000000000000000000000000000000000000000000000000000000001",
                "1\u00a0",
                "1\f",
                "1\u001c",
                "1//",
                "1d",
                "1f",
                "\ufeff1",
                "1\r",
                "\r1",
                "1\n",
                "\n1",
                "1\r\n",
                "\t1 ",
                "1\n\n2",
                "1\n \n2",
                "1]",
                "[1",
                "1,]",
                "1}",
                "\u0661",
                "1\0"
            })
    void theOutcomeIsThatOfTheReadersWhateverStandsThere(String text) throws IOException {
        for (var type : NUMBERS) {
            for (var form : List.of(
                    "%s",
                    "[%s]",
                    "[[%s]]",
                    "[[%s],[2]]",
                    "[[2],[%s]]",
                    "[[1,%s],[3,4]]",
                    "[1,%s]",
                    "{\"instances\":[%s]}",
                    "{\"instances\":[[%s]]}",
                    "{\"inputs\":%s}",
                    "{\"inputs\":[[%s]]}",
                    "{\"instances\":[[1]]%s}",
                    "[[1]]%s",
                    "%s[[1]]",
                    "{\"instances\":[[1]],\"instances\":[[%s]]}",
                    "{\"x\":%s}",
                    "[[1],%s]",
                    "[[[1],[%s]],[[3],[4]]]")) {
                compare(form.replace("%s", text), JSON, type);
            }
            for (var form : List.of(
                    "%s", "[%s]", "[1]\n[%s]", "[%s]\n[1]\n", "[1]%s", "%s[1]", "[1]\n%s", "[1,%s]\r\n[1,2]\r\n")) {
                compare(form.replace("%s", text), LINES, type);
            }
            for (var form : List.of(
                    "%s", "1,%s", "%s,1", "1,2\n%s,1\n", "1\n%s", "%s\n1", "1,2\r\n%s,4\r\n", "x,y\n1,%s", "1,%s\n3")) {
                compare(form.replace("%s", text), CSV, type);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(value = ElementType.class, mode = EnumSource.Mode.EXCLUDE, names = "STRING")
    void theEndsOfATypeAreItsOwn(ElementType type) throws IOException {
        for (int bits = 0; bits < 64; bits++) {
            for (long beside = -1; beside <= 1; beside++) {
                for (long number : new long[] {(1L << bits) + beside, -(1L << bits) + beside}) {
                    compare("[[%d]]".formatted(number), JSON, type);
                    compare("" + number, CSV, type);
                }
            }
        }
    }

    @Test
    void namesAndHeadersAreLeftToTheReaders() throws IOException {
        var numbered = new TensorInputs(
                List.of("x"),
                List.of(ElementType.FLOAT32),
                new TableColumns(List.of(new TableColumns.Part(List.of("0", "1"), List.of(2)))));
        assertThat(read("0,1\n2,3\n", CSV, numbered, false).count()).isEqualTo(1);
        var two = new TensorInputs(
                List.of("x"),
                List.of(ElementType.FLOAT32),
                new TableColumns(List.of(new TableColumns.Part(List.of("a", "b"), List.of(1, 2)))));
        assertThat(read("0,1\n2,3\n", CSV, two, false).block().orElseThrow().getFirst())
                .hasToString("float32[2, 1, 2]");
        assertThat(read("0,1\n2,3\n", CSV + ";header=absent", two, false).block())
                .isPresent();
        assertThat(read("0,1\n2,3\n", CSV + ";header=present", any(ElementType.FLOAT32), false)
                        .count())
                .isEqualTo(1);
        assertThat(read("0,1,2\n", CSV, two, false).block()).isEmpty();
        var inputs = new TensorInputs(List.of("inputs"), List.of(ElementType.FLOAT32));
        assertThat(read("{\"inputs\": [[1, 2]]}", JSON, inputs, false).form()).isEqualTo(Instances.Form.ONE);
    }

    /// As `TensorHandler` gives it to a record.
    @Test
    void aSingleElementHasTheShapeOfItsInput() throws IOException {
        var column = new TensorInputs(
                List.of("x"),
                List.of(ElementType.FLOAT32),
                new TableColumns(List.of(new TableColumns.Part(List.of("x"), List.of(1)))));
        for (var body : List.of("[[1],[2]]", "{\"instances\":[1,2]}", "{\"inputs\":[1,2]}")) {
            var read = read(body, JSON, column, false);
            assertThat(read.block().orElseThrow().getFirst()).as(body).hasToString("float32[2, 1]");
            assertThat(column.table().shaped(read.at(1))).containsExactly(Tensor.of(new float[] {2}, 1));
        }
    }

    @Test
    void anotherCharsetIsLeftToTheReaders() throws IOException {
        var utf16 = request("[[1]]", JSON + ";charset=utf-16", StandardCharsets.UTF_16, false);
        assertThat(ContentTypes.reading(utf16, ContentType.ToTensors.class)
                        .readTensors(utf16, any(ElementType.FLOAT32))
                        .block())
                .isEmpty();
        assertThat(block("[[1]]", JSON + "; charset=UTF-8", ElementType.FLOAT32))
                .isPresent();
    }

    private static Optional<List<Tensor>> block(String body, String type, ElementType elements) throws IOException {
        return read(body, type, any(elements), false).block();
    }

    private static TensorInputs any(ElementType type) {
        return new TensorInputs(List.of(), List.of(type));
    }

    private static TensorRecords read(String body, String type, TensorInputs inputs, boolean slowly)
            throws IOException {
        var request = request(body, type, StandardCharsets.UTF_8, slowly);
        return ContentTypes.reading(request, ContentType.ToTensors.class).readTensors(request, inputs);
    }

    /// @param slowly whether the content type names a charset that only the readers take
    private static InvocationRequest request(String body, String type, Charset charset, boolean slowly) {
        var name = MediaType.parse(slowly ? type + "; charset=utf8" : type).orElseThrow();
        return new InvocationRequest(
                new ByteArrayInputStream(body.getBytes(charset)), name, name, Optional.empty(), "test", false);
    }

    private static void compare(String body, String type, ElementType elements) throws IOException {
        assertThat(outcome(body, type, elements, false))
                .as("%s of %s in %s", type, elements, body)
                .isEqualTo(outcome(body, type, elements, true));
    }

    /// The form and the records, or what is wrong.
    private static List<Object> outcome(String body, String type, ElementType elements, boolean slowly)
            throws IOException {
        var all = new ArrayList<Object>();
        try {
            var read = read(body, type, any(elements), slowly);
            assertThat(slowly && read.block().isPresent() && read.form() != Instances.Form.COLUMNS)
                    .isFalse();
            all.add(read.form());
            for (int i = 0; i < read.count(); i++) {
                all.add(read.at(i));
            }
            if (read.block().isPresent() && read.count() > 0) {
                assertThat(read.block().orElseThrow().getFirst().unstack().stream()
                                .map(List::of))
                        .isEqualTo(all.subList(1, all.size()));
            }
        } catch (BadInputException e) {
            all.add(e.getMessage());
        }
        return all;
    }
}
