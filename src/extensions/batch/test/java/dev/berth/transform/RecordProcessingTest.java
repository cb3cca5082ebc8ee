package dev.berth.transform;

import static dev.berth.transform.ProcessedRecords.CSV;
import static dev.berth.transform.ProcessedRecords.JSON;
import static dev.berth.transform.ProcessedRecords.JSON_LINES;
import static dev.berth.transform.ProcessedRecords.joined;
import static dev.berth.transform.ProcessedRecords.output;
import static dev.berth.transform.ProcessedRecords.processing;
import static dev.berth.transform.ProcessedRecords.sent;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.hooks.BadInputException;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// From the record to the container, and from the answer to the output.
class RecordProcessingTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"key\":1}|{\"label\":1}|{\"key\":1,\"SageMakerOutput\":{\"label\":1}}",
                "{\"key\":1}|0.5|{\"key\":1,\"SageMakerOutput\":0.5}",
                "{}|null|{\"SageMakerOutput\":null}",
                "{\"SageMakerOutput\":0,\"key\":1}|2|{\"SageMakerOutput\":2,\"key\":1}",
            })
    @Tag("JOIN-01")
    void objectsGetTheirAnswerAsAMember(String input, String answer, String output) {
        assertThat(joined(JSON, FramedSplit.NONE, input, answer)).isEqualTo(output);
        assertThat(joined(JSON_LINES, FramedSplit.LINE, input + "\n", answer + "\n"))
                .isEqualTo(output);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[1,2]|{\"label\":1}|{\"SageMakerInput\":[1,2],\"SageMakerOutput\":{\"label\":1}}",
                "\"text\"|[0.5]|{\"SageMakerInput\":\"text\",\"SageMakerOutput\":[0.5]}",
                "null|true|{\"SageMakerInput\":null,\"SageMakerOutput\":true}",
                "1.0|1|{\"SageMakerInput\":1.0,\"SageMakerOutput\":1}",
            })
    @Tag("JOIN-02")
    void otherJsonBecomesAMemberBesideItsAnswer(String input, String answer, String output) {
        assertThat(joined(JSON, FramedSplit.NONE, input, answer)).isEqualTo(output);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            ignoreLeadingAndTrailingWhitespace = false,
            value = {
                "1,2,3|1|1,2,3,1",
                "1.0,1e5, x |0.10,b|1.0,1e5, x ,0.10,b",
                "\"a,b\",\"say \"\"hi\"\"\",\"\"|\"c,d\"|\"a,b\",\"say \"\"hi\"\"\",\"\",\"c,d\"",
                ",,|,|,,,,",
                "a\"b, \"c|é|a\"b, \"c,é",
            })
    @Tag("JOIN-03")
    void rowsAreFollowedByTheColumnsOfTheirAnswer(String input, String answer, String output) {
        assertThat(joined(CSV, FramedSplit.LINE, input + "\n", answer)).isEqualTo(output);
        assertThat(joined(CSV, FramedSplit.LINE, input + "\r\n", answer + "\r\n"))
                .isEqualTo(output);
    }

    @Test
    @Tag("JOIN-04")
    void theJoinIsWithTheUnfilteredInput() {
        var processing = processing(CSV, FramedSplit.LINE, "$[1:]", "Input", "$[0,-1]");
        assertThat(sent(processing, "id,2,3\n")).isEqualTo("2,3\n");
        assertThat(processing.joinsUnfilteredInput()).isTrue();
        assertThat(output(processing, "id,2,3\n", "9\n")).isEqualTo("id,9");
    }

    @Test
    @Tag("JOIN-05")
    void membersOfTheJoinAreChosenByName() {
        var processing = processing(JSON_LINES, FramedSplit.LINE, "$.features", "Input", "$['id','SageMakerOutput']");
        assertThat(sent(processing, "{\"id\":7,\"features\":[1.0,2]}\n")).isEqualTo("[1.0,2]\n");
        assertThat(output(processing, "{\"id\":7,\"features\":[1.0,2]}\n", "{\"label\":1}\n"))
                .isEqualTo("{\"id\":7,\"SageMakerOutput\":{\"label\":1}}");
    }

    @Test
    @Tag("JOIN-06")
    void columnsOfTheJoinAreChosenByIndex() {
        var processing = processing(CSV, FramedSplit.LINE, "$", "Input", "$[0,5:]");
        assertThat(output(processing, "a,b,c,d,e,f,g\n", "h")).isEqualTo("a,f,g,h");
    }

    @Test
    @Tag("JOIN-10")
    void slicesOfColumnsEndAsTheSwitchSays() {
        var exclusive = processing(CSV, FramedSplit.LINE, "$[1:4]", "None", "$");
        var inclusive = processing(CSV, FramedSplit.LINE, "$[1:4]", "None", "$", Set.of(JobOption.INCLUSIVE_SLICES));
        assertThat(exclusive.toString())
                .as("answers of the one are none of the other")
                .isNotEqualTo(inclusive.toString());
        assertThat(sent(exclusive, "0,1,2,3,4,5\n")).isEqualTo("1,2,3\n");
        assertThat(sent(inclusive, "0,1,2,3,4,5\n")).isEqualTo("1,2,3,4\n");
    }

    @Test
    void filteredRecordsKeepTheirOwnNewlines() {
        var processing = processing(CSV, FramedSplit.LINE, "$[-1]", "None", "$");
        assertThat(sent(processing, "1,2\n")).isEqualTo("2\n");
        assertThat(sent(processing, "1,2\r\n")).isEqualTo("2\r\n");
        assertThat(sent(processing, "1,2")).isEqualTo("2");
        assertThat(sent(processing, "1,\"a,\"\"b\"\"\"\n")).isEqualTo("\"a,\"\"b\"\"\"\n");
    }

    @Test
    void withoutFiltersAndJoinTheBytesAreLeftAsTheyAre() {
        var bytes = new byte[] {(byte) 0xff, '\n'};
        var onInput = processing(CSV, FramedSplit.LINE, "$[0]", "None", "$");
        assertThat(onInput.joinsUnfilteredInput()).isFalse();
        assertThat(onInput.changesAnswers()).isFalse();
        var onOutput = processing(CSV, FramedSplit.LINE, "$", "Input", "$");
        assertThat(onOutput.joinsUnfilteredInput()).isFalse();
        assertThat(onOutput.filterInput(bytes, 1)).isSameAs(bytes);
    }

    @Test
    void answersAloneAreFilteredWhereNothingIsJoined() {
        var names = processing(JSON_LINES, FramedSplit.LINE, "$", "None", "$.label");
        assertThat(output(names, "1\n2\n", "{\"label\":\"a\"}\n{\"label\":\"b\"}"))
                .isEqualTo("\"a\"\n\"b\"");
        var columns = processing(CSV, FramedSplit.LINE, "$", "None", "$[0]");
        assertThat(output(columns, "not\"read\n", "a,0.9\n")).isEqualTo("a");
    }

    @Test
    void eachRecordOfAPayloadIsJoinedWithItsOwnAnswer() {
        assertThat(joined(CSV, FramedSplit.LINE, "1,2\r\n3,4\r\n5,6", "a\nb\nc\n"))
                .isEqualTo("1,2,a\n3,4,b\n5,6,c");
        assertThat(joined(JSON, FramedSplit.LINE, "{\"k\":1}\n{\"k\":2}\n", "1\n2"))
                .isEqualTo("{\"k\":1,\"SageMakerOutput\":1}\n{\"k\":2,\"SageMakerOutput\":2}");
    }

    /// A whole JSON value may stand on several lines; JSON Lines may not.
    @Test
    void theAnswerToOneRecordAloneMayHaveSeveralLines() {
        var answer = "{\n  \"label\": 1.50\n}\n";
        assertThat(joined(JSON, FramedSplit.LINE, "{\"k\":1}\n", answer))
                .isEqualTo("{\"k\":1,\"SageMakerOutput\":{\"label\":1.50}}");
        assertThat(joined(JSON, FramedSplit.NONE, "{\n\"k\":1}\n", answer))
                .isEqualTo("{\"k\":1,\"SageMakerOutput\":{\"label\":1.50}}");
        assertThatThrownBy(() -> joined(JSON_LINES, FramedSplit.LINE, "{\"k\":1}\n", answer))
                .isInstanceOf(BadInputException.class)
                .hasMessage("answer to record 1: found 3 lines, expected 1, one for each record");
    }

    @Test
    void unsplitJsonLinesAreJoinedLineByLine() {
        var processing = processing(JSON_LINES, FramedSplit.NONE, "$.f", "Input", "$");
        assertThat(sent(processing, "{\"f\":1}\n{\"f\":2}\n")).isEqualTo("1\n2\n");
        assertThat(output(processing, "{\"f\":1}\n{\"f\":2}\n", "3\n4\n"))
                .isEqualTo("{\"f\":1,\"SageMakerOutput\":3}\n{\"f\":2,\"SageMakerOutput\":4}");
        assertThatThrownBy(() -> sent(processing, "{\"f\":1}\n{\"g\":2}\n"))
                .isInstanceOf(BadInputException.class)
                .hasMessage("record 2, InputFilter $.f: found an object, expected an object with the member \"f\"");
    }

    @Test
    void aByteOrderMarkIsNoPartOfTheFirstRecord() {
        assertThat(joined(JSON_LINES, FramedSplit.LINE, "\uFEFF{\"k\":1}\n", "\uFEFF1"))
                .isEqualTo("{\"k\":1,\"SageMakerOutput\":1}");
    }

    @Test
    void aRowOfAnAnswerMayHaveLineBreaksInQuotes() {
        assertThat(joined(CSV, FramedSplit.LINE, "1\n2\n", "\"a\nb\"\nc\n")).isEqualTo("1,\"a\nb\"\n2,c");
    }
}
