package dev.berth.transform;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import dev.berth.testing.DamagedBytes;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// From the record to the container, and from the answer to the output. In rows, `;` is a newline, and `~` the
/// return before one.
class RecordProcessingTest {

    private static final String CSV = "text/csv";
    private static final String JSON_LINES = "application/jsonlines";

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', ignoreLeadingAndTrailingWhitespace = false, textBlock = """
        # Objects get their answer as a member.
        application/jsonlines|LINE|{"key":1};|{"label":1};|{"key":1,"SageMakerOutput":{"label":1}}
        application/json|NONE|{"key":1}|0.5|{"key":1,"SageMakerOutput":0.5}
        application/json|NONE|{}|null|{"SageMakerOutput":null}
        application/json|NONE|{"SageMakerOutput":0,"key":1}|2|{"SageMakerOutput":2,"key":1}
        # Another value becomes a member beside its answer.
        application/json|NONE|[1,2]|{"label":1}|{"SageMakerInput":[1,2],"SageMakerOutput":{"label":1}}
        application/json|NONE|"text"|[0.5]|{"SageMakerInput":"text","SageMakerOutput":[0.5]}
        application/json|NONE|null|true|{"SageMakerInput":null,"SageMakerOutput":true}
        application/json|NONE|1.0|1|{"SageMakerInput":1.0,"SageMakerOutput":1}
        # Rows are followed by the columns of their answer.
        text/csv|LINE|1,2,3~;|1~;|1,2,3,1
        text/csv|LINE|1.0,1e5, x |0.10,b|1.0,1e5, x ,0.10,b
        text/csv|LINE|"a,b","say ""hi\""",""|"c,d"|"a,b","say ""hi\""","","c,d"
        text/csv|LINE|,,|,|,,,,
        text/csv|LINE|a"b, "c|é|a"b, "c,é
        # Each record has its own answer, whatever the newlines are.
        text/csv|LINE|1,2~;3,4~;5,6|a;b;c;|1,2,a;3,4,b;5,6,c
        text/csv|LINE|1;2;|"a;b";c;|1,"a;b";2,c
        application/json|LINE|{"k":1};{"k":2};|1;2|{"k":1,"SageMakerOutput":1};{"k":2,"SageMakerOutput":2}
        application/jsonlines|NONE|{"f":1};{"f":2};|3;4;|{"f":1,"SageMakerOutput":3};{"f":2,"SageMakerOutput":4}
        # The answer to one record alone may have several lines.
        application/json|LINE|{"k":1};|{;  "label": 1.50;};|{"k":1,"SageMakerOutput":{"label":1.50}}
        application/json|NONE|{;"k":1};|{;  "label": 1.50;};|{"k":1,"SageMakerOutput":{"label":1.50}}
        # A byte order mark is no part of the first record.
        application/jsonlines|LINE|\uFEFF{"k":1};|\uFEFF1|{"k":1,"SageMakerOutput":1}
        """)
    @Tag("JOIN-01")
    @Tag("JOIN-02")
    @Tag("JOIN-03")
    void answersAreJoinedWithTheirRecords(String type, SplitType split, String input, String answer, String output) {
        var processing = processing(type, split, "$", "Input", "$");
        assertThat(output(processing, 1, newlines(input), newlines(answer))).isEqualTo(newlines(output));
    }

    /// What the container gets, and what is written.
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        text/csv|$[1:]|Input|$[0,-1]|id,2,3;|2,3;|9;|id,9
        text/csv|$|Input|$[0,5:]|a,b,c,d,e,f,g;|a,b,c,d,e,f,g;|h|a,f,g,h
        text/csv|$|None|$[0]|not"read;|not"read;|a,0.9;|a
        text/csv|$[-1]|None|$|1,"a,""b\"""~;|"a,""b\"""~;|x|x
        text/csv|$[-1]|None|$|1,2|2|x|x
        application/jsonlines|$|None|$.label|1;2;|1;2;|{"label":"a"};{"label":"b"}|"a";"b"
        application/jsonlines|$.features|Input|$['id','SageMakerOutput']|{"id":7,"features":[1.0,2]};|[1.0,2];|{"label":1};|{"id":7,"SageMakerOutput":{"label":1}}
        """)
    @Tag("JOIN-04")
    @Tag("JOIN-05")
    @Tag("JOIN-06")
    void recordsAndAnswersAreFiltered(
            String type, String in, String join, String out, String record, String sent, String answer, String output) {
        var processing = processing(type, SplitType.LINE, in, join, out);
        assertThat(sent(processing, newlines(record))).isEqualTo(newlines(sent));
        assertThat(output(processing, 1, newlines(record), newlines(answer))).isEqualTo(newlines(output));
    }

    @Test
    @Tag("JOIN-10")
    void slicesOfColumnsEndAsTheSwitchSays() {
        var exclusive = processing(CSV, SplitType.LINE, "$[1:4]", "None", "$");
        var inclusive = processing(CSV, SplitType.LINE, "$[1:4]", "None", "$", JobOption.INCLUSIVE_SLICES);
        assertThat(exclusive.toString())
                .as("answers of the one are none of the other")
                .isNotEqualTo(inclusive.toString());
        assertThat(sent(exclusive, "0,1,2,3,4,5\n")).isEqualTo("1,2,3\n");
        assertThat(sent(inclusive, "0,1,2,3,4,5\n")).isEqualTo("1,2,3,4\n");
    }

    @Test
    void withoutAFilterTheBytesAreLeftAsTheyAre() {
        var bytes = new byte[] {(byte) 0xff, '\n'};
        assertThat(processing(CSV, SplitType.LINE, "$", "Input", "$").filterInput(bytes, 1))
                .isSameAs(bytes);
        assertThat(processing(CSV, SplitType.LINE, "$[0]", "None", "$").changesAnswers())
                .isFalse();
    }

    /// The first record is the 11th of its object.
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        text/csv|$[0,3]|a,b;c,d;|1,2;3;|record 12, OutputFilter $[0,3]: found a list of 3, expected a list with the index 3
        text/csv|$|1;2;3;|a|answer to records 11 to 13: found 1 line, expected 3, one for each record
        text/csv|$|1;2;3;|a;b;|answer to records 11 to 13: found 2 lines, expected 3, one for each record
        text/csv|$|1;2;3;|a;b;c;;|answer to records 11 to 13: found 4 lines, expected 3, one for each record
        text/csv|$|1;2;3;|``|answer to records 11 to 13: found 0 lines, expected 3, one for each record
        text/csv|$|1,2;;3,4|a;b;c|record 12: found a blank line, expected a row of CSV
        text/csv|$|1,2;3,4|a; ;|answer to record 12: found a blank line, expected a row of CSV
        text/csv|$|1,"2;3,4|a;b|record 11: column 2: found ""2", expected a second quote at its end
        text/csv|$|1,2|"a"b|answer to record 11: column 1: found "b" behind the second quote, expected a comma
        application/jsonlines|$|1;;2|1;2;3|record 12: found nothing, expected a JSON value
        application/jsonlines|$|1;2|1;ERROR|answer to record 12: not JSON at column 1: found unrecognized token 'ERROR'
        application/jsonlines|$|1|NaN|answer to record 11: not JSON at column 4: found non-standard token 'NaN'
        application/jsonlines|$|1|1 2|answer to record 11: found a second JSON value at column 3, expected one
        application/jsonlines|$|1;|{;};|answer to record 11: found 2 lines, expected 1, one for each record
        """)
    @Tag("JOIN-07")
    void whatCannotBeJoinedNamesTheRecord(String type, String filter, String input, String answer, String message) {
        var processing = processing(type, SplitType.LINE, "$", "Input", filter);
        assertThatThrownBy(() -> output(processing, 11, newlines(input), newlines(answer)))
                .isInstanceOf(BadInputException.class)
                .hasMessageStartingWith(message);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        text/csv|LINE|$[3]|a,b,c;|record 1, InputFilter $[3]: found a list of 3, expected a list with the index 3
        application/json|NONE|$.a|``|record 1: found nothing, expected a JSON value
        application/jsonlines|NONE|$.f|{"f":1};{"g":2};|record 2, InputFilter $.f: found an object with [g], expected an object with the member "f"
        """)
    @Tag("JOIN-07")
    void whatCannotBeSentNamesTheRecord(String type, SplitType split, String filter, String record, String message) {
        var processing = processing(type, split, filter, "None", "$");
        assertThatThrownBy(() -> sent(processing, newlines(record)))
                .isInstanceOf(BadInputException.class)
                .hasMessage(message);
    }

    @Test
    void whatIsNoTextIsRefused() {
        var processing = processing(CSV, SplitType.LINE, "$[0]", "Input", "$");
        var bad = new byte[] {'a', (byte) 0xff, '\n'};
        var good = "a\n".getBytes(UTF_8);
        assertThatThrownBy(() -> processing.filterInput(bad, 3))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 3: found the byte 0xff at offset 1, expected UTF-8 text");
        assertThatThrownBy(() -> processing.output(payload(3, good), bad, _ -> {}))
                .isInstanceOf(BadInputException.class)
                .hasMessage("answer to the records from 3 on: found the byte 0xff at offset 1, expected UTF-8 text");
    }

    @Test
    void damagedRecordsAndAnswersAreReadOrRefused() {
        var json = processing(JSON_LINES, SplitType.LINE, "$.f[0,1:]", "Input", "$['f','SageMakerOutput']");
        var records = "{\"f\":[1.5,\"é\\ud83d\\n\",{\"a\":null}],\"b\":true}\n{\"f\":[1e5,2,[]]}\n";
        fuzz(json, records, "{\"l\":[1,-0.0]}\n\"x\"\n");
        var csv = processing(CSV, SplitType.LINE, "$[1:]", "Input", "$[0,-1]");
        fuzz(csv, "a,\"b,\"\"c\"\"\",é\r\n1,,2\n", "0.5,\"x\"\n1\n");
    }

    private static void fuzz(RecordProcessing processing, String records, String answer) {
        var good = records.getBytes(UTF_8);
        DamagedBytes.areReadOrRefused(good, bytes -> processing.filterInput(bytes, 1));
        DamagedBytes.areReadOrRefused(
                good, bytes -> processing.output(payload(1, bytes), answer.getBytes(UTF_8), _ -> {}));
        DamagedBytes.areReadOrRefused(
                answer.getBytes(UTF_8), bytes -> processing.output(payload(1, good), bytes, _ -> {}));
    }

    private static RecordProcessing processing(
            String type, SplitType splitType, String in, String join, String out, JobOption... switches) {
        var options = JobFlags.of(
                "--input in --output out --content-type %s --accept %s --split-type %s --assemble-with %s "
                        + "--input-filter %s --join-source %s --output-filter %s",
                type, type, splitType, splitType.areLines() ? "Line" : "None", in, join, out);
        List.of(switches).forEach(each -> options.put(each, "true"));
        return JobFlags.read(options).kind().records().processing().orElseThrow();
    }

    private static String sent(RecordProcessing processing, String record) {
        return new String(processing.filterInput(record.getBytes(UTF_8), 1), UTF_8);
    }

    private static String output(RecordProcessing processing, long first, String input, String answer) {
        return new String(
                processing.output(payload(first, input.getBytes(UTF_8)), answer.getBytes(UTF_8), _ -> {}), UTF_8);
    }

    private static Payload payload(long first, byte[] input) {
        return new Payload(first, List.of(new Payload.Sent(input, new byte[0], input.length, false, Optional.empty())));
    }

    private static String newlines(String row) {
        return row.replace('~', '\r').replace(';', '\n');
    }
}
