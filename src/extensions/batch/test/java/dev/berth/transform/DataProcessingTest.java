package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.transform.RecordProcessing.Unit;
import dev.berth.transform.filter.SliceEnd;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DataProcessingTest {

    private static final TransformFormats CSV = formats("text/csv", "text/csv", FramedSplit.LINE, AssembleWith.LINE);
    private static final TransformFormats JSON_LINES =
            formats("application/jsonlines", "application/jsonlines", FramedSplit.LINE, AssembleWith.LINE);
    private static final TransformFormats PICTURES = new TransformFormats(
            Optional.of("application/x-image"), Optional.empty(), FramedSplit.NONE, AssembleWith.LINE);

    @Test
    void theDefaultsLeaveRecordsOfAnyFormatAsTheyAre() {
        assertThat(DataProcessing.NONE.problems(PICTURES)).isEmpty();
        assertThat(DataProcessing.NONE.processing(PICTURES, false)).isEmpty();
        assertThat(new DataProcessing("$", "None", "$", SliceEnd.INCLUSIVE).processing(PICTURES, false))
                .isEmpty();
    }

    @Test
    @Tag("JOIN-08")
    void filtersThatAreNoneAreRefused() {
        assertThat(processing("$." + "a".repeat(62), "None", "id").problems(JSON_LINES))
                .containsExactly(
                        "--input-filter (DataProcessing.InputFilter): found 64 characters, expected at most 63",
                        "--output-filter (DataProcessing.OutputFilter): found \"id\" at offset 0 of \"id\", expected $ at the beginning");
        assertThat(processing("$['a','b.c']", "None", "$").problems(JSON_LINES))
                .containsExactly(
                        "--input-filter (DataProcessing.InputFilter): found \"'b.c']\" at offset 6 of \"$['a','b.c']\","
                                + " expected a name without a path in it");
    }

    @ParameterizedTest
    @ValueSource(strings = {"$.name", "$['name']", "$[0].name", "$[0][0]", "$[0:]['a','b']"})
    @Tag("JOIN-08")
    void namesAndPathsIntoCellsAreRefusedForCsv(String filter) {
        assertThat(processing("$", "Input", filter).problems(CSV))
                .containsExactly("--output-filter (DataProcessing.OutputFilter): found \""
                        + filter
                        + "\", expected columns of text/csv by their indexes alone, such as $[0,5:]");
        assertThat(processing(filter, "None", filter).problems(CSV)).hasSize(2);
        assertThat(processing(filter, "None", filter).problems(JSON_LINES)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"$", "$[0]", "$[1:]", "$[0,5:]", "$[0,-1]", "$[*]", "$.*"})
    void indexesAreTakenForCsv(String filter) {
        assertThat(processing(filter, "Input", filter).problems(CSV)).isEmpty();
    }

    @Test
    @Tag("JOIN-09")
    void theAnswersTypeIsThatOfTheRecords() {
        assertThat(join().problems(formats("text/csv", "application/json", FramedSplit.LINE, AssembleWith.LINE)))
                .containsExactly("--accept (TransformOutput.Accept): found \"application/json\", expected \"text/csv\""
                        + " as the --content-type with DataProcessing");
        assertThat(join().problems(new TransformFormats(
                        Optional.of("text/csv"), Optional.empty(), FramedSplit.LINE, AssembleWith.LINE)))
                .containsExactly(
                        "--accept (TransformOutput.Accept): found nothing, expected \"text/csv\" as the --content-type"
                                + " with DataProcessing");
        assertThat(join().problems(
                                formats("TEXT/csv; header=present", "text/csv", FramedSplit.LINE, AssembleWith.LINE)))
                .isEmpty();
    }

    @Test
    @Tag("JOIN-09")
    void answersArePutTogetherAsRecordsWereSplit() {
        assertThat(join().problems(formats("text/csv", "text/csv", FramedSplit.LINE, AssembleWith.NONE)))
                .containsExactly(
                        "--assemble-with (TransformOutput.AssembleWith): found None, expected Line as the --split-type with DataProcessing");
        assertThat(join().problems(
                                formats("application/json", "application/json", FramedSplit.NONE, AssembleWith.LINE)))
                .containsExactly(
                        "--assemble-with (TransformOutput.AssembleWith): found Line, expected None as the --split-type with DataProcessing");
        assertThat(join().problems(formats("text/csv", "text/csv", FramedSplit.NONE, AssembleWith.NONE)))
                .containsExactly(
                        "--split-type (TransformInput.SplitType): found None, expected Line for text/csv with DataProcessing",
                        "--assemble-with (TransformOutput.AssembleWith): found None, expected Line as the --split-type with DataProcessing");
        assertThat(join().problems(formats(
                        "application/json", "application/json", FramedSplit.RECORD_IO, AssembleWith.LINE)))
                .containsExactly(
                        "--split-type (TransformInput.SplitType): found RecordIO, expected None or Line for application/json with DataProcessing");
    }

    @ParameterizedTest
    @CsvSource({"application/x-image, \"application/x-image\"", "text, \"text\"", ", nothing"})
    void otherTypesAreRefused(String type, String found) {
        var formats = new TransformFormats(
                Optional.ofNullable(type), Optional.ofNullable(type), FramedSplit.LINE, AssembleWith.LINE);
        assertThat(join().problems(formats))
                .containsExactly(
                        "--content-type (TransformInput.ContentType): found "
                                + found
                                + ", expected text/csv, application/json or application/jsonlines, the types that DataProcessing can read");
    }

    @Test
    void allProblemsAreReportedAtOnce() {
        var processing = processing("$.a", "Output", "a");
        var formats = formats("text/csv", "application/json", FramedSplit.TF_RECORD, AssembleWith.NONE);
        assertThat(processing.problems(formats))
                .extracting(problem -> problem.substring(0, problem.indexOf(':')))
                .containsExactly(
                        "--input-filter (DataProcessing.InputFilter)",
                        "--join-source (DataProcessing.JoinSource)",
                        "--output-filter (DataProcessing.OutputFilter)",
                        "--accept (TransformOutput.Accept)",
                        "--split-type (TransformInput.SplitType)",
                        "--assemble-with (TransformOutput.AssembleWith)");
        assertThat(processing.problems(formats).get(1))
                .isEqualTo("--join-source (DataProcessing.JoinSource): found \"Output\", expected None or Input");
    }

    /// As the platform's documents have it, whichever of the three is set.
    @Test
    void theRulesHoldForEachFieldOfItsOwn() {
        for (var processing : new DataProcessing[] {
            processing("$[0]", "None", "$"), processing("$", "Input", "$"), processing("$", "None", "$[0]"),
        }) {
            assertThat(processing.problems(PICTURES)).hasSize(1);
        }
    }

    @Test
    void theTypeAndTheSplitTypeSayWhatARecordIs() {
        assertThat(join().processing(CSV, false).orElseThrow().unit()).isEqualTo(Unit.LINE);
        assertThat(join().processing(CSV, false).orElseThrow().format()).isInstanceOf(CsvFormat.class);
        assertThat(join().processing(JSON_LINES, false).orElseThrow().unit()).isEqualTo(Unit.LINE);
        assertThat(join().processing(JSON_LINES, false).orElseThrow().format()).isInstanceOf(JsonFormat.class);
        var json = formats("application/json", "application/json", FramedSplit.NONE, AssembleWith.NONE);
        assertThat(join().processing(json, false).orElseThrow().unit()).isEqualTo(Unit.WHOLE);
        var jsonByLine = formats("application/json", "application/json", FramedSplit.LINE, AssembleWith.LINE);
        assertThat(join().processing(jsonByLine, false).orElseThrow().unit()).isEqualTo(Unit.LINE_OR_SINGLE_ANSWER);
        var unsplitLines =
                formats("application/jsonlines", "application/jsonlines", FramedSplit.NONE, AssembleWith.NONE);
        assertThat(join().processing(unsplitLines, false).orElseThrow().unit()).isEqualTo(Unit.LINE);
    }

    private static DataProcessing join() {
        return processing("$", "Input", "$");
    }

    private static DataProcessing processing(String inputFilter, String joinSource, String outputFilter) {
        return new DataProcessing(inputFilter, joinSource, outputFilter, SliceEnd.EXCLUSIVE);
    }

    private static TransformFormats formats(
            String contentType, String accept, SplitType splitType, AssembleWith assembleWith) {
        return new TransformFormats(Optional.of(contentType), Optional.of(accept), splitType, assembleWith);
    }
}
