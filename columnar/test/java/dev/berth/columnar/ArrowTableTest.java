package dev.berth.columnar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.table.Table;
import dev.berth.table.TableFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/// The files are pyarrow's, made by `columnar/test/make_tables.py`.
class ArrowTableTest {

    /// Each form and its file of all types.
    private static Stream<Form> forms() {
        return Stream.of(
                new Form(new ArrowFileFormat(), "every-type.arrow"),
                new Form(new ArrowStreamFormat(), "every-type.arrows"));
    }

    record Form(TableFormat format, String file) {

        Table open() throws IOException {
            return format.open(Tables.resource(file));
        }
    }

    @TempDir
    private Path directory;

    @ParameterizedTest
    @MethodSource("forms")
    void everyTypeHasTheJsonThatItHasInParquet(Form form) throws IOException {
        try (var table = form.open();
                var parquet = new ParquetFormat().open(Tables.resource("every-type.parquet"))) {
            assertThat(Tables.rows(table)).isEqualTo(Tables.rows(parquet));
        }
        try (var table = form.open()) {
            assertThat(Tables.groups(table)).containsExactly(2, 1);
        }
    }

    @Test
    void typesThatParquetHasNotHaveTheirJsonToo() throws IOException {
        try (var table = new ArrowFileFormat().open(Tables.resource("arrow-only.arrow"))) {
            assertThat(Tables.rows(table)).containsExactly("""
          {"byte":255,"short":65535,"int":4294967295,"half":1.5,"large":"x","view":"y","bytes":"AAE=","fixed":"AgM=",\
          "day":"2026-01-31","second":"10:15:30","milli":"10:15:30.001","nano":"10:15:30.000000001","utc":"2026-01-31T10:15:30Z",\
          "wide":12.50,"none":null,"pair":[1,2],"many":["z"],"numbered":[{"key":1,"value":"a"}]}""");
        }
    }

    @Test
    void featherFilesAreReadWithTheirOwnCodec() throws IOException {
        try (var table = new ArrowFileFormat().open(Tables.resource("lz4.feather"))) {
            assertThat(Tables.rows(table)).hasSize(1000).startsWith("{\"text\":\"Who came?\"}");
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "zstd.feather | found columns packed with ZSTD, expected none or LZ4",
                "duration.arrow | column waited: found the type Duration(SECOND), which has no JSON",
                "nested-dictionary.arrows | column list: found a dictionary within a list or a struct, expected plain values"
            })
    void whatCanNotBeReadIsNamed(String file, String message) throws IOException {
        var format = file.endsWith("s") ? new ArrowStreamFormat() : new ArrowFileFormat();
        try (var table = format.open(Tables.resource(file))) {
            assertThatThrownBy(table::next).isInstanceOf(IOException.class).hasMessage("Arrow: " + message);
        }
    }

    @ParameterizedTest
    @MethodSource("forms")
    void aFileThatIsNoTableOrADamagedOneIsNamed(Form form) throws IOException {
        var text = Files.writeString(directory.resolve("text"), "{\"question\": \"Who came?\"}\n");
        assertThatThrownBy(() -> form.format().open(text))
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("Arrow: ");
        var whole = Files.readAllBytes(Tables.resource(form.file()));
        var cut = Files.write(directory.resolve("cut"), Arrays.copyOf(whole, whole.length * 3 / 4));
        assertThatThrownBy(() -> {
                    try (var table = form.format().open(cut)) {
                        Tables.rows(table);
                    }
                })
                .isInstanceOf(IOException.class)
                .hasMessageStartingWith("Arrow: ");
    }

    @ParameterizedTest
    @MethodSource("forms")
    void answersBecomeColumnsInTheBatchesOfTheInput(Form form) throws IOException {
        try (var table = form.open()) {
            var output = Tables.answer(
                    table,
                    false,
                    true,
                    directory,
                    "{\"count\":1,\"score\":1,\"isIt\":true,\"vector\":[1,2.5],\"label\":\"x\"}",
                    "{\"count\":2,\"score\":0.5,\"isIt\":null,\"vector\":[]}",
                    "{\"label\":{\"z\":null},\"vector\":[3]}");
            try (var written = form.format().open(output)) {
                assertThat(Tables.rows(written))
                        .containsExactly(
                                "{\"count\":1,\"score\":1.0,\"isIt\":true,\"vector\":[1.0,2.5],\"label\":\"x\",\"error\":null}",
                                "{\"count\":2,\"score\":0.5,\"isIt\":null,\"vector\":[],\"label\":null,\"error\":null}",
                                "{\"count\":null,\"score\":null,\"isIt\":null,\"vector\":[3.0],\"label\":\"{\\\"z\\\":null}\",\"error\":null}");
            }
            try (var written = form.format().open(output)) {
                assertThat(Tables.groups(written)).containsExactly(2, 1);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("forms")
    void aJoinedTableHasTheColumnsOfTheInputAsTheyAre(Form form) throws IOException {
        try (var table = form.open();
                var before = form.open()) {
            var output = Tables.answer(table, true, false, directory, "{\"id\":\"x\"}", "7", "8");
            try (var written = form.format().open(output)) {
                assertThat(Tables.rows(written))
                        .isEqualTo(Tables.joined(
                                Tables.rows(before),
                                "\"SageMakerOutput_id\":\"x\",\"prediction\":null",
                                "\"SageMakerOutput_id\":null,\"prediction\":7",
                                "\"SageMakerOutput_id\":null,\"prediction\":8"));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("forms")
    void answersThatAreNotOneForEachRowMakeNoTable(Form form) throws IOException {
        try (var table = form.open()) {
            assertThatThrownBy(() -> Tables.answer(table, false, false, directory, "1", "2"))
                    .isInstanceOf(IOException.class)
                    .hasMessage("found 2 answers, expected 3, one for each row");
        }
    }

    @ParameterizedTest
    @MethodSource("forms")
    void aTableWithoutRowsBecomesOne(Form form) throws IOException {
        var name = form.file().replace("every-type", "empty");
        try (var table = form.format().open(Tables.resource(name))) {
            assertThat(table.next()).isEmpty();
            var output = Tables.answer(table, true, false, directory);
            try (var written = form.format().open(output)) {
                assertThat(written.next()).isEmpty();
            }
        }
    }
}
