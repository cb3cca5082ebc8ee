package dev.berth.transform;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.storage.Storage;
import dev.berth.transform.RecordProcessing.Unit;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DataProcessingTest {

    private static final Formats CSV = formats("text/csv", "text/csv", "Line", "Line");
    private static final Formats JSON_LINES = formats("application/jsonlines", "application/jsonlines", "Line", "Line");
    private static final Formats PICTURES = formats("application/x-image", "", "None", "Line");

    /// What else a job says; empty: nothing.
    private record Formats(String contentType, String accept, String splitType, String assembleWith) {}

    private record Processing(String inputFilter, String joinSource, String outputFilter) {

        List<String> problems(Formats formats) {
            try {
                read(formats);
                return List.of();
            } catch (JobException e) {
                return e.problems();
            }
        }

        Optional<RecordProcessing> read(Formats formats) throws JobException {
            var options = new EnumMap<>(Map.of(
                    JobOption.INPUT,
                    "in",
                    JobOption.OUTPUT,
                    "out",
                    JobOption.CONTENT_TYPE,
                    formats.contentType,
                    JobOption.ACCEPT,
                    formats.accept,
                    JobOption.SPLIT_TYPE,
                    formats.splitType,
                    JobOption.ASSEMBLE_WITH,
                    formats.assembleWith,
                    JobOption.INPUT_FILTER,
                    inputFilter,
                    JobOption.JOIN_SOURCE,
                    joinSource,
                    JobOption.OUTPUT_FILTER,
                    outputFilter));
            options.values().removeIf(String::isEmpty);
            return TransformJob.read(new Storage(), options, Map.of(), Map.of())
                    .kind()
                    .records()
                    .processing();
        }
    }

    @Test
    void theDefaultsLeaveRecordsOfAnyFormatAsTheyAre() throws JobException {
        assertThat(processing("", "", "").read(PICTURES)).isEmpty();
        assertThat(processing("$", "None", "$").read(PICTURES)).isEmpty();
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
        assertThat(join().problems(formats("text/csv", "application/json", "Line", "Line")))
                .containsExactly("--accept (TransformOutput.Accept): found \"application/json\", expected \"text/csv\""
                        + " as the --content-type with DataProcessing");
        assertThat(join().problems(formats("text/csv", "", "Line", "Line")))
                .containsExactly(
                        "--accept (TransformOutput.Accept): found nothing, expected \"text/csv\" as the --content-type"
                                + " with DataProcessing");
        assertThat(join().problems(formats("TEXT/csv; header=present", "text/csv", "Line", "Line")))
                .isEmpty();
    }

    @Test
    @Tag("JOIN-09")
    void answersArePutTogetherAsRecordsWereSplit() {
        assertThat(join().problems(formats("text/csv", "text/csv", "Line", "None")))
                .containsExactly(
                        "--assemble-with (TransformOutput.AssembleWith): found None, expected Line as the --split-type with DataProcessing");
        assertThat(join().problems(formats("application/json", "application/json", "None", "Line")))
                .containsExactly(
                        "--assemble-with (TransformOutput.AssembleWith): found Line, expected None as the --split-type with DataProcessing");
        assertThat(join().problems(formats("text/csv", "text/csv", "None", "None")))
                .containsExactly(
                        "--split-type (TransformInput.SplitType): found None, expected Line for text/csv with DataProcessing",
                        "--assemble-with (TransformOutput.AssembleWith): found None, expected Line as the --split-type with DataProcessing");
        assertThat(join().problems(formats("application/json", "application/json", "RecordIO", "Line")))
                .containsExactly(
                        "--split-type (TransformInput.SplitType): found RecordIO, expected None or Line for application/json with DataProcessing");
    }

    @ParameterizedTest
    @CsvSource({"application/x-image, \"application/x-image\"", "text, \"text\"", ", nothing"})
    void otherTypesAreRefused(String type, String found) {
        var formats = formats(type == null ? "" : type, type == null ? "" : type, "Line", "Line");
        assertThat(join().problems(formats))
                .containsExactly(
                        "--content-type (TransformInput.ContentType): found "
                                + found
                                + ", expected text/csv, application/json or application/jsonlines, the types that DataProcessing can read");
    }

    @Test
    void allProblemsAreReportedAtOnce() {
        var processing = processing("$.a", "Output", "a");
        var formats = formats("text/csv", "application/json", "TFRecord", "None");
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
        for (var processing : List.of(
                processing("$[0]", "None", "$"), processing("$", "Input", "$"), processing("$", "None", "$[0]"))) {
            assertThat(processing.problems(PICTURES)).hasSize(1);
        }
    }

    @Test
    void theTypeAndTheSplitTypeSayWhatARecordIs() throws JobException {
        assertThat(join().read(CSV).orElseThrow().unit()).isEqualTo(Unit.LINE);
        assertThat(join().read(CSV).orElseThrow().format()).isEqualTo(RecordFormat.CSV);
        assertThat(join().read(JSON_LINES).orElseThrow().unit()).isEqualTo(Unit.LINE);
        assertThat(join().read(JSON_LINES).orElseThrow().format()).isEqualTo(RecordFormat.JSON);
        var json = formats("application/json", "application/json", "None", "None");
        assertThat(join().read(json).orElseThrow().unit()).isEqualTo(Unit.WHOLE);
        var jsonByLine = formats("application/json", "application/json", "Line", "Line");
        assertThat(join().read(jsonByLine).orElseThrow().unit()).isEqualTo(Unit.LINE_OR_SINGLE_ANSWER);
        var unsplitLines = formats("application/jsonlines", "application/jsonlines", "None", "None");
        assertThat(join().read(unsplitLines).orElseThrow().unit()).isEqualTo(Unit.LINE);
    }

    private static Processing join() {
        return processing("$", "Input", "$");
    }

    private static Processing processing(String inputFilter, String joinSource, String outputFilter) {
        return new Processing(inputFilter, joinSource, outputFilter);
    }

    private static Formats formats(String contentType, String accept, String splitType, String assembleWith) {
        return new Formats(contentType, accept, splitType, assembleWith);
    }
}
