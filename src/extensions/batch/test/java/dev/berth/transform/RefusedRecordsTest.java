package dev.berth.transform;

import static dev.berth.transform.ProcessedRecords.CSV;
import static dev.berth.transform.ProcessedRecords.JSON;
import static dev.berth.transform.ProcessedRecords.JSON_LINES;
import static dev.berth.transform.ProcessedRecords.joined;
import static dev.berth.transform.ProcessedRecords.output;
import static dev.berth.transform.ProcessedRecords.processing;
import static dev.berth.transform.ProcessedRecords.sent;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import dev.berth.testing.DamagedBytes;
import dev.berth.transform.Payload.MiniBatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Records and answers that can't be filtered or joined.
class RefusedRecordsTest {

    @Test
    @Tag("JOIN-07")
    void whatIsNotThereIsAnErrorThatNamesTheRecord() {
        var onInput = processing(CSV, FramedSplit.LINE, "$[3]", "None", "$");
        assertThatThrownBy(() -> onInput.filterInput("a,b,c\n".getBytes(UTF_8), 7))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 7, InputFilter $[3]: found a list of 3, expected a list with the index 3");
        var onOutput = processing(CSV, FramedSplit.LINE, "$", "Input", "$[0,3]");
        assertThatThrownBy(() -> output(onOutput, 7, "a,b\nc,d\n", "1,2\n3\n"))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 8, OutputFilter $[0,3]: found a list of 3, expected a list with the index 3");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {"a|1", "a;b;|2", "a;b;c;d|4", "''|0", "a;b;c;;|4"})
    void moreOrFewerAnswersThanRecordsAreAnError(String answer, int found) {
        var processing = processing(CSV, FramedSplit.LINE, "$", "Input", "$");
        assertThatThrownBy(() -> output(processing, 11, "1\n2\n3\n", answer.replace(';', '\n')))
                .isInstanceOf(BadInputException.class)
                .hasMessage("answer to the records 11 to 13: found %d line%s, expected 3, one for each record"
                        .formatted(found, found == 1 ? "" : "s"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "1,2;;3,4|a;b;c|record 2: found a blank line, expected a row of CSV",
                "1,2;3,4|a; ;|answer to record 2: found a blank line, expected a row of CSV",
                "1,\"2;3,4|a;b|record 1: column 2: found \"\"2\", expected a second quote at its end",
                "1,2|\"a\"b|answer to record 1: column 1: found \"b\" behind the second quote, expected a comma",
            })
    void rowsThatAreNoCsvAreRefused(String input, String answer, String message) {
        assertThatThrownBy(() -> joined(CSV, FramedSplit.LINE, input.replace(';', '\n'), answer.replace(';', '\n')))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "1;;2|1;2;3|record 2: found nothing, expected a JSON value",
                "1;2|1;ERROR|answer to record 2: not JSON at column 1: found 'ERROR', expected a value",
                "1|NaN|answer to record 1: not JSON at column 4: found 'NaN', expected a value",
                "1|1 2|answer to record 1: found a second JSON value at column 3, expected one",
            })
    void linesThatAreNoJsonAreRefused(String input, String answer, String message) {
        assertThatThrownBy(
                        () -> joined(JSON_LINES, FramedSplit.LINE, input.replace(';', '\n'), answer.replace(';', '\n')))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    @Test
    void anEmptyObjectIsNoJson() {
        var processing = processing(JSON, FramedSplit.NONE, "$.a", "None", "$");
        assertThatThrownBy(() -> sent(processing, ""))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 1: found nothing, expected a JSON value");
    }

    @Test
    void whatIsNoTextIsRefused() {
        var processing = processing(CSV, FramedSplit.LINE, "$[0]", "Input", "$");
        var bad = new byte[] {'a', (byte) 0xff, '\n'};
        var good = "a\n".getBytes(UTF_8);
        assertThatThrownBy(() -> processing.filterInput(bad, 3))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 3: found the byte 0xff at offset 1, expected UTF-8 text");
        assertThatThrownBy(() -> processing.output(new MiniBatch(3, 1, good, bad), good))
                .isInstanceOf(BadInputException.class)
                .hasMessage("records from 3 on: found the byte 0xff at offset 1, expected UTF-8 text");
        assertThatThrownBy(() -> processing.output(new MiniBatch(3, 1, good, good), bad))
                .isInstanceOf(BadInputException.class)
                .hasMessage("answer to the records from 3 on: found the byte 0xff at offset 1, expected UTF-8 text");
    }

    @Test
    void damagedRecordsAndAnswersAreReadOrRefused() {
        var json = processing(JSON_LINES, FramedSplit.LINE, "$.f[0,1:]", "Input", "$['f','SageMakerOutput']");
        var records = "{\"f\":[1.5,\"é\\ud83d\\n\",{\"a\":null}],\"b\":true}\n{\"f\":[1e5,2,[]]}\n";
        fuzz(json, records, "{\"l\":[1,-0.0]}\n\"x\"\n");
        var csv = processing(CSV, FramedSplit.LINE, "$[1:]", "Input", "$[0,-1]");
        fuzz(csv, "a,\"b,\"\"c\"\"\",é\r\n1,,2\n", "0.5,\"x\"\n1\n");
    }

    private static void fuzz(RecordProcessing processing, String records, String answer) {
        var good = records.getBytes(UTF_8);
        DamagedBytes.areReadOrRefused(good, bytes -> processing.filterInput(bytes, 1));
        DamagedBytes.areReadOrRefused(
                good, bytes -> processing.output(new MiniBatch(1, 2, bytes, bytes), answer.getBytes(UTF_8)));
        DamagedBytes.areReadOrRefused(
                answer.getBytes(UTF_8), bytes -> processing.output(new MiniBatch(1, 2, good, good), bytes));
    }
}
