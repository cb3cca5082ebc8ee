package dev.berth.columnar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.table.Table;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Files that are pyarrow's are made by `columnar/test/make_tables.py`.
class ParquetTableTest {

    @TempDir
    private Path directory;

    private static Table open(Path file) throws IOException {
        return new ParquetFormat().open(file);
    }

    private static MessageType schema(Path file) throws IOException {
        var options =
                ParquetReadOptions.builder(new PlainParquetConfiguration()).build();
        try (var reader = ParquetFileReader.open(new LocalInputFile(file), options)) {
            return reader.getFileMetaData().getSchema();
        }
    }

    /// The file is pyarrow's.
    @Test
    void everyTypeHasItsJson() throws IOException {
        try (var table = open(Tables.resource("every-type.parquet"))) {
            assertThat(Tables.rows(table)).containsExactly("""
          {"id":1,"small":-1,"unsigned":18446744073709551615,"float":0.5,"double":0.1,"flag":true,"text":"Who came?",\
          "repeated":"a","binary":"AP8=","day":"2026-01-31","time":"10:15:30.0005","utc":"2026-01-31T10:15:30Z",\
          "local":"2026-01-31T10:15:00","decimal":12.50,"list":[1,null,3],"struct":{"a":1,"b":["x"]},"map":{"k":1.5}}""", """
          {"id":2,"small":null,"unsigned":0,"float":"NaN","double":"Infinity","flag":false,"text":"é\\"\\n",\
          "repeated":"a","binary":"","day":"1969-12-31","time":"00:00:00","utc":null,\
          "local":"1950-01-01T00:00:00.000001","decimal":-0.01,"list":[],"struct":{"a":null,"b":null},"map":{}}""", """
          {"id":3,"small":7,"unsigned":null,"float":null,"double":null,"flag":null,"text":null,"repeated":"b",\
          "binary":null,"day":null,"time":null,"utc":null,"local":null,"decimal":null,"list":null,"struct":null,"map":null}""");
        }
    }

    @Test
    void typesOfOtherWritersHaveTheirJsonToo() throws IOException {
        var type = MessageTypeParser.parseMessageType("""
        message others {
          required int96 old;
          required int32 price (DECIMAL(9, 2));
          required int64 time (TIMESTAMP(MILLIS, true));
          required fixed_len_byte_array(16) id (UUID);
          required fixed_len_byte_array(2) half (FLOAT16);
          repeated int32 bare;
          optional group two (LIST) { repeated int32 element; }
          optional group numbered (MAP) { repeated group key_value { required int32 key; optional int32 value; } }
        }""");
        var file = Tables.write(directory.resolve("others"), type, 10, 1, (row, _) -> {
            // The Julian day of 1970-01-02, and a second of it.
            row.add("old", Binary.fromConstantByteArray(new byte[] {0, -54, -102, 59, 0, 0, 0, 0, -115, 61, 37, 0}));
            row.add("price", 1250);
            row.add("time", 1L);
            row.add("id", Binary.fromConstantByteArray(new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
            }));
            row.add("half", Binary.fromConstantByteArray(new byte[] {0, 0x3e}));
            row.add("bare", 1);
            row.add("bare", 2);
            row.addGroup("two").append("element", 7);
            row.addGroup("numbered").addGroup("key_value").append("key", 1).append("value", 2);
        });
        try (var table = open(file)) {
            assertThat(Tables.rows(table)).containsExactly("""
          {"old":"1970-01-02T00:00:01","price":12.50,"time":"1970-01-01T00:00:00.001Z",\
          "id":"00010203-0405-0607-0809-0a0b0c0d0e0f","half":1.5,"bare":[1,2],"two":[7],"numbered":[{"key":1,"value":2}]}""");
        }
    }

    /// The files are pyarrow's, that of zstd with pages of version 2.
    @ParameterizedTest
    @ValueSource(strings = {"none", "gzip", "zstd", "lz4"})
    void packedPagesAreRead(String codec) throws IOException {
        try (var table = open(Tables.resource(codec + ".parquet"))) {
            assertThat(Tables.rows(table))
                    .containsExactly(
                            "{\"id\":1,\"text\":\"Who came?\"}",
                            "{\"id\":2,\"text\":\"é\\\"\\n\"}",
                            "{\"id\":3,\"text\":null}");
        }
    }

    @Test
    void aCodecThatIsNotKnownIsNamed() throws IOException {
        try (var table = open(Tables.resource("brotli.parquet"))) {
            assertThatThrownBy(table::next)
                    .isInstanceOf(IOException.class)
                    .hasMessage(
                            "Parquet: found pages packed with BROTLI, expected none, SNAPPY, ZSTD, GZIP or LZ4_RAW");
        }
    }

    @Test
    void aFileThatIsNoTableOrADamagedOneIsNamed() throws IOException {
        var text = Files.writeString(directory.resolve("text"), "{\"question\": \"Who came?\"}\n");
        assertThatThrownBy(() -> open(text))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("Parquet: ")
                .hasMessageContaining("is not a Parquet file");
        var whole = Files.readAllBytes(Tables.resource("every-type.parquet"));
        var cut = Files.write(directory.resolve("cut"), Arrays.copyOf(whole, whole.length / 2));
        assertThatThrownBy(() -> open(cut)).isInstanceOf(IOException.class).hasMessageStartingWith("Parquet: ");
        // In a page of the first group.
        Arrays.fill(whole, 4, 600, (byte) 0x55);
        try (var table = open(Files.write(directory.resolve("damaged"), whole))) {
            assertThatThrownBy(table::next).isInstanceOf(IOException.class).hasMessageStartingWith("Parquet: ");
        }
    }

    @Test
    void answersBecomeColumnsInTheGroupsOfTheInput() throws IOException {
        var file = Tables.texts(directory.resolve("in"), 2, List.of("a", "b", "c"));
        try (var table = open(file)) {
            var output = Tables.answer(
                    table,
                    false,
                    false,
                    directory,
                    "{\"count\":1,\"score\":1,\"isIt\":true,\"vector\":[1,2.5],\"any\":1,\"label\":\"x\"}",
                    "{\"count\":2,\"score\":0.5,\"isIt\":null,\"vector\":[],\"any\":[\"y\"]}",
                    "{\"label\":{\"z\":null}}");
            try (var written = open(output)) {
                assertThat(Tables.rows(written))
                        .containsExactly(
                                "{\"count\":1,\"score\":1.0,\"isIt\":true,\"vector\":[1.0,2.5],\"any\":\"1\",\"label\":\"x\"}",
                                "{\"count\":2,\"score\":0.5,\"isIt\":null,\"vector\":[],\"any\":\"[\\\"y\\\"]\",\"label\":null}",
                                "{\"count\":null,\"score\":null,\"isIt\":null,\"vector\":null,\"any\":null,\"label\":\"{\\\"z\\\":null}\"}");
            }
            try (var written = open(output)) {
                assertThat(Tables.groups(written)).containsExactly(2, 1);
            }
        }
    }

    @Test
    void aJoinedTableHasTheColumnsOfTheInputAsTheyAre() throws IOException {
        var input = Tables.resource("every-type.parquet");
        try (var table = open(input)) {
            var output = Tables.answer(table, true, true, directory, "{\"id\":\"x\"}", "7", "8");
            var fields = schema(output).getFields();
            assertThat(fields.subList(0, 17)).isEqualTo(schema(input).getFields());
            assertThat(fields.subList(17, fields.size()))
                    .map(Object::toString)
                    .containsExactly(
                            "optional binary SageMakerOutput_id (STRING)",
                            "optional int64 prediction",
                            "optional binary error (STRING)");
            try (var before = open(input);
                    var written = open(output)) {
                assertThat(Tables.rows(written))
                        .isEqualTo(Tables.joined(
                                Tables.rows(before),
                                "\"SageMakerOutput_id\":\"x\",\"prediction\":null,\"error\":null",
                                "\"SageMakerOutput_id\":null,\"prediction\":7,\"error\":null",
                                "\"SageMakerOutput_id\":null,\"prediction\":8,\"error\":null"));
            }
        }
    }

    @Test
    void answersThatAreNotOneForEachRowMakeNoTable() throws IOException {
        try (var table = open(Tables.texts(directory.resolve("in"), 2, List.of("a", "b")))) {
            assertThatThrownBy(() -> Tables.answer(table, false, false, directory, "1"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("found 1 answers, expected 2, one for each row");
            assertThatThrownBy(() -> Tables.answer(table, false, false, directory, "1", "2", "3"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("found 3 answers, expected 2, one for each row");
            assertThatThrownBy(() -> Tables.answer(table, false, false, directory, "1", "Bob"))
                    .isInstanceOf(IOException.class)
                    .hasMessageStartingWith("answer to row 2: found what is not JSON: ");
        }
    }

    @Test
    void aTableWithoutRowsBecomesOne() throws IOException {
        var file = Tables.texts(directory.resolve("in"), 2, List.of());
        try (var table = open(file)) {
            assertThat(table.next()).isEmpty();
            for (boolean areJoined : new boolean[] {false, true}) {
                var output = Tables.answer(table, areJoined, false, directory);
                assertThat(schema(output).getFields())
                        .map(field -> field.getName())
                        .isEqualTo(areJoined ? List.of("id", "text", "prediction") : List.of("prediction"));
                try (var written = open(output)) {
                    assertThat(written.next()).isEmpty();
                }
            }
        }
    }

    @Test
    void whatHasBeenReadGoesFromNothingToAllPages() throws IOException {
        var texts = IntStream.range(0, 1000).mapToObj("text %d"::formatted).toList();
        try (var table = open(Tables.texts(directory.resolve("in"), 100, texts))) {
            assertThat(table.position()).isZero();
            long last = 0;
            while (table.next().isPresent()) {
                assertThat(table.position()).isGreaterThanOrEqualTo(last);
                last = table.position();
            }
            assertThat(last).isBetween(Files.size(directory.resolve("in")) / 2, Files.size(directory.resolve("in")));
        }
    }
}
